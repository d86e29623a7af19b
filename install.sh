#!/bin/sh
# Installs tofu-oci from its release files. POSIX sh; `install.sh --help` says what it does.
# Everything is in functions, and the last line calls them: a script that arrived in part does nothing.
set -eu

# Where the releases are. It is the one place in this file that names the owner of the repository.
default_base_url='https://github.com/OWNER/tofu-oci/releases'
# The public keys of the releases: the text of cosign.pub, and the one line of a minisign key. A release fills them in.
bundled_cosign_key=''
bundled_minisign_key=''

usage() {
  cat <<'HELP'
Installs tofu-oci: chooses the release for this machine, compares its checksum before anything is unpacked,
verifies the signature of the checksums if it can, and puts the program in its place in one step.

Usage: install.sh [OPTIONS]
       curl -fsSL URL-OF-install.sh | sh -s -- [OPTIONS]

Options:
  --version VERSION     the version, such as 1.4.0 [default: the latest]
  --to DIR              the folder [default: /usr/local/bin for root, else ~/.local/bin]
  --platform OS_ARCH    linux, darwin or windows; amd64 or arm64 [default: this machine's]
  --cosign-key FILE     demand a signature of SHA256SUMS by this cosign key; needs cosign 2.4 or later
  --minisign-key KEY    demand a signature by this minisign key, a file or its text; needs minisign
  --quiet               print errors only
  --help                print this text

Environment:
  TOFU_OCI_BASE_URL     the folder of the releases, which holds download/vVERSION/ and latest/download/:
                        https, or http on this machine alone

It needs curl or wget; sha256sum, shasum or openssl; and tar, or unzip for Windows.
Exit codes: 0 installed; 1 it could not be installed, and nothing has changed; 2 wrong usage; 130, 143 interrupted.
HELP
}

say() { [ "$quiet" = yes ] || printf '%s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf '\nhint: %s\n' "$2" >&2; exit 1; }
misused() { printf 'error: %s\n\nhint: install.sh --help\n' "$1" >&2; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }

work='' staged='' child=''
clean() {
  if [ -n "$child" ]; then kill "$child" 2>/dev/null || :; wait "$child" 2>/dev/null || :; child=''; fi
  [ -z "$staged" ] || rm -f "$staged"
  [ -z "$work" ] || rm -rf "$work"
}

# Runs a command so that a signal interrupts the wait for it, and `clean` can end it.
interruptible() {
  "$@" &
  child=$!
  code=0
  wait "$child" || code=$?
  child=''
  return "$code"
}

# fetch URL FILE: an answer other than 2xx is a failure.
fetch() {
  if have curl; then
    case $1 in
      https:*) interruptible curl -fsSL --proto '=https' --tlsv1.2 --retry 2 --connect-timeout 20 -o "$2" "$1" ;;
      *) interruptible curl -fsSL --proto '=http' --retry 2 --connect-timeout 20 -o "$2" "$1" ;;
    esac
  else
    interruptible wget -q -t 3 -O "$2" "$1"
  fi
}

this_platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN* | Windows_NT) os=windows ;;
    *) fail "there is no release for the system $(uname -s)" 'build it: see README.md' ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no release for the processor $(uname -m)" 'build it: see README.md' ;;
  esac
  # A shell under Rosetta calls an arm64 Mac x86_64.
  if [ "$os" = darwin ] && [ "$arch" = amd64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || :)" = 1 ]; then
    arch=arm64
  fi
  printf '%s_%s\n' "$os" "$arch"
}

sha256_of() {
  if have sha256sum; then sha256sum <"$1" | cut -d ' ' -f 1
  elif have shasum; then shasum -a 256 <"$1" | cut -d ' ' -f 1
  else openssl dgst -sha256 <"$1" | sed 's/^.*[= ]//'
  fi
}

