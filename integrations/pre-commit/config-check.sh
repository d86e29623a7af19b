#!/bin/sh
# The hook `tofu-oci-config-check`: config-check.sh FILE…, each as the only CLI configuration.
set -eu
. "$(dirname "$0")/lib.sh"

worst=0
for file in "$@"; do
  code=0
  TF_CLI_CONFIG_FILE=$(parent "$file")/${file##*/} tofu-oci config check --quiet || code=$?
  [ "$code" -le "$worst" ] || worst=$code
done
exit "$worst"
