# install.sh against a local web server; sourced by ../test.sh.

machine=$(uname -m)
case $machine in x86_64 | amd64) arch=amd64 ;; *) arch=arm64 ;; esac
case $(uname -s) in Darwin) os=darwin ;; *) os=linux ;; esac
www=$work/www

# release VERSION [PROGRAM-TEXT]: release files with a made-up program.
release() {
  folder=$www/download/v$1
  mkdir -p "$folder" "$work/build"
  printf '#!/bin/sh\necho "tofu-oci %s"\n%s' "$1" "${2:-}" >"$work/build/tofu-oci"
  head -c 20000 /dev/urandom | od -An -tx1 | sed 's/^/# /' >>"$work/build/tofu-oci"
  chmod 755 "$work/build/tofu-oci"
  tar -czf "$folder/tofu-oci_$1_${os}_$arch.tar.gz" -C "$work/build" tofu-oci
  (cd "$folder" && python3 -c 'import hashlib,sys
for name in sys.argv[1:]: print(hashlib.sha256(open(name,"rb").read()).hexdigest() + "  " + name)' ./*.gz | sed 's|  \./|  |' >SHA256SUMS)
}
release 1.4.0
release 1.5.0
mkdir -p "$www/latest/download"
cp "$www/download/v1.5.0/SHA256SUMS" "$www/latest/download/"

python3 "$here/tests/server.py" "$www" >"$work/port" 2>/dev/null &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  [ ! -s "$work/port" ] || break
  sleep 0.2
done
url=http://127.0.0.1:$(cat "$work/port")
install() { TOFU_OCI_BASE_URL=${base:-$url} run "$shell" "$root/install.sh" "$@"; }
version_in() { "$1/tofu-oci" --version | grep -qx "tofu-oci $2"; }
# Nothing is left over: no other file in the folder, no temporary folder.
only() { [ "$(ls -A "$1" | tr '\n' ' ')" = "$2" ] && [ -z "$(ls -A "$TMPDIR")" ]; }

install --help
check '--help says how' ended 0 'Usage: install.sh'
install --to "$work/a"
check 'installs the latest' ended 0 "installed $work/a/tofu-oci"
check 'the latest is 1.5.0' version_in "$work/a" 1.5.0
check 'leaves nothing else' only "$work/a" 'tofu-oci '
install --to "$work/a" --version v1.4.0
check 'replaces by a version that is named' version_in "$work/a" 1.4.0
if [ "$(id -u)" = 0 ]; then not_here 'a user who is not root, for the default folder'
else
  install
  check 'the default folder of a user' version_in "$HOME/.local/bin" 1.5.0
fi

# Each of these changes nothing: 1.4.0 stays.
keeps() { ended "$1" "$2" && version_in "$work/a" 1.4.0 && only "$work/a" 'tofu-oci '; }
archive=tofu-oci_1.5.0_${os}_$arch.tar.gz
sums=$www/download/v1.5.0/SHA256SUMS
cp "$sums" "$work/sums"

python3 - "$sums" <<'END'
import sys
lines = open(sys.argv[1]).read()
open(sys.argv[1], "w").write("0" * 64 + lines[64:])
END
install --to "$work/a" --version 1.5.0
check 'a wrong checksum' keeps 1 'it was not unpacked'
printf 'abc  %s\n' "$archive" >"$sums"
install --to "$work/a" --version 1.5.0
check 'a checksum that is none' keeps 1 'has no SHA-256'
cat "$work/sums" "$work/sums" >"$sums"
install --to "$work/a" --version 1.5.0
check 'two checksums for one file' keeps 1 'no single checksum'
cp "$work/sums" "$sums"

install --to "$work/a" --version 1.5.0 --platform windows_arm64
check 'a platform that the release lacks' keeps 1 "it has: $archive"
install --to "$work/a" --platform plan9_mips
check 'a platform that no release has' keeps 2 'is not a platform'
install --to "$work/a" --version ../1
check 'a version that is none' keeps 2 'is not a version'
install --to "$work/a" --version 9.9.9
check 'a version that was not released' keeps 1 'could not be fetched'
install --to "$work/a" --frobnicate
check 'an unknown option' keeps 2 'there is no option --frobnicate'
install --to
check 'an option without its value' keeps 2 '--to needs a value'
base=http://registry.example.com install --to "$work/a"
check 'a base URL in clear text' keeps 2 'must be https'
base=https://github.com/OWNER/tofu-oci/releases install --to "$work/a"
check 'a base URL that was not filled in' keeps 1 'set TOFU_OCI_BASE_URL'

base=$url/truncated install --to "$work/a" --version 1.5.0
check 'an archive that ends early' keeps 1 'not to its end'
head -c 9000 "$www/download/v1.5.0/$archive" >"$work/half"
mv "$www/download/v1.5.0/$archive" "$work/whole"
cp "$work/half" "$www/download/v1.5.0/$archive"
install --to "$work/a" --version 1.5.0
check 'a truncated archive on the server' keeps 1 'it was not unpacked'
cp "$work/whole" "$www/download/v1.5.0/$archive"

release 1.6.0 'exit 1
'
install --to "$work/a" --version 1.6.0
check 'a program that does not run here' keeps 1 'does not run on this machine'
mkdir -p "$www/download/v1.7.0" "$work/link"
ln -sf /bin/sh "$work/link/tofu-oci"
tar -czf "$www/download/v1.7.0/tofu-oci_1.7.0_${os}_$arch.tar.gz" -C "$work/link" tofu-oci
(cd "$www/download/v1.7.0" && python3 -c 'import glob,hashlib
for name in glob.glob("*.gz"): print(hashlib.sha256(open(name,"rb").read()).hexdigest() + "  " + name)' >SHA256SUMS)
install --to "$work/a" --version 1.7.0
check 'a link in place of the program' keeps 1 'is not a file'

# Interrupted while half the archive is there.
for signal in TERM HUP; do
  rm -f "$www/slow-began"
  # A shell cannot take back that its caller ignores a signal, as `nohup` does.
  TOFU_OCI_BASE_URL=$url/slow python3 -c 'import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$shell" "$root/install.sh" --to "$work/a" --version 1.5.0 >"$work/out" 2>&1 </dev/null &
  pid=$!
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
    [ ! -e "$www/slow-began" ] || break
    sleep 0.1
  done
  kill -s "$signal" "$pid"
  code=0
  wait "$pid" || code=$?
  case $signal in TERM) want=143 ;; *) want=129 ;; esac
  check "interrupted by $signal" keeps "$want" 'tofu-oci 1.5.0'
