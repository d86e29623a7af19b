#!/bin/sh
# Makes every file here with GnuPG; README.md says what each of them is. The keys are new at each run.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT

# on DAY PASSWORD ARGUMENT...: gpg at noon of a day.
on() {
    day=$1 password=$2
    shift 2
    gpg --batch --yes --quiet --no-tty --pinentry-mode loopback --passphrase "$password" \
        --no-auto-check-trustdb --trust-model always --faked-system-time "${day}T120000!" "$@"
}
fingerprint() { gpg --batch --with-colons --list-keys "$1" | awk -F: '$1 == "fpr" { print $10; exit }'; }
# key NAME ALGORITHM USAGE EXPIRES [PASSWORD]
key() { on 20240101 "${5:-}" --quick-generate-key "$1 <$1@example.com>" "$2" "$3" "$4"; }
secret() { on 20240601 "${2:-}" --armor --export-secret-keys "$1" >"$out/$1.asc"; }

key ed25519 ed25519 sign never
secret ed25519
on 20240601 '' --export-secret-keys ed25519 >"$out/ed25519.gpg"
on 20240601 '' --armor --export ed25519 >"$out/ed25519-public.asc"
key rsa rsa2048 sign never
secret rsa
key locked ed25519 sign never 'the password'
secret locked 'the password'
key expired ed25519 sign 20250101T000000
secret expired
key certifies ed25519 cert never
secret certifies
# The primary key stays at home.
key subkey ed25519 cert never
on 20240301 '' --quick-add-key "$(fingerprint subkey)" ed25519 sign never
on 20240601 '' --armor --export-secret-subkeys subkey >"$out/subkey.asc"
