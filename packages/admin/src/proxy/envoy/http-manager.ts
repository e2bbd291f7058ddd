import { inEffect, type Listener, type SnapshotSettings } from '@edge-gateway/core';
import { accessLogs } from './access-log.ts';
import { httpFilters } from './http-filters.ts';
import { message, protoDuration, typed, type Message } from './json.ts';
import { routeConfigName } from './route-config.ts';

type Settings = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** The HTTP side of a listener as the network filter `http_connection_manager`. */
export function httpManager(listener: Listener, shared: SnapshotSettings): Message {
  const settings = inEffect('HttpListenerOptions', listener.httpOptions).httpConnectionManagerSettings ?? {};
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: typed(MANAGER, {
      codec_type: settings.codecType,
      stat_prefix: 'http',
      rds: { config_source: { ads: {}, resource_api_version: 'V3' }, route_config_name: routeConfigName(listener) },
      http_filters: httpFilters(listener, shared),
      access_log: accessLogs(inEffect('ListenerOptions', listener.options).accessLoggingService),
      ...addresses(settings),
      ...paths(settings),
      ...limits(settings),
      upgrade_configs: upgrades(settings),
      server_name: settings.serverName,
      server_header_transformation: settings.serverHeaderTransformation,
    }),
  };
}

function addresses(settings: Settings): Message {
  return {
    use_remote_address: settings.useRemoteAddress ?? true,
    xff_num_trusted_hops: settings.xffNumTrustedHops,
    skip_xff_append: settings.skipXffAppend,
    generate_request_id: settings.generateRequestId,
    preserve_external_request_id: settings.preserveExternalRequestId,
  };
}

function paths(settings: Settings): Message {
  return {
    normalize_path: settings.normalizePath ?? true,
    merge_slashes: settings.mergeSlashes,
    path_with_escaped_slashes_action: settings.pathWithEscapedSlashesAction,
    strip_any_host_port: settings.stripAnyHostPort,
  };
}

function limits(settings: Settings): Message {
  const common = message({
    idle_timeout: protoDuration(settings.idleTimeout),
    max_connection_duration: protoDuration(settings.maxConnectionDuration),
    max_headers_count: settings.maxHeadersCount,
    max_stream_duration: protoDuration(settings.maxStreamDuration),
    headers_with_underscores_action: settings.headersWithUnderscoresAction,
    max_requests_per_connection: settings.maxRequestsPerConnection,
  });
  return {
    common_http_protocol_options: Object.keys(common).length > 0 ? common : undefined,
    max_request_headers_kb: settings.maxRequestHeadersKb,
    stream_idle_timeout: protoDuration(settings.streamIdleTimeout),
    request_timeout: protoDuration(settings.requestTimeout),
    request_headers_timeout: protoDuration(settings.requestHeadersTimeout),
    drain_timeout: protoDuration(settings.drainTimeout),
    delayed_close_timeout: protoDuration(settings.delayedCloseTimeout),
  };
}

/** WebSocket is allowed unless it is switched off. */
function upgrades({ upgrades: list = [] }: Settings): Message[] {
  const websocket = list.find((upgrade) => upgrade.websocket)?.websocket;
  return [message({ upgrade_type: 'websocket', enabled: websocket?.enabled === false ? false : undefined })];
}
