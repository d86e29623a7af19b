# The scripts of the actions and hooks, with a made-up program and with the real one; sourced by ../test.sh.

# The made-up program writes its arguments, one a line, and ends as FAKE_CODE says.
cat >"$work/fake/tofu-oci" <<'END'
#!/bin/sh
case $1 in --version) echo 'tofu-oci 1.5.0'; exit 0 ;; esac
for word in "$@"; do printf '<%s>\n' "$word"; done >>"$FAKE_LOG"
case $1 in push)
  printf 'stdin <%s>\n' "$(cat)" >>"$FAKE_LOG"
  printf 'key <%s> password <%s> left <%s>\n' "${TOFU_OCI_ACTION_KEY-}" "${COSIGN_PASSWORD-}" "${INPUT_PASSWORD-}${INPUT_SIGN_KEY-}" >>"$FAKE_LOG"
  [ "${FAKE_CODE:-0}" = 0 ] || exit "$FAKE_CODE"
  printf '%s\n' '{"event":"started","subject":"x","bytes":1}' '{"event":"pushed","outcome":"pushed","place":"ghcr.io/acme/w","version":"1.4.0","tag":"1.4.0","address":"a/b/c","index":"sha256:5a9e","platforms":[{"place":"no"}],"unchanged":false}' ;;
esac
exit "${FAKE_CODE:-0}"
END
chmod +x "$work/fake/tofu-oci"
export FAKE_LOG="$work/log"
# with VARIABLES… SCRIPT…: the script with the made-up program.
with() { : >"$FAKE_LOG"; : >"$work/output"; run env PATH="$work/fake:$PATH" GITHUB_OUTPUT="$work/output" "$@"; }
argument() { [ "$code" = 0 ] && grep -qxF -- "<$1>" "$FAKE_LOG"; }
logged() { grep -qF -- "$1" "$FAKE_LOG"; }
wrote() { grep -qxF -- "$1" "$work/output"; }

# An input with characters of the shell arrives as it is.
# shellcheck disable=SC2016
hostile='$(touch "$HOME/oops"); `touch oops` "a" ; b'
with INPUT_REPOSITORY=ghcr.io/acme/w INPUT_DIST="$hostile" INPUT_ADDRESS=h/n/t INPUT_USERNAME=ada INPUT_PASSWORD=secret \
  INPUT_SIGN_KEY=PEM INPUT_SIGN_KEY_PASSWORD=pw INPUT_SMALL=true "$shell" "$root/actions/push/push.sh"
check 'push: the repository' argument ghcr.io/acme/w
check 'push: an input of shell characters is one argument' argument "$hostile"
check 'push: it ran nothing' [ ! -e "$HOME/oops" ]
check 'push: --small' argument --small
check 'push: the password by standard input' logged 'stdin <secret>'
check 'push: key and password by variables, the inputs gone' logged 'key <PEM> password <pw> left <>'
check 'push: the output reference' wrote 'reference=ghcr.io/acme/w:1.4.0'
check 'push: the output digest' wrote 'digest=sha256:5a9e'
check 'push: the output unchanged' wrote 'unchanged=false'
with INPUT_REPOSITORY=r INPUT_SIGN_KEYLESS=true "$shell" "$root/actions/push/push.sh"
check 'push: --sign-keyless' argument --sign-keyless
with INPUT_REPOSITORY=r FAKE_CODE=3 "$shell" "$root/actions/push/push.sh"
check 'push: the exit code of the program' [ "$code" = 3 ]
with INPUT_REPOSITORY=r INPUT_SMALL=yes "$shell" "$root/actions/push/push.sh"
check 'push: an input that is neither true nor false' ended 2 'yes is neither true nor false'
with INPUT_REPOSITORY='' "$shell" "$root/actions/push/push.sh"
check 'push: no repository' ended 2 'repository is empty'

with INPUT_DIRECTORIES='a b
  c
-d' INPUT_PLATFORMS='linux_amd64
darwin_arm64' INPUT_FROM="$hostile" "$shell" "$root/actions/lock-check/lock-check.sh"
check 'lock-check: a folder with a blank' argument 'a b'
check 'lock-check: a folder with a dash' argument ./-d
check 'lock-check: both platforms' argument darwin_arm64
check 'lock-check: --from' argument "$hostile"
with FAKE_CODE=1 GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$work/summary" INPUT_DIRECTORIES='a
c' "$shell" "$root/actions/lock-check/lock-check.sh"
check 'lock-check: fails, with a note at the file' ended 1 '::error file=c/.terraform.lock.hcl::'
check 'lock-check: the output outdated' wrote 'outdated=a c'
with INPUT_PLATFORMS=--upgrade "$shell" "$root/actions/lock-check/lock-check.sh"
check 'lock-check: a platform that is none' ended 2 'is not a platform'