done

: >"$work/file"
install --to "$work/file/bin"
check 'a folder that cannot be made' ended 1 'cannot be made'
if [ "$(id -u)" != 0 ]; then
  mkdir "$work/locked"
  chmod 555 "$work/locked"
  install --to "$work/locked"
  check 'a folder that is only read' ended 1 'cannot be written'
elif have setpriv && [ -d /proc/1 ]; then
  mkdir "$work/locked"
  chmod 755 "$work" "$work/locked"
  cp "$root/install.sh" "$work/install.sh"
  TOFU_OCI_BASE_URL=$url run setpriv --reuid 65534 --regid 65534 --clear-groups "$shell" "$work/install.sh" --to "$work/locked"
  check 'a folder that is only read' ended 1 'cannot be written'
else not_here 'setpriv, for a folder that root only reads'; fi

# A PATH without curl, and one with neither.
tools=$work/tools
mkdir -p "$tools"
for tool in sh dash dirname cat cp mv rm mkdir mktemp chmod uname id tar gzip sed awk cut head tr sha256sum shasum openssl sleep kill touch; do
  where=$(command -v "$tool" 2>/dev/null) && ln -sf "$where" "$tools/$tool"
done
shell_path=$(command -v "$shell")
TOFU_OCI_BASE_URL=$url run env PATH="$tools" "$shell_path" "$root/install.sh" --to "$work/a" --version 1.5.0
check 'neither curl nor wget' keeps 1 'neither curl nor wget'
if have wget; then
  ln -sf "$(command -v wget)" "$tools/wget"
  TOFU_OCI_BASE_URL=$url run env PATH="$tools" "$shell_path" "$root/install.sh" --to "$work/b"
  check 'wget in place of curl' version_in "$work/b" 1.5.0
  TOFU_OCI_BASE_URL=$url/truncated run env PATH="$tools" "$shell_path" "$root/install.sh" --to "$work/b" --version 1.4.0
  check 'wget, and an archive that ends early' version_in "$work/b" 1.5.0
else not_here wget; fi

