# What the hooks share; sourced, POSIX sh.

command -v tofu-oci >/dev/null 2>&1 || {
  printf 'error: this hook needs the program tofu-oci, which is not on the PATH\n\nhint: install it: https://github.com/OWNER/tofu-oci#get-it\n' >&2
  exit 2
}

# parent FILE: its folder, as ./DIR, so that a name with a dash is no option.
parent() { case $1 in */*) printf './%s\n' "${1%/*}" ;; *) printf '.\n' ;; esac; }

# The options are the first words with two dashes, their values after `=`; pre-commit puts the files after them.
# usage: option_count "$@"
option_count() {
  count=0
  for word in "$@"; do
    case $word in --) break ;; --*) count=$((count + 1)) ;; *) break ;; esac
  done
  printf '%s\n' "$count"
}
