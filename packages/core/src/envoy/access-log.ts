import type { Listener } from '../contract/snapshot.ts';
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
  if (context.services && service?.accessLog === undefined) return [DEFAULT_LOG];
  return (service?.accessLog ?? []).flatMap(({ fileSink, filter }) => {
    if (!fileSink) return [];
    const { path, stringFormat, jsonFormat } = fileSink;
    const text = stringFormat ? { text_format_source: { inline_string: stringFormat } } : undefined;
    const format = jsonFormat ? { json_format: jsonFormat } : text;
    const config = typed(FILE_LOG, { path: context.services ? path || STDOUT : path, log_format: format });
    return [
      message({
        name: 'envoy.access_loggers.file',
        filter: filter && accessLogFilter(filter, context),
        typed_config: config,
      }),
    ];
  });
}

const STDOUT = '/dev/stdout';

const DEFAULT_LOG: EnvoyMessage = {
  name: 'envoy.access_loggers.file',
  typed_config: typed(FILE_LOG, {
    path: STDOUT,
    log_format: {
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
    },
  }),
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
