#!/bin/sh
# The action `lock-check`: `tofu-oci lock --check` in each folder. It looks at all of them before it fails.
set -eu
. "$(dirname "$0")/../lib.sh"
need_program

set --
[ -z "${INPUT_FROM:-}" ] || set -- "$@" --from "$INPUT_FROM"
[ -z "${INPUT_TRUST_POLICY:-}" ] || set -- "$@" --trust-policy "$INPUT_TRUST_POLICY"
platforms=''
add_platform() { case $1 in *[!a-z0-9_]*) printf 'error: %s is not a platform\n' "$1" >&2; exit 2 ;; esac; platforms="$platforms $1"; }
each_line "${INPUT_PLATFORMS:-}" add_platform
for platform in $platforms; do set -- "$@" --platform "$platform"; done

outdated='' worst=0
report=$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/tofu-oci-lock.XXXXXX")
trap 'rm -f "$report"' EXIT
directories=''
add_directory() {
  case $1 in -*) set -- "./$1" ;; esac
  directories="$directories$1
"
}
each_line "${INPUT_DIRECTORIES:-.}" add_directory
while IFS= read -r directory; do
  [ -n "$directory" ] || continue
  code=0
  tofu-oci lock --check --chdir "$directory" "$@" >"$report" </dev/null || code=$?
  cat "$report"
  [ "$code" = 0 ] && continue
  [ "$code" -gt "$worst" ] && worst=$code
  annotate "$directory/.terraform.lock.hcl" "tofu-oci lock --check --chdir $directory ended with $code; the log of this step says why"
  [ "$code" = 1 ] && outdated="$outdated $directory"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    # Four blanks and no fence: nothing in the report can end the block.
    { printf '### `%s`\n\n' "$(printf '%s' "$directory" | tr -d '`')"; sed 's/^/    /' "$report"; printf '\n'; } >>"$GITHUB_STEP_SUMMARY"
  fi
done <<END
$directories
END
output outdated "${outdated# }"
exit "$worst"
