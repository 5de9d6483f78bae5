{{- define "mcpguard.name" -}}
{{- if contains "mcpguard" .Release.Name }}{{ .Release.Name | trunc 53 | trimSuffix "-" }}{{ else }}{{ printf "%s-mcpguard" (.Release.Name | trunc 44 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "mcpguard.selector" -}}
app.kubernetes.io/name: mcpguard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mcpguard.labels" -}}
{{ include "mcpguard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "mcpguard.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "mcpguard.port" -}}
{{ if .Values.tls.secretName }}8443{{ else }}8080{{ end }}
{{- end }}

{{- /* How probes reach the guard: it answers to names that it knows, and the address of a pod is none. */ -}}
{{- define "mcpguard.probe" -}}
port: guard, scheme: {{ if .Values.tls.secretName }}HTTPS{{ else }}HTTP{{ end }}, httpHeaders: [{name: Host, value: "localhost:{{ include "mcpguard.port" . }}"}]
{{- end }}

{{- /* The configuration file of the guard. */ -}}
{{- define "mcpguard.config" -}}
{{- if not (or .Values.tls.secretName .Values.proxies) }}
{{- fail "set tls.secretName (a certificate of its own) or proxies (the network of the ingress controller): without either, tokens would cross the network unencrypted" }}
{{- end }}
{{- if and .Values.tls.clientCaSecretName (not .Values.tls.secretName) }}
{{- fail "tls.clientCaSecretName needs tls.secretName: what a proxy says of client certificates is not believed" }}
{{- end }}
{{- $own := dict "listen" (printf "0.0.0.0:%s" (include "mcpguard.port" .)) "hosts" .Values.hosts "proxies" .Values.proxies }}
{{- if .Values.tls.secretName }}
{{- $tls := dict "certificate" "/run/secrets/mcpguard-tls/tls.crt" "key" "/run/secrets/mcpguard-tls/tls.key" }}
{{- if .Values.tls.clientCaSecretName }}{{ $_ := set $tls "client_ca" "/run/secrets/mcpguard-client-ca/ca.crt" }}{{ end }}
{{- $_ := set $own "tls" $tls }}
{{- end }}
{{- if .Values.publicUrl }}{{ $_ := set $own "public_url" .Values.publicUrl }}{{ end }}
{{- toPrettyJson (dict "mcpguard" (mustMergeOverwrite (deepCopy .Values.config) $own)) }}
{{- end }}
