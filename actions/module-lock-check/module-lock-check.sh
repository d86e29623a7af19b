#!/bin/sh
# The action `module-lock-check`: `tofu-oci module lock --check` of all folders at once.
set -eu
. "$(dirname "$0")/../lib.sh"
need_program

set -- module lock --check
[ -z "${INPUT_TRUST_POLICY:-}" ] || set -- "$@" --trust-policy "$INPUT_TRUST_POLICY"
set -- "$@" --
directories=''
add_directory() {
  directories="$directories$1
"
}
each_line "${INPUT_DIRECTORIES:-.}" add_directory
while IFS= read -r directory; do
  [ -z "$directory" ] || set -- "$@" "$directory"
done <<END
$directories
END
report=$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/tofu-oci-modules.XXXXXX")
trap 'rm -f "$report"' EXIT
code=0
tofu-oci "$@" >"$report" || code=$?
cat "$report"
# A finding is one line: FILE:LINE:COLUMN: text. It becomes a note at the file on a runner.
if [ "$code" = 1 ] && [ -n "${GITHUB_ACTIONS:-}" ]; then
  sed -n 's/^\([^:]*\.\(tf\|tofu\|json\)\):\([0-9][0-9]*\):\([0-9][0-9]*\): \(.*\)$/\1	\5/p' "$report" | while IFS='	' read -r file text; do annotate "$file" "$text"; done
fi
case $code in 0) output result pinned ;; 1) output result not-pinned ;; esac
exit "$code"