# verify_signature: a key that was given must have signed; the bundled one, if its program is here.
verify_signature() {
  verified=no
  if [ -n "$cosign_key" ] || { [ -n "$bundled_cosign_key" ] && have cosign; }; then
    key=$cosign_key
    if [ -z "$key" ]; then key=$work/cosign.pub; printf '%s\n' "$bundled_cosign_key" >"$key"; fi
    signature=SHA256SUMS.sigstore.json
    fetch "$release/$signature" "$work/$signature" || fail "this release has no $release/$signature"
    # By a key alone: no transparency log is asked. cosign 2 reads such a bundle only if it is told to.
    set -- --key "$key" --bundle "$work/$signature" --insecure-ignore-tlog=true
    if cosign verify-blob --help 2>&1 | grep -q -e '--new-bundle-format'; then set -- "$@" --new-bundle-format; fi
    interruptible cosign verify-blob "$@" "$work/SHA256SUMS" >"$work/log" 2>&1 ||
      { sed 's/^/  cosign: /' "$work/log" >&2; fail 'the cosign signature of SHA256SUMS is not by this key'; }
    verified=cosign
  fi
  if [ -n "$minisign_key" ] || { [ -n "$bundled_minisign_key" ] && have minisign; }; then
    key=${minisign_key:-$bundled_minisign_key}
    if [ -f "$key" ]; then option=-p; else option=-P; fi
    fetch "$release/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig" || fail "this release has no $release/SHA256SUMS.minisig"
    interruptible minisign -V -q "$option" "$key" -x "$work/SHA256SUMS.minisig" -m "$work/SHA256SUMS" >"$work/log" 2>&1 ||
      { sed 's/^/  minisign: /' "$work/log" >&2; fail 'the minisign signature of SHA256SUMS is not by this key'; }
    verified=minisign
  fi
  if [ "$verified" = no ]; then say 'note: the signature was not verified; --cosign-key or --minisign-key demands it'; fi
}

unpack() {
  case $archive in
    *.zip) if have unzip; then unzip -q "$work/$archive" "$program" -d "$work/out"; else tar -xf "$work/$archive" -C "$work/out" "$program"; fi ;;
    *) tar -xzf "$work/$archive" -C "$work/out" "$program" 2>/dev/null || tar -xzf "$work/$archive" -C "$work/out" "./$program" ;;
  esac
}

