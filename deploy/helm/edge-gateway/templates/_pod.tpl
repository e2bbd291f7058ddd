{{/* What all pods have in common. Arguments: root, settings: the values of a Deployment. */}}
{{- define "edge-gateway.pod" -}}
{{- with .root.Values.global.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user | default 10001 }}
  runAsGroup: {{ .user | default 10001 }}
  fsGroup: {{ .user | default 10001 }}
  seccompProfile: { type: RuntimeDefault }
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .settings.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.topologySpreadConstraints }}
topologySpreadConstraints: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "edge-gateway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Readiness and liveness by a port with /ready, which needs no token. Arguments: port. */}}
{{- define "edge-gateway.probes" -}}
startupProbe:
  httpGet: { path: /ready, port: {{ .port }} }
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: { path: /ready, port: {{ .port }} }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
livenessProbe:
  tcpSocket: { port: {{ .port }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{/* The names that a container learns about its pod. */}}
{{- define "edge-gateway.podEnv" -}}
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- end -}}

{{/* Arguments: root, component, settings: the values with podDisruptionBudget. */}}
{{- define "edge-gateway.disruptionBudget" -}}
{{- with .settings.podDisruptionBudget }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $.component }}
  namespace: {{ $.root.Release.Namespace }}
  labels: {{ include "edge-gateway.labels" $ | nindent 4 }}
spec:
  {{- toYaml . | nindent 2 }}
  selector:
    matchLabels: {{ include "edge-gateway.selector" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{/* Arguments: root, component, account: the values of the ServiceAccount. */}}
{{- define "edge-gateway.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .account.name | default .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{ include "edge-gateway.labels" . | nindent 4 }}
  {{- with .account.extraAnnotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end -}}
