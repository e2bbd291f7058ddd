import type { Listener } from '../contract/snapshot.ts';
import { isSecretHeader, REDACTED_IN_LOG } from '../security/request-secrets.ts';
import { formatOperatorAt, type FormatOperator } from '../syntax/format-operator.ts';
import { headerMatcher } from './match.ts';
import { message, typed, type EnvoyMessage } from './message.ts';
import type { MessageContext } from './translation-context.ts';

type Service = Listener['options']['accessLoggingService'];
type AccessLog = NonNullable<NonNullable<Service>['accessLog']>[number];
type Filter = NonNullable<AccessLog['filter']>;
type Comparison = NonNullable<NonNullable<Filter['statusCodeFilter']>['comparison']>;
type Target = Pick<MessageContext, 'services'>;

const FILE_LOG = 'envoy.extensions.access_loggers.file.v3.FileAccessLog';

/** The access logs that are written: those to a file. Without any, an Envoy logs each request to standard output, as the gateway does. */
export function accessLogs(service: Service, context: Target): EnvoyMessage[] {
  if (context.services && service?.accessLog === undefined) return [sink(undefined, DEFAULT_FORMAT, context)];
  return (service?.accessLog ?? []).flatMap(({ fileSink, filter }) => {
    if (!fileSink) return [];
    const { path, stringFormat, jsonFormat } = fileSink;
    const shown = context.services ? withoutSecrets : (format: string) => format;
    const text = stringFormat ? { text_format_source: { inline_string: shown(stringFormat) } } : undefined;
    const format = jsonFormat ? { json_format: mapTexts(jsonFormat, shown) } : text;
    const filtered = filter && accessLogFilter(filter, context);
    return [message({ ...sink(path, format, context), filter: filtered })];
  });
}

/** Operators whose argument is the name of a header, and of another one if that is missing. */
const HEADER_OPERATORS: ReadonlySet<string> = new Set(['REQ', 'RESP', 'TRAILER']);

/**
 * Returns a format without secrets: the gateway redacts credentials, and tokens in queries. An Envoy cannot look into values, so that it logs
 * addresses without their query, or not at all.
 */
function withoutSecrets(format: string): string {
  let shown = '';
  let end = 0;
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', end)) {
    const operator = formatOperatorAt(format, at);
    // Otherwise it is `%%`.
    const written = operator?.written ?? format.slice(at, at + 2);
    shown += format.slice(end, at) + (operator ? operatorWithoutSecrets(operator) : written);
    end = at + written.length;
  }
  return shown + format.slice(end);
}

function operatorWithoutSecrets({ written, name, argument, maxLength }: FormatOperator): string {
  if (!HEADER_OPERATORS.has(name) || argument === undefined) return written;
  const headers = argument.toLowerCase().split('?');
  const path = headers.every((header) => PATHS.has(header)) && PATHS.get(headers.join('?'));
  if (path) return `%PATH(NQ:${path})${maxLength === undefined ? '' : `:${maxLength}`}%`;
  const isSecret = headers.some((header) => isSecretHeader(header) || ADDRESSES.has(header) || PATHS.has(header));
  return isSecret ? REDACTED_IN_LOG : written;
}

/** The path of a request, by what formats call it. */
const PATHS: ReadonlyMap<string, string> = new Map([
  [':path', 'PATH'],
  ['x-envoy-original-path', 'ORIG'],
  ['x-envoy-original-path?:path', 'ORIG_OR_PATH'],
]);
/** Other headers whose query may contain tokens. */
const ADDRESSES: ReadonlySet<string> = new Set(['referer', 'location']);

/** Returns a value with other texts. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, map)]));
}

const STREAMS: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/dev/stdout': ['envoy.access_loggers.stdout', 'envoy.extensions.access_loggers.stream.v3.StdoutAccessLog'],
  '/dev/stderr': ['envoy.access_loggers.stderr', 'envoy.extensions.access_loggers.stream.v3.StderrAccessLog'],
};

/** Returns where lines are written. An Envoy cannot open its standard output as a file if that is a socket. */
function sink(path: string | undefined, log_format: EnvoyMessage | undefined, { services }: Target): EnvoyMessage {
  const stream = services && STREAMS[path || '/dev/stdout'];
  if (stream) return { name: stream[0], typed_config: typed(stream[1], { log_format }) };
  return { name: 'envoy.access_loggers.file', typed_config: typed(FILE_LOG, { path, log_format }) };
}

const DEFAULT_FORMAT: EnvoyMessage = {
  json_format: {
    time: '%START_TIME%',
    requestId: '%REQ(X-REQUEST-ID)%',
    method: '%REQ(:METHOD)%',
    host: '%REQ(:AUTHORITY)%',
    path: '%PATH(NQ)%',
    status: '%RESPONSE_CODE%',
    flags: '%RESPONSE_FLAGS%',
    durationMs: '%DURATION%',
    client: '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%',
    route: '%ROUTE_NAME%',
    upstream: '%UPSTREAM_CLUSTER%',
  },
};

function accessLogFilter(filter: Filter, context: Target): EnvoyMessage {
  const { headerFilter, andFilter, orFilter } = filter;
  const header = context.services
    ? headerFilter?.header && headerMatcher(headerFilter.header, context)
    : message({ name: headerFilter?.header?.name });
  return message({
    status_code_filter: filter.statusCodeFilter && comparison(filter.statusCodeFilter.comparison),
    duration_filter: filter.durationFilter && comparison(filter.durationFilter.comparison),
    not_health_check_filter: filter.notHealthCheckFilter,
    response_flag_filter: filter.responseFlagFilter && { flags: filter.responseFlagFilter.flags ?? [] },
    header_filter: headerFilter && { header },
    and_filter: andFilter && { filters: (andFilter.filters ?? []).map((each) => accessLogFilter(each, context)) },
    or_filter: orFilter && { filters: (orFilter.filters ?? []).map((each) => accessLogFilter(each, context)) },
  });
}

function comparison({ op = 'EQ', value }: Comparison = {}): EnvoyMessage {
  const { defaultValue, runtimeKey } = value ?? {};
  return {
    comparison: { op, value: message({ default_value: defaultValue ?? 0, runtime_key: runtimeKey || undefined }) },
  };
}