main() {
  version='' to='' platform='' cosign_key='' minisign_key='' quiet=no
  while [ $# -gt 0 ]; do
    case $1 in
      --help | -h) usage; exit 0 ;;
      --quiet | -q) quiet=yes; shift; continue ;;
      --version=* | --to=* | --platform=* | --cosign-key=* | --minisign-key=*) option=${1%%=*} value=${1#*=}; shift ;;
      --version | --to | --platform | --cosign-key | --minisign-key)
        [ $# -ge 2 ] || misused "$1 needs a value"
        option=$1 value=$2; shift 2 ;;
      *) misused "there is no option $1" ;;
    esac
    [ -n "$value" ] || misused "$option needs a value"
    case $option in
      --version) version=${value#v} ;;
      --to) to=$value ;;
      --platform) platform=$value ;;
      --cosign-key) cosign_key=$value ;;
      --minisign-key) minisign_key=$value ;;
    esac
  done
  case $version in
    '' | latest) version='' ;;
    [0-9]*.[0-9]*.[0-9]*) case $version in *[!0-9A-Za-z.+-]*) misused "$version is not a version such as 1.4.0" ;; esac ;;
    *) misused "$version is not a version such as 1.4.0" ;;
  esac
  case $platform in
    '' | linux_amd64 | linux_arm64 | darwin_amd64 | darwin_arm64 | windows_amd64 | windows_arm64) ;;
    *) misused "$platform is not a platform such as linux_amd64" ;;
  esac
  if [ -n "$cosign_key" ]; then
    [ -f "$cosign_key" ] || misused "there is no file $cosign_key"
    have cosign || fail '--cosign-key needs the program cosign, which is not on the PATH'
  fi
  [ -z "$minisign_key" ] || have minisign || fail '--minisign-key needs the program minisign, which is not on the PATH'

  base_url=${TOFU_OCI_BASE_URL:-$default_base_url}
  base_url=${base_url%/}
  case $base_url in
    */OWNER/*) fail 'this copy of install.sh does not say where the releases are' 'set TOFU_OCI_BASE_URL, such as https://github.com/acme/tofu-oci/releases' ;;
    https://*) ;;
    http://127.0.0.1:* | http://127.0.0.1/* | http://localhost:* | http://localhost/*) ;;
    *) misused "TOFU_OCI_BASE_URL must be https: $base_url" ;;
  esac
  have curl || have wget || fail 'neither curl nor wget is on the PATH'
  have sha256sum || have shasum || have openssl || fail 'none of sha256sum, shasum and openssl is on the PATH: the checksum could not be compared'

  if [ -z "$to" ]; then
    if [ "$(id -u)" = 0 ]; then to=/usr/local/bin; else to=${HOME:?HOME is not set: say --to DIR}/.local/bin; fi
  fi
  target=${platform:-$(this_platform)}
  program=tofu-oci suffix=tar.gz
  case $target in windows_*) program=tofu-oci.exe suffix=zip ;; esac

  # The folder first: nothing is fetched for a place that cannot be written.
  mkdir -p -- "$to" 2>/dev/null || fail "the folder $to cannot be made" 'say --to DIR with a folder of yours'
  [ -d "$to" ] && [ -w "$to" ] || fail "the folder $to cannot be written" 'say --to DIR with a folder of yours'
  [ ! -d "$to/$program" ] || fail "$to/$program is a folder"

  trap clean EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  work=$(mktemp -d "${TMPDIR:-/tmp}/tofu-oci-install.XXXXXX") || fail 'no temporary folder could be made'
  mkdir "$work/out"

  if [ -z "$version" ]; then
    fetch "$base_url/latest/download/SHA256SUMS" "$work/latest" || fail "$base_url/latest/download/SHA256SUMS could not be fetched" 'is there a release? --version names one'
    version=$(sed -n 's/^[0-9a-f]\{64\} [ *]tofu-oci_\([0-9][0-9A-Za-z.+-]*\)_[a-z]*_[a-z0-9]*\.[a-z.]*$/\1/p' "$work/latest" | head -n 1)
    [ -n "$version" ] || fail "$base_url/latest/download/SHA256SUMS names no release of tofu-oci"
  fi
  release=$base_url/download/v$version
  archive=tofu-oci_${version}_$target.$suffix
  say "tofu-oci $version for $target from $release"

  fetch "$release/SHA256SUMS" "$work/SHA256SUMS" || fail "$release/SHA256SUMS could not be fetched" 'is it a version that was released?'
  verify_signature
  want=$(awk -v name="$archive" 'NF == 2 && ($2 == name || $2 == "*" name) { print $1 }' "$work/SHA256SUMS")
  case $want in
    '') fail "the release $version has no $archive" "it has: $(awk 'NF == 2 { sub(/^\*/, "", $2); if ($2 ~ /^tofu-oci_[^\/]*\.(tar\.gz|zip)$/) print $2 }' "$work/SHA256SUMS" | tr '\n' ' ')" ;;
    *[!0-9a-f]*) fail "SHA256SUMS has no single checksum for $archive" ;;
  esac
  [ ${#want} = 64 ] || fail "SHA256SUMS has no SHA-256 for $archive"

  fetch "$release/$archive" "$work/$archive" || fail "$release/$archive could not be fetched, or not to its end" 'run it again'
  got=$(sha256_of "$work/$archive")
  [ "$got" = "$want" ] || fail "$archive is not what SHA256SUMS says; it was not unpacked
  expected: $want
  received: $got"

  unpack || fail "$archive has no $program in it"
  { [ -f "$work/out/$program" ] && [ ! -L "$work/out/$program" ]; } || fail "$program in $archive is not a file"
  chmod 755 "$work/out/$program"
  if [ -z "$platform" ]; then
    "$work/out/$program" --version >/dev/null 2>&1 || fail "the program of $archive does not run on this machine"
  fi

  staged=$to/.tofu-oci.$$
  cp "$work/out/$program" "$staged" || fail "$to cannot be written, or is full"
  mv -f "$staged" "$to/$program" || fail "$to/$program cannot be replaced"
  staged=''
  say "installed $to/$program"
  case :${PATH:-}: in *:"$to":*) ;; *) say "note: $to is not on your PATH" ;; esac
}

main "$@"
