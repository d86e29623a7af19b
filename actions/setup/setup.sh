#!/bin/sh
# The action `setup`: install.sh, then the PATH of the later steps. Inputs arrive in variables alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

to=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/tofu-oci/bin
set -- --to "$to"
[ -z "${INPUT_VERSION:-}" ] || set -- "$@" --version "$INPUT_VERSION"
[ -z "${INPUT_COSIGN_KEY:-}" ] || set -- "$@" --cosign-key "$INPUT_COSIGN_KEY"
[ -z "${INPUT_MINISIGN_KEY:-}" ] || set -- "$@" --minisign-key "$INPUT_MINISIGN_KEY"
sh "$here/../../install.sh" "$@"

[ -z "${GITHUB_PATH:-}" ] || printf '%s\n' "$to" >>"$GITHUB_PATH"
output path "$to"
output version "$("$to/tofu-oci" --version | sed -n 's/^tofu-oci //p')"
