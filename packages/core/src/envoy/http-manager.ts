import type { Listener } from '../contract/snapshot.ts';
import { inEffect } from '../schema/in-effect.ts';
import { accessLogs } from './access-loggers.ts';
import { addition } from './headers.ts';
import { httpFilters } from './http-filters.ts';
import {
  headerKeyFormat,
  message,
  protoDuration,
  renamed,
  routeConfigName,
  typed,
  type EnvoyMessage,
} from './message.ts';
import type { TranslationContext } from './translation-context.ts';

type Settings = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const EARLY_HEADERS = 'envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation';

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
/** The same, only for Envoys. */
const SERVED_FIELDS = [
  'via',
  'forwardClientCertDetails',
  'setCurrentClientCertDetails',
  'appendXForwardedPort',
] as const;
/** The same, below `common_http_protocol_options`. */
const COMMON_FIELDS = [
  'idleTimeout',
  'maxConnectionDuration',
  'maxHeadersCount',
  'maxStreamDuration',
  'maxRequestsPerConnection',
] as const;

const HTTP2_FIELDS = [
  'maxConcurrentStreams',
  'initialStreamWindowSize',
  'initialConnectionWindowSize',
  'overrideStreamErrorOnInvalidHttpMessage',
] as const;

const UNDERSCORES = {
  ALLOW: 'ALLOW',
  REJECT_CLIENT_REQUEST: 'REJECT_REQUEST',
  DROP_HEADER: 'DROP_HEADER',
} as const;

/** The HTTP side of a listener as the network filter `http_connection_manager`. */
export function httpManager(listener: Listener, context: TranslationContext): EnvoyMessage {
  const settings = inEffect('HttpListenerOptions', listener.httpOptions).httpConnectionManagerSettings ?? {};
  const { headersWithUnderscoresAction: underscores } = settings;
  const common = message({
    ...renamed(settings, COMMON_FIELDS),
    headers_with_underscores_action: underscores && UNDERSCORES[underscores],
  });
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: typed(MANAGER, {
      codec_type: settings.codecType,
      stat_prefix: 'http',
      rds: { config_source: { ads: {}, resource_api_version: 'V3' }, route_config_name: routeConfigName(listener) },
      http_filters: httpFilters(listener, context),
      access_log: accessLogs(inEffect('ListenerOptions', listener.options).accessLoggingService, context),
      ...renamed({ useRemoteAddress: true, normalizePath: true, ...settings }, FIELDS),
      common_http_protocol_options: Object.keys(common).length > 0 ? common : undefined,
      upgrade_configs: upgrades(settings),
      ...(context.services && servedSettings(settings, context)),
    }),
  };
}

/** WebSocket is allowed by default, CONNECT only if it is enabled. */
function upgrades({ upgrades: list = [] }: Settings): EnvoyMessage[] {
  const websocket = list.find((upgrade) => upgrade.websocket)?.websocket;
  const connect = list.find((upgrade) => upgrade.connect)?.connect;
  const enabled = (upgrade: { readonly enabled?: boolean } | undefined): false | undefined =>
    upgrade?.enabled === false ? false : undefined;
  return [
    message({ upgrade_type: 'websocket', enabled: enabled(websocket) }),
    ...(connect ? [message({ upgrade_type: 'CONNECT', enabled: enabled(connect) })] : []),
  ];
}

/** Returns what only Envoys need. */
function servedSettings(settings: Settings, context: TranslationContext): EnvoyMessage {
  const { internalAddressConfig: internal, http2ProtocolOptions: http2, earlyHeaderManipulation: early } = settings;
  const http1 = http1Options(settings);
  return {
    ...renamed(settings, SERVED_FIELDS),
    proxy_100_continue: settings.proxy100Continue,
    // The gateway rejects incomplete heads, too.
    request_headers_timeout: protoDuration(settings.requestHeadersTimeout ?? '10s'),
    internal_address_config: internal
      ? message({
          unix_sockets: internal.unixSockets,
          cidr_ranges: internal.cidrRanges?.map(({ addressPrefix, prefixLen }) => ({
            address_prefix: addressPrefix,
            prefix_len: prefixLen,
          })),
        })
      : // Otherwise all private addresses are internal.
        { cidr_ranges: [NO_ADDRESS] },
    http_protocol_options: Object.keys(http1).length > 0 ? http1 : undefined,
    // Clients may open WebSockets over HTTP/2 (RFC 8441); routes decide about upgrades.
    http2_protocol_options: { allow_connect: true, ...(http2 && message(renamed(http2, HTTP2_FIELDS))) },
    early_header_mutation_extensions: early && [
      {
        name: 'envoy.http.early_header_mutation.header_mutation',
        typed_config: typed(EARLY_HEADERS, {
          mutations: [
            ...(early.headersToAdd ?? []).map(({ header, append }) => ({ append: addition(header, append, context) })),
            ...(early.headersToRemove ?? []).map((remove) => ({ remove })),
          ],
        }),
      },
    ],
  };
}

/** An address that no client has (RFC 6666). */
const NO_ADDRESS = { address_prefix: '100::', prefix_len: 128 };

function http1Options(settings: Settings): EnvoyMessage {
  return message({
    accept_http_10: settings.acceptHttp10 || undefined,
    default_host_for_http_10: settings.defaultHostForHttp10,
    enable_trailers: settings.enableTrailers || undefined,
    header_key_format: headerKeyFormat(settings),
  });
}
