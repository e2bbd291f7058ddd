{{/*
The container of an Envoy, which serves the configuration of the control plane. Its own part of the configuration is in a ConfigMap.
Arguments: root, name, proxy.
*/}}
{{- define "edge-gateway.envoyContainer" -}}
{{- $template := .proxy.podTemplate -}}
{{- $stop := ternary (int $template.gracefulShutdown.sleepTimeSeconds) 0 $template.gracefulShutdown.enabled -}}
{{- $image := .proxy.envoy.image -}}
name: {{ .name }}
image: {{ printf "%s:%s" (ternary (printf "%s/%s" (trimSuffix "/" ($image.registry | default "")) $image.repository) $image.repository (not (empty $image.registry))) $image.tag }}
imagePullPolicy: {{ $image.pullPolicy }}
args:
  - -c
  - /etc/envoy/envoy.yaml
  - --service-node
  - $(POD_NAME)
  - --log-level
  - {{ .proxy.logLevel }}
  - --disable-hot-restart
  {{- range $template.extraArgs }}
  - {{ . | quote }}
  {{- end }}
env:
  - name: POD_NAME
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  {{- with $template.customEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
ports:
  - name: http
    containerPort: {{ $template.httpPort }}
    {{- if .proxy.kind.daemonSet.hostPort }}
    hostPort: {{ .proxy.service.httpPort }}
    {{- end }}
  - name: https
    containerPort: {{ $template.httpsPort }}
    {{- if .proxy.kind.daemonSet.hostPort }}
    hostPort: {{ .proxy.service.httpsPort }}
    {{- end }}
  - { name: readiness, containerPort: 19001 }
readinessProbe:
  httpGet: { path: /ready, port: readiness }
  periodSeconds: 5
# The port opens when the configuration has arrived, or 15 seconds later.
livenessProbe:
  tcpSocket: { port: readiness }
  initialDelaySeconds: 60
  periodSeconds: 10
  failureThreshold: 6
{{- if $template.gracefulShutdown.enabled }}
lifecycle:
  preStop:
    exec:
      command:
        - bash
        - -c
        - {{ include "edge-gateway.drainEnvoy" (dict "sleepSeconds" $stop "drainSeconds" $template.drainSeconds) | toJson }}
{{- end }}
resources: {{ toYaml $template.resources | nindent 2 }}
securityContext: {{ include "edge-gateway.containerSecurity" .root | nindent 2 }}
volumeMounts:
  - { name: envoy, mountPath: /etc/envoy, readOnly: true }
  - { name: xds-tls, mountPath: /etc/edge-gateway/xds-tls, readOnly: true }
  - { name: tmp, mountPath: /tmp }
  {{- with $template.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/*
What an Envoy starts with, as `gatewayctl proxy bootstrap --data-plane envoy` prints it; and a port for readiness, because its admin port is
for the pod only. Arguments: root, proxy.
*/}}
{{- define "edge-gateway.envoyBootstrap" -}}
{{- $server := printf "gw.%s.svc" .root.Release.Namespace -}}
node:
  cluster: {{ .proxy.proxyName }}
  metadata: { role: {{ printf "%s~%s" .root.Release.Namespace .proxy.proxyName }} }
admin: { address: { socket_address: { address: 127.0.0.1, port_value: 19000 } } }
dynamic_resources:
  ads_config:
    api_type: DELTA_GRPC
    transport_api_version: V3
    set_node_on_first_message_only: true
    grpc_services: [{ envoy_grpc: { cluster_name: edge-gateway.xds } }]
  cds_config: { ads: {}, resource_api_version: V3 }
  lds_config: { ads: {}, resource_api_version: V3 }
cluster_manager:
  load_stats_config:
    api_type: GRPC
    transport_api_version: V3
    grpc_services: [{ envoy_grpc: { cluster_name: edge-gateway.xds } }]
static_resources:
  listeners:
    - name: readiness
      address: { socket_address: { address: {{ .root.Values.global.bindAddress | quote }}, port_value: 19001 } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: readiness
                http_filters:
                  - name: envoy.filters.http.health_check
                    typed_config:
                      '@type': type.googleapis.com/envoy.extensions.filters.http.health_check.v3.HealthCheck
                      pass_through_mode: false
                      headers: [{ name: ':path', string_match: { exact: /ready } }]
                  - name: envoy.filters.http.router
                    typed_config: { '@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
                route_config: { name: readiness }
  clusters:
    - name: edge-gateway.xds
      type: STRICT_DNS
      connect_timeout: 5s
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          '@type': type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          explicit_http_config: { http2_protocol_options: { connection_keepalive: { interval: 30s, timeout: 10s } } }
      load_assignment:
        cluster_name: edge-gateway.xds
        endpoints:
          - lb_endpoints: [{ endpoint: { address: { socket_address: { address: {{ $server }}, port_value: 9977 } } } }]
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
          sni: {{ $server }}
          common_tls_context:
            tls_certificates:
              - certificate_chain: { filename: /etc/edge-gateway/xds-tls/tls.crt }
                private_key: { filename: /etc/edge-gateway/xds-tls/tls.key }
            validation_context:
              trusted_ca: { filename: /etc/edge-gateway/xds-tls/ca.crt }
              match_typed_subject_alt_names: [{ san_type: DNS, matcher: { exact: {{ $server }} } }]
layered_runtime:
  layers: [{ name: static, static_layer: { re2: { max_program_size: { error_level: 1000000 } } } }]
{{- end -}}

{{/*
Drains an Envoy, which would otherwise end at once: readiness fails, and every response closes its connection. When load balancers have noticed,
requests in progress have some time to finish. The image has bash, but no HTTP client. Arguments: sleepSeconds, drainSeconds.
*/}}
{{- define "edge-gateway.drainEnvoy" -}}
admin() {
  exec 3<>/dev/tcp/127.0.0.1/19000 || return
  printf '%s HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n' "$1" >&3
  cat <&3
  exec 3>&-
}
is_active() {
  while read -r name value; do
    case $name in
      http.admin.* | http.readiness.*) ;;
      http.*.downstream_rq_active: | tcp.*.downstream_cx_active:) ((value > 0)) && return 0 ;;
    esac
  done < <(admin 'GET /stats?filter=downstream_.._active')
  return 1
}
admin 'POST /healthcheck/fail' >/dev/null
sleep {{ .sleepSeconds }}
end=$((SECONDS + {{ .drainSeconds }}))
while ((SECONDS < end)) && is_active; do sleep 1; done
{{- end -}}
