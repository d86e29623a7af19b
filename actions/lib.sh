# What the scripts of the actions share; sourced, POSIX sh.

# output NAME VALUE: an output of the step. A value with a line break could write other outputs, so it is refused.
output() {
  case $2 in *'
'*) printf 'error: the output %s has a line break\n' "$1" >&2; exit 1 ;; esac
  [ -z "${GITHUB_OUTPUT:-}" ] || printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# annotate FILE TEXT: an error at a file, in the syntax of the runner's log. Only on a runner.
annotate() {
  [ -n "${GITHUB_ACTIONS:-}" ] || return 0
  printf '::error file=%s::%s\n' "$(printf '%s' "$1" | sed 's/%/%25/g; s/:/%3A/g; s/,/%2C/g')" "$(printf '%s' "$2" | sed 's/%/%25/g')"
}

need_program() {
  command -v tofu-oci >/dev/null 2>&1 || { printf 'error: tofu-oci is not on the PATH\n\nhint: run the action setup first\n' >&2; exit 2; }
}

is_true() {
  case $1 in true) return 0 ;; false | '') return 1 ;; *) printf 'error: %s is neither true nor false\n' "$1" >&2; exit 2 ;; esac
}

# each_line TEXT FUNCTION: calls FUNCTION with each line that is not empty, without a subshell.
each_line() {
  lines=$1
  while [ -n "$lines" ]; do
    line=${lines%%'
'*}
    case $lines in *'
'*) lines=${lines#*'
'} ;; *) lines='' ;; esac
    line=$(printf '%s' "$line" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')
    [ -z "$line" ] || "$2" "$line"
  done
}
