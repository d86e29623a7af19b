#!/bin/sh
# Makes every file here with GnuPG; README.md tells what each of them is. The keys are new at each run.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'status=$?; [ $status = 0 ] || tail -20 "$GNUPGHOME/log"; gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT

# gpg on a day, as everybody's clock says noon.
on() {
    day=$1
    shift
    gpg --batch --yes --quiet --no-tty --pinentry-mode loopback --passphrase '' \
        --no-auto-check-trustdb --trust-model always --faked-system-time "${day}T120000!" "$@"
}
# The same, answering its questions from standard input.
ask() {
    day=$1
    shift
    gpg --quiet --no-tty --command-fd 0 --status-fd 2 --pinentry-mode loopback --passphrase '' --yes \
        --no-auto-check-trustdb --trust-model always --faked-system-time "${day}T120000!" "$@" 2>>"$GNUPGHOME/log"
}
fingerprint() { gpg --batch --with-colons --list-keys "$1" | awk -F: '$1 == "fpr" { print $10; exit }'; }
subkey() { gpg --batch --with-colons --list-keys "$1" | awk -F: '$1 == "fpr" { last = $10 } END { print last }'; }
# primary NAME ALGORITHM USAGE [EXPIRES]: a key without subkeys.
primary() { on 20240101 --quick-generate-key "$1 <$1@example.com>" "$2" "$3" "${4:-never}"; }
# with_subkey NAME ALGORITHM: a key that certifies and a subkey that signs.
with_subkey() {
    primary "$1" "$2" cert
    on 20240101 --quick-add-key "$(fingerprint "$1")" "$2" sign never
}
key() { on 20260101 --export "$1" >"$out/$2.pgp"; }
armored() { on 20260101 --armor --export "$1" >"$out/$2.asc"; }
# sign DAY KEY FILE [OPTION]...
sign() {
    day=$1 name=$2 file=$3
    shift 3
    on "$day" --local-user "$name" "$@" --output "$out/$file" --detach-sign "$out/SHA256SUMS"
}

{
    printf '%s  %s\n' "$(printf one | sha256sum | cut -d' ' -f1)" terraform-provider-widget_1.4.0_darwin_arm64.zip
    printf '%s  %s\n' "$(printf two | sha256sum | cut -d' ' -f1)" terraform-provider-widget_1.4.0_linux_amd64.zip
} >"$out/SHA256SUMS"
{
    printf '%s  %s\n' "$(printf three | sha256sum | cut -d' ' -f1)" terraform-provider-widget_1.4.0_darwin_arm64.zip
    printf '%s  %s\n' "$(printf four | sha256sum | cut -d' ' -f1)" terraform-provider-widget_1.4.0_linux_amd64.zip
} >"$out/SHA256SUMS.swapped"

# Good ones.
with_subkey rsa rsa4096
key rsa rsa
armored rsa rsa
sign 20240601 rsa rsa.sig
sign 20240601 rsa rsa.sig.asc --armor
sign 20240601 rsa rsa-text.sig --textmode
sign 20240601 rsa rsa-sha512.sig --digest-algo SHA512
sign 20240601 rsa rsa-expires.sig --default-sig-expire 30d
sign 20240601 rsa rsa-critical.sig --sig-notation '!release@example.com=final'
sign 20300101 rsa rsa-future.sig
sign 20231201 rsa rsa-before.sig --ignore-time-conflict --ignore-valid-from
for digest in MD5 SHA1 RIPEMD160; do
    lower=$(echo "$digest" | tr '[:upper:]' '[:lower:]')
    sign 20240601 rsa "rsa-$lower.sig" --digest-algo "$digest" --allow-weak-digest-algos
done
on 20240601 --local-user rsa --output "$out/rsa-clear.asc" --clear-sign "$out/SHA256SUMS"
on 20240601 --local-user rsa --output "$out/rsa-inline.gpg" --sign "$out/SHA256SUMS"
for curve in ed25519:ed25519 p256:nistp256/ecdsa p384:nistp384/ecdsa p521:nistp521/ecdsa; do
    with_subkey "${curve%%:*}" "${curve##*:}"
    key "${curve%%:*}" "${curve%%:*}"
    sign 20240601 "${curve%%:*}" "${curve%%:*}.sig"
done
primary primary ed25519 sign,cert
key primary primary
sign 20240601 primary primary.sig
on 20240601 --local-user rsa --local-user ed25519 --output "$out/two.sig" --detach-sign "$out/SHA256SUMS"

# Weak keys.
primary rsa1024 rsa1024 sign,cert
key rsa1024 rsa1024
sign 20240601 rsa1024 rsa1024.sig
primary dsa dsa2048 sign,cert
key dsa dsa
sign 20240601 dsa dsa.sig
primary secp256k1 secp256k1/ecdsa sign,cert
key secp256k1 secp256k1
sign 20240601 secp256k1 secp256k1.sig
on 20240101 --cert-digest-algo SHA1 --quick-generate-key "sha1 <sha1@example.com>" ed25519 sign,cert never
key sha1 sha1-self
sign 20240601 sha1 sha1-self.sig
primary md5sub rsa2048 cert
on 20240101 --cert-digest-algo MD5 --allow-weak-digest-algos --quick-add-key "$(fingerprint md5sub)" rsa2048 sign never
key md5sub md5-binding
sign 20240601 md5sub md5-binding.sig --allow-weak-digest-algos

