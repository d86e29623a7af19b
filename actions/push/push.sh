#!/bin/sh
# The action `push`. Inputs arrive in variables alone; the password goes by standard input, the key by a variable.
set -eu
. "$(dirname "$0")/../lib.sh"
need_program

[ -n "${INPUT_REPOSITORY:-}" ] || { printf 'error: the input repository is empty\n' >&2; exit 2; }
set -- --json --layout "${INPUT_LAYOUT:-artifact}"
[ -z "${INPUT_ADDRESS:-}" ] || set -- "$@" --address "$INPUT_ADDRESS"
[ -z "${INPUT_VERSION:-}" ] || set -- "$@" --version "$INPUT_VERSION"
if is_true "${INPUT_SMALL:-}"; then set -- "$@" --small; fi
if is_true "${INPUT_DRY_RUN:-}"; then set -- "$@" --dry-run; fi
if is_true "${INPUT_SIGN_KEYLESS:-}"; then set -- "$@" --sign-keyless; fi
if [ -n "${INPUT_SIGN_KEY:-}" ]; then
  TOFU_OCI_ACTION_KEY=$INPUT_SIGN_KEY COSIGN_PASSWORD=${INPUT_SIGN_KEY_PASSWORD:-}
  export TOFU_OCI_ACTION_KEY COSIGN_PASSWORD
  set -- "$@" --sign-key env://TOFU_OCI_ACTION_KEY
fi
password=${INPUT_PASSWORD:-}
unset INPUT_SIGN_KEY INPUT_SIGN_KEY_PASSWORD INPUT_PASSWORD
[ -z "${INPUT_USERNAME:-}" ] || set -- "$@" --username "$INPUT_USERNAME" --password-stdin

report=$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/tofu-oci-push.XXXXXX")
trap 'rm -f "$report"' EXIT
printf '%s\n' "$password" | tofu-oci push "$@" -- "${INPUT_DIST:-dist}" "$INPUT_REPOSITORY" >"$report" || exit $?

# field NAME: the first value of that name in the line of the event `pushed`, or `push-plan` of a dry run.
field() { grep '^{"event":"push\(ed\|-plan\)"' "$report" | grep -o "\"$1\":\(\"[^\"]*\"\|true\|false\)" | head -n 1 | sed 's/^[^:]*://; s/^"//; s/"$//'; }
place=$(field place) tag=$(field tag) version=$(field version) digest=$(field index) outcome=$(field outcome)
[ -n "$place" ] && [ -n "$digest" ] || { cat "$report" >&2; printf 'error: tofu-oci push reported nothing\n' >&2; exit 3; }
printf '%s: %s:%s\n  index %s\n' "${outcome:-would push}" "$place" "$tag" "$digest"
output reference "$place:$tag"
output version "$version"
output digest "$digest"
output unchanged "$(field unchanged)"
