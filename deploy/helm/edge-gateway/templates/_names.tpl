{{/* Labels of an object. Arguments: root, component. */}}
{{- define "edge-gateway.labels" -}}
app: gw
gw: {{ .component }}
app.kubernetes.io/name: {{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/part-of: edge-gateway
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
{{- with .root.Values.global.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels that select the pods of a component; they never change. Arguments: component. */}}
{{- define "edge-gateway.selector" -}}
app: gw
gw: {{ .component }}
{{- end -}}

{{/* The image of a container. Arguments: root, image, which overrides the global one field by field. */}}
{{- define "edge-gateway.image" -}}
{{- $image := mergeOverwrite (deepCopy .root.Values.global.image) (.image | default dict) -}}
{{- $name := printf "%s:%s" $image.repository ($image.tag | default .root.Chart.AppVersion) -}}
{{- if $image.registry }}{{ printf "%s/%s" (trimSuffix "/" $image.registry) $name }}{{ else }}{{ $name }}{{ end -}}
{{- end -}}

{{/* Arguments: root, image. */}}
{{- define "edge-gateway.pullPolicy" -}}
{{- dig "pullPolicy" .root.Values.global.image.pullPolicy (.image | default dict) -}}
{{- end -}}

{{- define "edge-gateway.adminTokenSecret" -}}
{{- .Values.global.adminToken.existingSecret | default "admin-token" -}}
{{- end -}}

{{- define "edge-gateway.xdsTlsSecret" -}}
{{- .Values.global.xdsTls.existingSecret | default "xds-tls" -}}
{{- end -}}

{{/* Not empty if the API server asks the control plane before it stores changes. */}}
{{- define "edge-gateway.validatesAdmission" -}}
{{- with .Values.gateway.validation -}}
{{- if and .enabled .webhook.enabled (not $.Values.global.rbac.namespaced) }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* Name of the ValidatingWebhookConfiguration. */}}
{{- define "edge-gateway.validationWebhook" -}}
gw-gateway-validation-webhook-{{ .Release.Namespace }}
{{- end -}}

{{/* The Secret with the address of Redis; empty without one. */}}
{{- define "edge-gateway.redisSecret" -}}
{{- .Values.redis.existingSecret | default (ternary "redis" "" .Values.redis.enabled) -}}
{{- end -}}

{{/* The namespaces to read, the own one included, as JSON; `null` for all. */}}
{{- define "edge-gateway.watchedNamespaces" -}}
{{- if .Values.settings.watchNamespaces -}}
{{- append .Values.settings.watchNamespaces .Release.Namespace | uniq | sortAlpha | toJson -}}
{{- else -}}
null
{{- end -}}
{{- end -}}

{{/* The address of Redis as a variable; empty without a Redis. */}}
{{- define "edge-gateway.redisEnv" -}}
{{- with include "edge-gateway.redisSecret" . -}}
- name: GATEWAY_RATE_LIMIT_REDIS
  valueFrom: { secretKeyRef: { name: {{ . }}, key: url } }
{{- end -}}
{{- end -}}

{{/* The values of every proxy by its name, as JSON. Values that one does not set are those of gatewayProxy, except `disabled` and `proxyName`. */}}
{{- define "edge-gateway.proxies" -}}
{{- $proxies := dict }}
{{- range $key, $own := .Values.gatewayProxies }}
{{- $own = $own | default dict }}
{{- if not $own.disabled }}
{{- $proxy := mergeOverwrite (deepCopy $.Values.gatewayProxies.gatewayProxy) (deepCopy $own) }}
{{- if and $proxy.kind.daemonSet.enabled $proxy.horizontalPodAutoscaler }}
{{- fail (printf "gatewayProxies.%s: a horizontalPodAutoscaler cannot scale a daemonSet" $key) }}
{{- end }}
{{- $_ := set $proxy "proxyName" ($own.proxyName | default (kebabcase $key)) }}
{{- $_ := set $proxies (kebabcase $key) $proxy }}
{{- end }}
{{- end }}
{{- toJson $proxies -}}
{{- end -}}