with INPUT_DIRECTORIES='a b
c' "$shell" "$root/actions/module-lock-check/module-lock-check.sh"
check 'module-lock-check: a folder with a blank' argument 'a b'
check 'module-lock-check: the output result' wrote result=pinned
with FAKE_CODE=1 "$shell" "$root/actions/module-lock-check/module-lock-check.sh"
check 'module-lock-check: fails' wrote result=not-pinned

: >"$work/output"
run env TOFU_OCI_BASE_URL="$url" RUNNER_TEMP="$work/runner" GITHUB_PATH="$work/path" GITHUB_OUTPUT="$work/output" INPUT_VERSION=1.4.0 \
  "$shell" "$root/actions/setup/setup.sh"
check 'setup: the output version' wrote version=1.4.0
check 'setup: the PATH of later steps' grep -qx "$work/runner/tofu-oci/bin" "$work/path"
run env PATH="$tools" "$shell_path" "$root/actions/lock-check/lock-check.sh"
check 'an action without the program' ended 2 'tofu-oci is not on the PATH'

# Hooks, in a folder of files.
mkdir -p "$work/repo/live/sub" "$work/repo/other"
: >"$work/repo/live/.terraform.lock.hcl"
hook() { script=$root/integrations/pre-commit/$1; shift; (cd "$work/repo" && : >"$FAKE_LOG" && PATH="$work/fake:$PATH" "$shell" "$script" "$@") >"$work/out" 2>&1; code=$?; }
hook lock-check.sh --from=x 'live/a b.tf' live/sub/b.tf other/c.tf
check 'hook: the folder of the lock file' argument ./live
check 'hook: once' [ "$(grep -cxF '<--chdir>' "$FAKE_LOG")" = 1 ]
check 'hook: its options' argument --from=x
hook lock-check.sh other/c.tf
check 'hook: nothing without a lock file' [ "$code$(cat "$FAKE_LOG")" = 0 ]
hook module-lock-check.sh --trust-policy=t live/a.tf live/b.tf d.tf
check 'hook: modules, each folder' argument ./live
check 'hook: modules, each folder once' [ "$(grep -cxF '<./live>' "$FAKE_LOG")" = 1 ]
FAKE_CODE=1
export FAKE_CODE
hook config-check.sh a.tofurc
check 'hook: the exit code' [ "$code" = 1 ]
unset FAKE_CODE
run env PATH="$tools" "$shell_path" "$root/integrations/pre-commit/config-check.sh" a.tofurc
check 'a hook without the program' ended 2 'this hook needs the program tofu-oci'

# With the real program: publish to a folder, lock for one platform, and find that it is not enough.
if [ -n "${TOFU_OCI:-}" ]; then
  mkdir -p "$work/real" "$work/dist/linux_amd64" "$work/dist/darwin_arm64" "$work/repo/real"
  ln -sf "$TOFU_OCI" "$work/real/tofu-oci"
  for platform in linux_amd64 darwin_arm64; do
    printf '#!/bin/sh\necho %s\n' $platform >"$work/dist/$platform/terraform-provider-widget_v1.4.0"
    chmod +x "$work/dist/$platform/terraform-provider-widget_v1.4.0"
  done
  cat >"$work/repo/real/main.tf" <<'END'
terraform {
  required_providers {
    widget = { source = "registry.example.com/acme/widget" }
  }
}
END
  really() { : >"$work/output"; run env PATH="$work/real:$PATH" GITHUB_OUTPUT="$work/output" "$@"; }
  really INPUT_DIST="$work/dist" INPUT_REPOSITORY="oci:$work/layout" INPUT_ADDRESS=registry.example.com/acme/widget "$shell" "$root/actions/push/push.sh"
  check 'real: push' ended 0 'index sha256:'
  check 'real: its output' wrote "reference=oci:$work/layout:1.4.0"
  really "$TOFU_OCI" lock --chdir "$work/repo/real" --from "oci:$work/layout" --platform linux_amd64
  really INPUT_DIRECTORIES="$work/repo/real" INPUT_FROM="oci:$work/layout" "$shell" "$root/actions/lock-check/lock-check.sh"
  check 'real: lock-check of a stale lock file' ended 1 'checksums added'
  (cd "$work/repo" && PATH="$work/real:$PATH" "$shell" "$root/integrations/pre-commit/lock-check.sh" "--from=oci:$work/layout" real/main.tf) >"$work/out" 2>&1
  code=$?
  check 'real: the hook finds it too' ended 1 'checksums added'
  really "$TOFU_OCI" lock --chdir "$work/repo/real" --from "oci:$work/layout"
  really INPUT_DIRECTORIES="$work/repo/real" INPUT_FROM="oci:$work/layout" "$shell" "$root/actions/lock-check/lock-check.sh"
  check 'real: lock-check after tofu-oci lock' [ "$code" = 0 ]
  really INPUT_DIRECTORIES="$work/repo/real" "$shell" "$root/actions/module-lock-check/module-lock-check.sh"
  check 'real: module-lock-check without modules' wrote result=pinned
else not_here 'TOFU_OCI=PROGRAM, for the real program'; fi