# Signatures.
install --to "$work/a" --version 1.5.0 --cosign-key "$work/none.pub"
check 'a key file that is missing' keeps 2 'there is no file'
if have cosign && have openssl; then
  for name in right wrong; do
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/$name.pem" 2>/dev/null
    openssl ec -in "$work/$name.pem" -pubout -out "$work/$name.pub" 2>/dev/null
  done
  install --to "$work/a" --version 1.5.0 --cosign-key "$work/right.pub"
  check 'a signature that is missing' keeps 1 'SHA256SUMS.sigstore.json'
  # The bundle as `cargo xtask dist --sign-key` writes it.
  openssl dgst -sha256 -sign "$work/right.pem" "$sums" >"$work/signature"
  openssl pkey -pubin -in "$work/right.pub" -outform DER -out "$work/right.der"
  python3 - "$sums" "$work/signature" "$work/right.der" >"$sums.sigstore.json" <<'END'
import base64, hashlib, json, sys
message, signature, key = (open(name, "rb").read() for name in sys.argv[1:])
text = lambda data: base64.b64encode(data).decode()
print(json.dumps({
    "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
    "verificationMaterial": {"publicKey": {"hint": text(hashlib.sha256(key).digest())}},
    "messageSignature": {
        "messageDigest": {"algorithm": "SHA2_256", "digest": text(hashlib.sha256(message).digest())},
        "signature": text(signature),
    },
}))
END
  install --to "$work/a" --version 1.5.0 --cosign-key "$work/wrong.pub"
  check 'a cosign signature by another key' keeps 1 'is not by this key'
  install --to "$work/c" --version 1.5.0 --cosign-key "$work/right.pub"
  check 'a cosign signature' version_in "$work/c" 1.5.0
  # As a release would: the key in the script itself.
  python3 - "$root/install.sh" "$work/wrong.pub" >"$work/bundled.sh" <<'END'
import sys
text, key = open(sys.argv[1]).read(), open(sys.argv[2]).read().strip()
print(text.replace("bundled_cosign_key=''", f"bundled_cosign_key='{key}'", 1))
END
  TOFU_OCI_BASE_URL=$url run "$shell" "$work/bundled.sh" --to "$work/a" --version 1.5.0
  check 'a bundled key that did not sign' keeps 1 'is not by this key'
else not_here 'cosign, for its signatures'; fi
if have minisign; then
  for name in right wrong; do minisign -G -W -p "$work/$name.mini" -s "$work/$name.secret" >/dev/null 2>&1; done
  minisign -S -s "$work/right.secret" -m "$sums" -x "$sums.minisig" >/dev/null 2>&1
  install --to "$work/a" --version 1.5.0 --minisign-key "$work/wrong.mini"
  check 'a minisign signature by another key' keeps 1 'is not by this key'
  install --to "$work/d" --version 1.5.0 --minisign-key "$(tail -n 1 "$work/right.mini")"
  check 'a minisign signature, the key as text' version_in "$work/d" 1.5.0
else
  install --to "$work/a" --version 1.5.0 --minisign-key RWQ
  check 'a minisign key without minisign' keeps 1 'needs the program minisign'
  not_here 'minisign, for its signatures'
fi

# A release that `cargo xtask dist` wrote: DIST=FOLDER, signed by the key whose public half is DIST_COSIGN_KEY.
if [ -n "${DIST:-}" ]; then
  version=$(sed -n 's/^[0-9a-f]* [ *]tofu-oci_\(.*\)_linux_amd64\.tar\.gz$/\1/p' "$DIST/SHA256SUMS")
  mkdir -p "$work/dist-www/download" "$work/dist-www/latest"
  ln -s "$DIST" "$work/dist-www/download/v$version"
  ln -s "$DIST" "$work/dist-www/latest/download"
  python3 "$here/tests/server.py" "$work/dist-www" >"$work/dist-port" 2>/dev/null &
  dist_server=$!
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ ! -s "$work/dist-port" ] || break
    sleep 0.2
  done
  base=http://127.0.0.1:$(cat "$work/dist-port") install --to "$work/e" ${DIST_COSIGN_KEY:+--cosign-key "$DIST_COSIGN_KEY"}
  check 'a release of cargo xtask dist' version_in "$work/e" "$version"
  kill "$dist_server" 2>/dev/null
else not_here 'DIST=FOLDER, for a release of cargo xtask dist'; fi
