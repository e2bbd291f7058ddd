{{/*
ServiceAccount, Deployment and PodDisruptionBudget of a component with an admin port, 9091.
Arguments: root, component, values (logLevel, deployment, serviceAccount), role: the arguments after the name of the program,
ports: dicts with name and containerPort, usesApi: whether it calls the API server,
certificates: mounts the certificates of the xDS server, env: more variables, as YAML.
*/}}
{{- define "edge-gateway.deployment" -}}
{{- $root := .root }}
{{- $settings := .values.deployment }}
{{- $stop := ternary (int $settings.gracefulShutdown.sleepTimeSeconds) 0 $settings.gracefulShutdown.enabled }}
{{ include "edge-gateway.serviceAccount" (dict "root" $root "component" .component "account" .values.serviceAccount) }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .component }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "edge-gateway.labels" . | nindent 4 }}
spec:
  replicas: {{ $settings.replicas }}
  selector:
    matchLabels: {{ include "edge-gateway.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{ include "edge-gateway.labels" . | nindent 8 }}
      {{- with merge (dict) $settings.extraAnnotations $root.Values.global.podAnnotations }}
      annotations: {{ toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ .values.serviceAccount.name | default .component }}
      automountServiceAccountToken: {{ .usesApi }}
      {{- include "edge-gateway.pod" (dict "root" $root "settings" $settings) | nindent 6 }}
      # Longer than --drain-seconds, whose default is 30, after the wait before SIGTERM.
      terminationGracePeriodSeconds: {{ add $stop 40 }}
      containers:
        - name: {{ .component }}
          image: {{ include "edge-gateway.image" (dict "root" $root "image" $settings.image) }}
          imagePullPolicy: {{ include "edge-gateway.pullPolicy" (dict "root" $root "image" $settings.image) }}
          args:
            {{- range .role }}
            - {{ . }}
            {{- end }}
            - --namespace={{ $root.Release.Namespace }}
            - --log-level={{ .values.logLevel }}
            - --admin-address={{ $root.Values.global.bindAddress }}
            - --admin-token-file=/etc/edge-gateway/admin/token
            {{- range $settings.extraArgs }}
            - {{ . | quote }}
            {{- end }}
          env:
            {{- include "edge-gateway.podEnv" $root | nindent 12 }}
            {{- with .env }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- with $settings.customEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - { name: http-admin, containerPort: 9091 }
            {{- range .ports }}
            - { name: {{ .name }}, containerPort: {{ .containerPort }} }
            {{- end }}
          {{- include "edge-gateway.probes" (dict "port" "http-admin") | nindent 10 }}
          {{- if $stop }}
          lifecycle:
            preStop:
              exec:
                # Serves until the endpoints of the Service no longer name this pod.
                command: [node, -e, {{ printf "setTimeout(() => {}, %d);" (mul $stop 1000) | quote }}]
          {{- end }}
          resources: {{ toYaml $settings.resources | nindent 12 }}
          securityContext: {{ include "edge-gateway.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            - { name: admin-token, mountPath: /etc/edge-gateway/admin, readOnly: true }
            {{- if .certificates }}
            - { name: xds-tls, mountPath: /etc/edge-gateway/xds-tls, readOnly: true }
            {{- end }}
            - { name: tmp, mountPath: /tmp }
            {{- with $settings.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        - name: admin-token
          secret: { secretName: {{ include "edge-gateway.adminTokenSecret" $root }} }
        {{- if .certificates }}
        - name: xds-tls
          secret:
            secretName: {{ include "edge-gateway.xdsTlsSecret" $root }}
            items:
              - { key: ca.crt, path: ca.crt }
              - { key: tls.crt, path: tls.crt }
              - { key: tls.key, path: tls.key }
        {{- end }}
        - name: tmp
          emptyDir: {}
        {{- with $settings.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{ include "edge-gateway.disruptionBudget" (dict "root" $root "component" .component "settings" $settings) }}
{{- end -}}

{{/* Arguments: root, component, ports: dicts with name and port. */}}
{{- define "edge-gateway.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{ include "edge-gateway.labels" . | nindent 4 }}
spec:
  selector: {{ include "edge-gateway.selector" . | nindent 4 }}
  ports:
    {{- range .ports }}
    - { name: {{ .name }}, port: {{ .port }}, targetPort: {{ .name }} }
    {{- end }}
{{- end -}}
