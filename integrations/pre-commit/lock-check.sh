#!/bin/sh
# The hook `tofu-oci-lock-check`: lock-check.sh [--OPTION=VALUE…] FILE…
# A file belongs to the nearest lock file at or above it; without one there is nothing to check.
set -eu
. "$(dirname "$0")/lib.sh"

options=$(option_count "$@")
total=$#
index=0
folders=''
for word in "$@"; do
  index=$((index + 1))
  if [ "$index" -le "$options" ] || [ "$word" = -- ]; then continue; fi
  folder=$(parent "$word")
  while [ ! -f "$folder/.terraform.lock.hcl" ] && [ "$folder" != . ]; do folder=${folder%/*}; done
  [ ! -f "$folder/.terraform.lock.hcl" ] || folders="$folders$folder
"
done
# Leave the options alone in "$@": move them behind the rest, and drop the rest.
index=0
while [ "$index" -lt "$total" ]; do
  index=$((index + 1))
  word=$1
  shift
  [ "$index" -gt "$options" ] || set -- "$@" "$word"
done

worst=0
folders=$(printf '%s' "$folders" | sort -u)
while IFS= read -r folder; do
  [ -n "$folder" ] || continue
  code=0
  tofu-oci lock --check --quiet --chdir "$folder" "$@" </dev/null || code=$?
  [ "$code" -le "$worst" ] || worst=$code
done <<END
$folders
END
exit "$worst"
