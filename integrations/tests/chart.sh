# The Helm chart; sourced by ../test.sh.

chart=$root/integrations/helm/tofu-oci

# A setting that serve.toml has and the chart's schema lacks could not be set: the schema refuses names that it does not know.
run python3 - "$chart/values.schema.json" "$root/crates/bridge/src/config/document.rs" <<'END'
import json, re, sys
settings = json.load(open(sys.argv[1]))["properties"]["settings"]["properties"]
written = {"listen", "listen_metrics", "plain_http", "tls", "signing_key", "trust", "links.secret", "cache.dir"}
items = {"ServedTable": "provider", "ServedModuleTable": "module", "ClientTable": "client", "LinksTable": "links",
         "LimitsTable": "limits", "CacheTable": "cache", "BridgeDocument": ""}
known = set(settings)
for name, schema in settings.items():
    known |= {f"{name}.{member}" for member in schema.get("items", schema).get("properties", {})}
read = set()
for name, body in re.findall(r"struct (\w+) \{(.*?)\n\}", open(sys.argv[2]).read(), re.S):
    if name in items:
        members = re.findall(r"pub\(super\) (\w+):", body)
        read |= {f"{items[name]}.{member}".lstrip(".") for member in members}
differing = sorted((read - written) ^ known)
print("only in one of the two:", differing)
sys.exit(bool(differing))
END
check 'the schema of the chart has the settings of serve.toml' [ "$code" = 0 ]

# settings_of FILE FOLDER: the settings in rendered manifests, with the paths of a pod below FOLDER.
settings_of() {
  python3 - "$1" "$2" <<'END'
import sys, yaml
for document in yaml.safe_load_all(open(sys.argv[1])):
    data = (document or {}).get("stringData") or (document or {}).get("data") or {}
    if "serve.toml" in data:
        print(data["serve.toml"].replace('"/', f'"{sys.argv[2]}/'))
END
}

if have helm; then
  render() { run helm template bridge "$chart" --kube-version 1.34.0 "$@"; }
  for values in "$chart"/ci/*.yaml; do
    run helm lint --strict "$chart" --kube-version 1.34.0 --values "$values"
    check "helm lint with ${values##*/}" [ "$code" = 0 ]
    render --values "$values"
    check "helm template with ${values##*/}" [ "$code" = 0 ]
    cp "$work/out" "$work/${values##*/}.rendered"
  done
  least=$chart/ci/least.yaml
  render
  check 'chart: what is missing is named' ended 1 'settings.url'
  render --values "$least" --set settings.frobnicate=1
  check 'chart: an unknown setting' ended 1 "additional properties 'frobnicate' not allowed"
  render --values "$least" --set 'settings.listen={0.0.0.0:1}'
  check 'chart: a setting that the chart writes' ended 1 "additional properties 'listen' not allowed"
  render --values "$least" --set image.repository=
  check 'chart: no image' ended 1 'image.repository is the image'
  render --values "$least" --set trust.files.a=b
  check 'chart: a trust policy without its file' ended 1 'trust.files has no trust.toml'

  if python3 -c 'import yaml, tomllib' 2>/dev/null; then
    # Text that would be YAML, TOML or a template of Helm if it were not quoted.
    cat >"$work/hostile.yaml" <<'END'
settings:
  proxies: ["a\"]\n[tls]\ncertificate = \"x", "{{ .Release.Name }} \\u003c <&> ${x}", "serve.toml: |\n  x"]
podAnnotations: {"a/b": "c\"\nhostNetwork: true", "d": "true"}
tls: {secretName: "x}, evil: {"}
ca: {configMapName: "y\nkind: Pod"}
END
    render --values "$least" --values "$work/hostile.yaml"
    run python3 - "$work/hostile.yaml" "$work/out" <<'END'
import sys, tomllib, yaml
values = yaml.safe_load(open(sys.argv[1]))
manifests = {document["kind"]: document for document in yaml.safe_load_all(open(sys.argv[2])) if document}
settings = tomllib.loads(manifests["ConfigMap"]["data"]["serve.toml"])
assert settings["proxies"] == values["settings"]["proxies"], settings["proxies"]
assert settings["tls"]["certificate"] == "/etc/tofu-oci/tls/tls.crt", settings["tls"]
template = manifests["Deployment"]["spec"]["template"]
assert values["podAnnotations"].items() <= template["metadata"]["annotations"].items()
volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
assert volumes["tls"]["secret"]["secretName"] == "x}, evil: {" and volumes["ca"]["configMap"]["name"] == "y\nkind: Pod"
assert "hostNetwork" not in template["spec"]
END
    check 'chart: a value stays a value' [ "$code" = 0 ]

    if [ -n "${TOFU_OCI:-}" ] && have openssl; then
      pod=$work/pod
      etc=$pod/etc/tofu-oci
      mkdir -p "$etc/tls" "$etc/signing" "$etc/links" "$etc/trust" "$pod/cache"
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=providers.acme.example \
        -keyout "$etc/tls/tls.key" -out "$etc/tls/tls.crt" 2>/dev/null
      openssl rand -hex 32 >"$etc/links/links.key"
      "$TOFU_OCI" serve --new-key "$etc/signing/bridge-key.asc" >/dev/null 2>&1
      python3 - "$work/all.yaml.rendered" "$etc/trust" <<'END'
import pathlib, sys, yaml
for document in yaml.safe_load_all(open(sys.argv[1])):
    for name, text in ((document or {}).get("data") or {}).items():
        (pathlib.Path(sys.argv[2]) / name).write_text(text)
END
      for values in least all; do
        settings_of "$work/$values.yaml.rendered" "$pod" >"$work/serve.toml"
        run "$TOFU_OCI" serve --config "$work/serve.toml" --check-config
        check "real: serve takes the settings of $values.yaml" [ "$code" = 0 ]
      done
    fi
  else not_here 'the yaml module of python3, or its tomllib'; fi

  # Such as a folder with deployment-apps-v1.json and the others.
  if have kubeconform && [ -n "${KUBERNETES_SCHEMAS:-}" ]; then
    for values in least all; do
      run kubeconform -strict -skip ServiceMonitor -schema-location "$KUBERNETES_SCHEMAS/{{.ResourceKind}}{{.KindSuffix}}.json" "$work/$values.yaml.rendered"
      check "kubeconform of $values.yaml" [ "$code" = 0 ]
    done
  else not_here 'kubeconform, or KUBERNETES_SCHEMAS=FOLDER'; fi
else not_here helm; fi
