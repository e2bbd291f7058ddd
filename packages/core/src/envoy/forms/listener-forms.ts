import type { AccessLoggingService } from '../../schema/listener/access-log.ts';
import type {
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
} from '../../schema/listener/gateway-options.ts';
import type { HttpConnectionManagerSettings } from '../../schema/listener/http-connection-manager.ts';
import type { SslConfig } from '../../schema/listener/ssl-config.ts';
import { envoyFormatProblem } from '../format.ts';
import type { Condition, Forms } from './form.ts';
import { TLS_PARAMETERS } from './tls-forms.ts';

const ACCESS_LOGS: Condition<AccessLoggingService> = {
  when: 'to files, with operators that Envoy has, too, but without `%ENVIRONMENT(X)%`, and the filters by status, duration, header and response flag',
  holds: ({ accessLog = [] }) =>
    accessLog.every(
      ({ fileSink, filter }) => fileSink && hasAcceptedFormat(fileSink) && (!filter || isExpressed(filter)),
    ),
};

type FileSink = NonNullable<NonNullable<AccessLoggingService['accessLog']>[number]['fileSink']>;

function hasAcceptedFormat({ stringFormat = '', jsonFormat }: FileSink): boolean {
  // The gateway logs only the variables of `--template-env`, an Envoy all of its own.
  return [stringFormat, ...textsIn(jsonFormat)].every(
    (text) => envoyFormatProblem(text) === undefined && !text.includes('%ENVIRONMENT('),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

type Filter = NonNullable<NonNullable<AccessLoggingService['accessLog']>[number]['filter']>;

function isExpressed({ traceableFilter, runtimeFilter, grpcStatusFilter, headerFilter, ...filter }: Filter): boolean {
  if (traceableFilter || runtimeFilter || grpcStatusFilter) return false;
  const { value, regex: _regex, ...header } = headerFilter?.header ?? {};
  if (headerFilter && value === undefined && header.invertMatch) return false;
  const inner = [...(filter.andFilter?.filters ?? []), ...(filter.orFilter?.filters ?? [])];
  return inner.every((each) => isExpressed(each as Filter));
}

/** What Envoy expresses of the options of a listener. */
export const LISTENER_FORMS: Forms<ListenerOptions> = {
  accessLoggingService: ACCESS_LOGS,
  listenerAccessLoggingService: 'no',
  extensions: 'no',
  perConnectionBufferLimitBytes: 'yes',
  socketOptions: 'yes',
  proxyProtocol: 'yes',
  connectionBalanceConfig: 'no',
  tcpStats: 'no',
};

const MANAGER_FORMS: Forms<HttpConnectionManagerSettings> = {
  skipXffAppend: 'yes',
  via: 'yes',
  xffNumTrustedHops: 'yes',
  useRemoteAddress: 'yes',
  internalAddressConfig: 'yes',
  generateRequestId: 'yes',
  preserveExternalRequestId: 'yes',
  uuidRequestIdConfig: 'no',
  proxy100Continue: 'yes',
  streamIdleTimeout: 'yes',
  idleTimeout: 'yes',
  maxRequestHeadersKb: 'yes',
  maxHeadersCount: 'yes',
  requestTimeout: 'yes',
  requestHeadersTimeout: 'yes',
  drainTimeout: 'yes',
  delayedCloseTimeout: 'yes',
  serverName: 'yes',
  serverHeaderTransformation: 'yes',
  acceptHttp10: 'yes',
  defaultHostForHttp10: 'yes',
  allowChunkedLength: 'no',
  enableTrailers: 'yes',
  properCaseHeaderKeyFormat: 'yes',
  preserveCaseHeaderKeyFormat: 'yes',
  stripAnyHostPort: 'yes',
  allowAmbiguousRequests: 'yes',
  tracing: 'no',
  upgrades: 'yes',
  forwardClientCertDetails: 'yes',
  setCurrentClientCertDetails: 'yes',
  maxConnectionDuration: 'yes',
  maxStreamDuration: 'yes',
  maxRequestsPerConnection: 'yes',
  headersWithUnderscoresAction: 'yes',
  pathWithEscapedSlashesAction: 'yes',
  codecType: 'yes',
  mergeSlashes: 'yes',
  normalizePath: {
    when: 'unless false, which rejects dot segments',
    holds: (normalizes) => normalizes,
  },
  http2ProtocolOptions: 'yes',
  appendXForwardedPort: 'yes',
  earlyHeaderManipulation: 'yes',
};

/** What Envoy expresses of the HTTP options of a listener. */
export const HTTP_LISTENER_FORMS: Forms<HttpListenerOptions> = {
  httpConnectionManagerSettings: MANAGER_FORMS,
  healthCheck: 'no',
  grpcWeb: 'yes',
  gzip: 'no',
  buffer: 'yes',
  csrf: 'yes',
  // Routes that use it are handed over.
  dynamicForwardProxy: 'yes',
  connectionLimit: 'no',
  networkLocalRatelimit: 'no',
  httpLocalRatelimit: 'yes',
  router: 'yes',
  headerValidationSettings: 'no',
  grpcJsonTranscoder: 'no',
  extauth: 'yes',
  ratelimitServer: 'yes',
  waf: 'no',
  dlp: 'no',
  caching: 'no',
  wasm: 'no',
  proxyLatency: 'no',
  sanitizeClusterHeader: 'yes',
  leftmostXffAddress: 'no',
  disableExtProc: 'yes',
  disableExtProcEarly: 'yes',
  disableExtProcLate: 'yes',
  extProc: 'no',
  extProcEarly: 'no',
  extProcLate: 'no',
  tap: 'no',
  statefulSession: 'no',
};

/** What Envoy expresses of the options of all routes of a listener. */
export const ROUTE_CONFIG_FORMS: Forms<RouteConfigOptions> = {
  maxDirectResponseBodySizeBytes: 'yes',
  ignorePortInHostMatching: 'yes',
  mostSpecificHeaderMutationsWins: 'yes',
};

/** What Envoy expresses of TLS to clients. */
export const TLS_FORMS: Forms<SslConfig> = {
  secretRef: 'yes',
  sslFiles: 'yes',
  sds: 'yes',
  sniDomains: 'yes',
  verifySubjectAltName: 'yes',
  parameters: TLS_PARAMETERS,
  alpnProtocols: 'yes',
  oneWayTls: 'yes',
  disableTlsSessionResumption: 'yes',
  transportSocketConnectTimeout: 'yes',
  ocspStaplePolicy: {
    when: 'only LENIENT_STAPLING',
    holds: (policy) => policy === 'LENIENT_STAPLING',
  },
};
