#!/bin/sh
# Tests install.sh, the scripts of the actions and of the hooks, and the form of every file of integrations.
# It needs no network: POSIX sh, python3, curl or wget, git; what else it finds (dash, shellcheck, helm, cosign, minisign)
# it uses, and it names what is missing. TOFU_OCI=PROGRAM runs the scripts with the real program too, and
# DIST=FOLDER installs what `cargo xtask dist` wrote (DIST_COSIGN_KEY=FILE: the public key that it was signed with).
# It prints `N passed, N failed`, and ends with 1 if a test failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/tofu-oci-integrations.XXXXXX")
server='' dist_server=''
finish() {
  for pid in $server $dist_server; do kill "$pid" 2>/dev/null; done
  chmod -R u+w "$work" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/home" "$work/tmp" "$work/fake"
# Nothing of the user's: neither logins, nor CLI configuration, nor a runner's files.
export HOME="$work/home" TMPDIR="$work/tmp"
unset TF_CLI_CONFIG_FILE TERRAFORM_CONFIG GITHUB_OUTPUT GITHUB_PATH GITHUB_ACTIONS GITHUB_STEP_SUMMARY RUNNER_TEMP TOFU_OCI_FROM
shell='sh'
command -v dash >/dev/null 2>&1 && shell=dash

passed=0 failed=0 code=0
have() { command -v "$1" >/dev/null 2>&1; }
# run COMMAND…: its exit code in `code`, its output in $work/out.
run() { code=0; "$@" >"$work/out" 2>&1 </dev/null || code=$?; }
# check NAME COMMAND…: the test passes if the command does.
check() {
  name=$1
  shift
  if "$@" >/dev/null 2>&1; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    printf 'FAILED: %s (exit code %s)\n' "$name" "$code"
    sed 's/^/  | /' "$work/out"
  fi
}
# ended CODE TEXT: the last run ended so, and said so.
ended() { [ "$code" = "$1" ] && grep -qF -- "$2" "$work/out"; }
not_here() { printf 'not here, left out: %s\n' "$1"; }

. "$here/tests/install.sh"
. "$here/tests/scripts.sh"
. "$here/tests/gitlab.sh"
. "$here/tests/forms.sh"
. "$here/tests/chart.sh"

printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