# Expired in 2025: the signatures are of 2024, the late ones of 2025-06-01.
primary expired ed25519 sign,cert
sign 20240601 expired expired-key.sig
sign 20250601 expired expired-key-late.sig
on 20240102 --quick-set-expire "$(fingerprint expired)" 20250101T120000
key expired expired-key
on 20250701 --quick-set-expire "$(fingerprint expired)" 20300101T120000
key expired renewed-key
with_subkey expiredsub ed25519
sign 20240601 expiredsub expired-subkey.sig
sign 20250601 expiredsub expired-subkey-late.sig
on 20240102 --quick-set-expire "$(fingerprint expiredsub)" 20250101T120000 '*'
key expiredsub expired-subkey

# Revoked on 2025-01-01: the signatures are of 2024, the late ones of 2025-06-01.
for reason in unknown:0 compromised:1 superseded:2 retired:3; do
    name=revoked-${reason%%:*}
    primary "$name" ed25519 sign,cert
    sign 20240601 "$name" "$name.sig"
    sign 20250601 "$name" "$name-late.sig"
    printf 'y\n%s\n\ny\n' "${reason##*:}" | ask 20250101 --output "$GNUPGHOME/$name.rev" --gen-revoke "$name"
    on 20250101 --import "$GNUPGHOME/$name.rev"
    key "$name" "$name"
done
for reason in unknown:0 compromised:1 superseded:2 retired:3; do
    name=subkey-${reason%%:*}
    with_subkey "$name" ed25519
    sign 20240601 "$name" "$name.sig"
    sign 20250601 "$name" "$name-late.sig"
    key "$name" "$name-before"
    printf 'key 1\nrevkey\ny\n%s\n\ny\nsave\n' "${reason##*:}" | ask 20250101 --edit-key "$name"
    key "$name" "$name"
done
primary uid ed25519 sign,cert
sign 20240601 uid revoked-uid.sig
sign 20250601 uid revoked-uid-late.sig
# GnuPG does not revoke the last name: there are two, and one file is left with the revoked one alone.
on 20240102 --quick-add-uid uid "other <other@example.com>"
printf 'uid 2\nrevuid\ny\n4\n\ny\nsave\n' | ask 20250101 --edit-key uid
key uid one-revoked-uid
on 20260101 --export --export-filter 'keep-uid=mbox = uid@example.com' uid >"$out/revoked-uid.pgp"
primary delegate ed25519 sign,cert
primary delegating ed25519 sign,cert
sign 20240601 delegating appointed.sig
printf 'addrevoker\n%s\ny\nsave\n' "$(fingerprint delegate)" | ask 20240102 --edit-key delegating
key delegating appointed-before
printf 'y\n1\n\ny\n' | ask 20250101 --output "$GNUPGHOME/desig.rev" --desig-revoke delegating
on 20250101 --import "$GNUPGHOME/desig.rev"
key delegating appointed

# Not for signing: it signed while it was.
primary usage ed25519 sign,cert
sign 20240601 usage not-for-signing.sig
printf 'change-usage\ns\nq\nsave\n' | ask 20240201 --edit-key usage
key usage not-for-signing

# One key in several certificates: `twin-one` and `twin-two` have the same primary key, which is a subkey of `holder`, and
# `cosign-rsa` has the key of ../cosign/test-keys/rsa-2048.pem.
keygrip() { gpg --batch --with-colons --with-keygrip --list-keys "$1" | awk -F: '$1 == "grp" { print $10; exit }'; }
# over NAME TYPE KEYGRIP [OPTION]...: a certificate of a key that is there.
over() {
    name=$1 type=$2 grip=$3
    shift 3
    printf '%%no-protection\nKey-Type: %s\nKey-Grip: %s\nKey-Usage: sign,cert\nName-Real: %s\nName-Email: %s\n%%commit\n' \
        "$type" "$grip" "$name" "$name@example.com" | on 20240102 "$@" --generate-key
}
primary twin-one ed25519 sign,cert
over twin-two eddsa "$(keygrip twin-one)"
primary holder ed25519 sign,cert
printf 'addkey\n13\n%s\nq\n0\nsave\n' "$(keygrip twin-one)" | ask 20240103 --expert --edit-key holder
for name in twin-one twin-two holder; do
    key "$name" "$name"
done
sign 20240601 twin-one twin-one.sig
sign 20240601 twin-two twin-two.sig
sign 20240601 holder holder.sig
cat "$out/twin-one.pgp" "$out/twin-two.pgp" >"$out/twins.pgp"
pem=$out/../cosign/test-keys/rsa-2048.pem
openssl req -x509 -key "$pem" -subj /CN=cosign-rsa -days 10 -out "$GNUPGHOME/cosign-rsa.crt"
openssl pkcs12 -export -certpbe PBE-SHA1-3DES -keypbe PBE-SHA1-3DES -macalg sha1 -inkey "$pem" \
    -in "$GNUPGHOME/cosign-rsa.crt" -passout pass:x -out "$GNUPGHOME/cosign-rsa.p12"
before=$(ls "$GNUPGHOME/private-keys-v1.d")
echo x | gpgsm --batch --yes --pinentry-mode loopback --passphrase-fd 0 --import "$GNUPGHOME/cosign-rsa.p12"
grip=$(ls "$GNUPGHOME/private-keys-v1.d" | grep -vxF "$before")
over cosign-rsa rsa "${grip%.key}" --passphrase x
key cosign-rsa cosign-rsa
sign 20240601 cosign-rsa cosign-rsa.sig --passphrase x

# The same key in another certificate, which was revoked as compromised.
over cosign-rsa-compromised rsa "${grip%.key}" --passphrase x --faked-system-time 20240103T120000!
printf 'y\n1\n\ny\n' | ask 20250101 --passphrase x --output "$GNUPGHOME/compromised.rev" --gen-revoke cosign-rsa-compromised
on 20250101 --import "$GNUPGHOME/compromised.rev"
key cosign-rsa-compromised cosign-rsa-compromised
