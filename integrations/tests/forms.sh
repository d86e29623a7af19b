# The form of every file; sourced by ../test.sh.

for script in "$root/install.sh" "$root"/actions/*.sh "$root"/actions/*/*.sh "$root"/integrations/*.sh "$root"/integrations/*/*.sh; do
  run "$shell" -n "$script"
  check "syntax of ${script#"$root"/}" [ "$code" = 0 ]
  if have shellcheck; then
    run shellcheck -s sh -S warning -e SC1091,SC2154,SC2034 "$script"
    check "shellcheck of ${script#"$root"/}" [ "$code" = 0 ]
  fi
done
have shellcheck || not_here shellcheck

# No input is written into a script: an expression stands in `env`, `value` and `with` alone.
for action in "$root"/actions/*/action.yml; do
  run sed -n '/^ *run:/p' "$action"
  check "no expression in the script of ${action#"$root"/}" [ "$code$(grep -c '\${{' "$work/out")" = 00 ]
done

if python3 -c 'import yaml' 2>/dev/null; then
  for file in "$root/.pre-commit-hooks.yaml" "$root"/actions/*/action.yml "$root"/templates/*.yml "$root"/integrations/*/*.y*ml "$root"/integrations/helm/tofu-oci/*.yaml "$root"/integrations/helm/tofu-oci/ci/*.yaml; do
    [ -f "$file" ] || continue
    run python3 -c 'import sys,yaml; list(yaml.safe_load_all(open(sys.argv[1])))' "$file"
    check "YAML of ${file#"$root"/}" [ "$code" = 0 ]
  done
else not_here 'the yaml module of python3'; fi
