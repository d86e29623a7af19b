#!/bin/sh
# The hook `tofu-oci-module-lock-check`: module-lock-check.sh [--OPTION=VALUE…] FILE…
set -eu
. "$(dirname "$0")/lib.sh"

options=$(option_count "$@")
total=$#
index=0
folders=''
while [ "$index" -lt "$total" ]; do
  index=$((index + 1))
  word=$1
  shift
  if [ "$index" -le "$options" ]; then
    set -- "$@" "$word"
  elif [ "$word" != -- ]; then
    folders="$folders$(parent "$word")
"
  fi
done
[ -n "$folders" ] || exit 0
folders=$(printf '%s' "$folders" | sort -u)
set -- "$@" --
while IFS= read -r folder; do
  set -- "$@" "$folder"
done <<END
$folders
END
exec tofu-oci module lock --check --quiet "$@"
