import { inEffect, type Listener, type SnapshotSettings } from '@edge-gateway/core';
import { accessLogs } from './access-log.ts';
import { httpFilters } from './http-filters.ts';
import { message, renamed, typed, type Message } from './json.ts';
import { routeConfigName } from './route-config.ts';

type Settings = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** Settings with the same name and meaning in Envoy. */
const FIELDS = [
  'useRemoteAddress',
  'xffNumTrustedHops',
  'skipXffAppend',
  'generateRequestId',
  'preserveExternalRequestId',
  'normalizePath',
  'mergeSlashes',
  'pathWithEscapedSlashesAction',
  'stripAnyHostPort',
  'maxRequestHeadersKb',
  'streamIdleTimeout',
  'requestTimeout',
  'requestHeadersTimeout',
  'drainTimeout',
  'delayedCloseTimeout',
  'serverName',
  'serverHeaderTransformation',
] as const;
/** The same, below `common_http_protocol_options`. */
const COMMON_FIELDS = [
  'idleTimeout',
  'maxConnectionDuration',
  'maxHeadersCount',
  'maxStreamDuration',
  'headersWithUnderscoresAction',
  'maxRequestsPerConnection',
] as const;

/** The HTTP side of a listener as the network filter `http_connection_manager`. */
export function httpManager(listener: Listener, shared: SnapshotSettings): Message {
  const settings = inEffect('HttpListenerOptions', listener.httpOptions).httpConnectionManagerSettings ?? {};
  const common = message(renamed(settings, COMMON_FIELDS));
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: typed(MANAGER, {
      codec_type: settings.codecType,
      stat_prefix: 'http',
      rds: { config_source: { ads: {}, resource_api_version: 'V3' }, route_config_name: routeConfigName(listener) },
      http_filters: httpFilters(listener, shared),
      access_log: accessLogs(inEffect('ListenerOptions', listener.options).accessLoggingService),
      ...renamed({ useRemoteAddress: true, normalizePath: true, ...settings }, FIELDS),
      common_http_protocol_options: Object.keys(common).length > 0 ? common : undefined,
      upgrade_configs: upgrades(settings),
    }),
  };
}

/** WebSocket is allowed by default, CONNECT only if it is enabled. */
function upgrades({ upgrades: list = [] }: Settings): Message[] {
  const websocket = list.find((upgrade) => upgrade.websocket)?.websocket;
  const connect = list.find((upgrade) => upgrade.connect)?.connect;
  const enabled = (upgrade: { readonly enabled?: boolean } | undefined): false | undefined =>
    upgrade?.enabled === false ? false : undefined;
  return [
    message({ upgrade_type: 'websocket', enabled: enabled(websocket) }),
    ...(connect ? [message({ upgrade_type: 'CONNECT', enabled: enabled(connect) })] : []),
  ];
}
