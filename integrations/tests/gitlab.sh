# The scripts of the GitLab CI components, with the made-up program; sourced by ../test.sh.

# gitlab TEMPLATE [NAME=INPUT…] [-- VARIABLE…]: runs the script of the template's job as a runner does.
gitlab() {
  python3 - "$root/templates/$1" "$@" >"$work/job" <<'END'
import re, sys, yaml
spec, job = yaml.safe_load_all(open(sys.argv[1]))
inputs = {name: value.get("default", "") for name, value in spec["spec"]["inputs"].items()}
inputs.update(word.split("=", 1) for word in sys.argv[3:] if "=" in word)
text = lambda value: str(value).lower() if isinstance(value, bool) else str(value)
filled = lambda value: re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda found: text(inputs[found[1]]), value)
(job,) = job.values()
print("set -e")
for name, value in job["variables"].items():
    value, expand = (value["value"], value["expand"]) if isinstance(value, dict) else (value, True)
    value = filled(value)
    print(f"export {name}=" + (f'"{value}"' if expand else "'" + value + "'"))
print("\n".join(job["script"]))
END
  : >"$FAKE_LOG"
  run env PATH="$work/fake:$PATH" CI_REGISTRY=gl.example CI_REGISTRY_IMAGE=gl.example/acme/w CI_REGISTRY_USER=u CI_REGISTRY_PASSWORD=p \
    "$shell" "$work/job"
}

if python3 -c 'import yaml' 2>/dev/null; then
  unset COSIGN_KEY
  gitlab push.yml address=h/n/t layout=image
  check 'gitlab push: the repository of the project' argument gl.example/acme/w
  check 'gitlab push: the layout' argument image
  check 'gitlab push: no signature without a key' [ "$code$(grep -c sign "$FAKE_LOG")" = 00 ]
  COSIGN_KEY=PEM
  export COSIGN_KEY
  gitlab push.yml address=h/n/t
  check 'gitlab push: signed in the form that GitLab takes' argument cosign-tag
  check 'gitlab push: the key by its variable' argument env://COSIGN_KEY
  gitlab push.yml address=h/n/t sign_keyless=true
  check 'gitlab push: as the job, and not by the key' [ "$code$(grep -cxF '<--sign-keyless>' "$FAKE_LOG")$(grep -c env:// "$FAKE_LOG")" = 010 ]
  unset COSIGN_KEY
  # shellcheck disable=SC2016
  gitlab lock-check.yml directories='a b' from='ghcr.io/acme/${type}'
  check 'gitlab lock-check: both folders' argument b
  check 'gitlab lock-check: modules too' argument module
  gitlab lock-check.yml modules=false
  check 'gitlab lock-check: without modules' [ "$code$(grep -cxF '<module>' "$FAKE_LOG")" = 00 ]
else not_here 'the yaml module of python3, for the GitLab components'; fi
