{{- define "tofu-oci.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "tofu-oci.fullname" -}}
{{- $name := include "tofu-oci.name" . -}}
{{- $both := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $both .Values.fullnameOverride | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "tofu-oci.selector" -}}
app.kubernetes.io/name: {{ include "tofu-oci.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "tofu-oci.labels" -}}
{{ include "tofu-oci.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{- define "tofu-oci.serviceAccount" -}}
{{- default (include "tofu-oci.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "tofu-oci.image" -}}
{{- $image := .Values.image -}}
{{- $repository := required "image.repository is the image of tofu-oci, such as registry.acme.example/tofu-oci" $image.repository -}}
{{- if $image.digest -}}
{{ printf "%s@%s" $repository $image.digest }}
{{- else -}}
{{ printf "%s:%s" $repository (default .Chart.AppVersion $image.tag) }}
{{- end -}}
{{- end -}}

{{/* The settings with what the chart itself writes, as JSON. */}}
{{- define "tofu-oci.merged" -}}
{{- $values := .Values -}}
{{- $settings := deepCopy $values.settings -}}
{{- $_ := required "settings.url is where clients reach the bridge, such as https://providers.acme.example/" $settings.url -}}
{{- if not (or $settings.provider $settings.module) -}}
{{- fail "settings.provider or settings.module says what is served" -}}
{{- end -}}
{{- range $name := list "listen" "listen_metrics" "plain_http" "tls" "signing_key" "trust" -}}
{{- if hasKey $settings $name -}}{{- fail (printf "the chart writes the setting %s" $name) -}}{{- end -}}
{{- end -}}
{{- $_ := set $settings "listen" (list (printf "%s:8443" $values.listenAddress)) -}}
{{- if $values.metrics.enabled -}}
{{- $_ := set $settings "listen_metrics" (printf "%s:%d" $values.listenAddress (int $values.metrics.port)) -}}
{{- end -}}
{{- if $values.tls.secretName -}}
{{- $_ := set $settings "tls" (dict "certificate" "/etc/tofu-oci/tls/tls.crt" "key" "/etc/tofu-oci/tls/tls.key") -}}
{{- else -}}
{{- $_ := set $settings "plain_http" true -}}
{{- end -}}
{{- if $values.signingKey.secretName -}}
{{- $_ := set $settings "signing_key" (printf "/etc/tofu-oci/signing/%s" $values.signingKey.key) -}}
{{- end -}}
{{- if or $values.trust.files $values.trust.configMapName -}}
{{- if and $values.trust.files (not (hasKey $values.trust.files "trust.toml")) -}}{{- fail "trust.files has no trust.toml" -}}{{- end -}}
{{- $_ := set $settings "trust" "/etc/tofu-oci/trust/trust.toml" -}}
{{- end -}}
{{- $links := default dict $settings.links -}}
{{- if $values.linkSecret.secretName -}}
{{- $_ := set $links "secret" (printf "/etc/tofu-oci/links/%s" $values.linkSecret.key) -}}
{{- end -}}
{{- if $links -}}{{- $_ := set $settings "links" $links -}}{{- end -}}
{{- $_ := set $settings "cache" (set (default dict $settings.cache) "dir" "/cache/serve") -}}
{{- toJson $settings -}}
{{- end -}}

{{/* A string, a boolean, a whole number or a list of them in TOML. JSON's escapes are TOML's. */}}
{{- define "tofu-oci.toml.value" -}}
{{- if kindIs "slice" . -}}
[{{- range $index, $item := . -}}{{- if $index -}}, {{ end -}}{{- include "tofu-oci.toml.value" $item -}}{{- end -}}]
{{- else if kindIs "string" . -}}
{{- toRawJson . -}}
{{- else if kindIs "bool" . -}}
{{- toJson . -}}
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{- int64 . -}}
{{- else -}}
{{- fail (printf "%v is no value of a setting" .) -}}
{{- end -}}
{{- end -}}

{{- define "tofu-oci.toml.name" -}}
{{- if not (regexMatch "^[a-z0-9_]+$" .) -}}{{- fail (printf "%q is no name of a setting" .) -}}{{- end -}}
{{ . }}
{{- end -}}

{{- define "tofu-oci.toml.pair" -}}
{{ include "tofu-oci.toml.name" .name }} = {{ include "tofu-oci.toml.value" .value }}
{{- end -}}

{{/* serve.toml */}}
{{- define "tofu-oci.settings" -}}
{{- $settings := include "tofu-oci.merged" . | fromJson -}}
{{- range $name, $value := $settings -}}
{{- if not (or (kindIs "map" $value) (has $name (list "provider" "module" "client"))) -}}
{{ include "tofu-oci.toml.pair" (dict "name" $name "value" $value) }}
{{ end -}}
{{- end -}}
{{- range $name, $table := $settings -}}
{{- if kindIs "map" $table }}
[{{ include "tofu-oci.toml.name" $name }}]
{{ range $member, $value := $table -}}
{{ include "tofu-oci.toml.pair" (dict "name" $member "value" $value) }}
{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name := list "provider" "module" "client" -}}
{{- range $table := get $settings $name | default list }}
[[{{ $name }}]]
{{ range $member, $value := $table -}}
{{ include "tofu-oci.toml.pair" (dict "name" $member "value" $value) }}
{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Settings with clients are a secret: whoever reads them can make links to archives. */}}
{{- define "tofu-oci.settingsAreSecret" -}}
{{- if .Values.settings.client -}}yes{{- end -}}
{{- end -}}

{{- define "tofu-oci.probe" -}}
httpGet:
  path: {{ .path }}
  port: bridge
  scheme: {{ ternary "HTTPS" "HTTP" (not (empty .root.Values.tls.secretName)) }}
{{- with .more }}
{{ toYaml . }}
{{- end }}
{{- end -}}
