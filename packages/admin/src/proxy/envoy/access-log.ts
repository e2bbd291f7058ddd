import type { Listener } from '@edge-gateway/core';
import { message, typed, type Message } from './json.ts';

type Service = Listener['options']['accessLoggingService'];
type AccessLog = NonNullable<NonNullable<Service>['accessLog']>[number];
type Filter = NonNullable<AccessLog['filter']>;
type Comparison = NonNullable<NonNullable<Filter['statusCodeFilter']>['comparison']>;

const FILE_LOG = 'envoy.extensions.access_loggers.file.v3.FileAccessLog';

/** The access logs that are written: those to a file. */
export function accessLogs(service: Service): Message[] {
  return (service?.accessLog ?? []).flatMap(({ fileSink, filter }) => {
    if (!fileSink) return [];
    const { path, stringFormat, jsonFormat } = fileSink;
    const text = stringFormat ? { text_format_source: { inline_string: stringFormat } } : undefined;
    const format = jsonFormat ? { json_format: jsonFormat } : text;
    const config = typed(FILE_LOG, { path, log_format: format });
    return [
      message({ name: 'envoy.access_loggers.file', filter: filter && accessLogFilter(filter), typed_config: config }),
    ];
  });
}

function accessLogFilter(filter: Filter): Message {
  const { headerFilter, andFilter, orFilter } = filter;
  return message({
    status_code_filter: filter.statusCodeFilter && comparison(filter.statusCodeFilter.comparison),
    duration_filter: filter.durationFilter && comparison(filter.durationFilter.comparison),
    not_health_check_filter: filter.notHealthCheckFilter,
    response_flag_filter: filter.responseFlagFilter && { flags: filter.responseFlagFilter.flags ?? [] },
    header_filter: headerFilter && { header: message({ name: headerFilter.header?.name }) },
    and_filter: andFilter && { filters: (andFilter.filters ?? []).map(accessLogFilter) },
    or_filter: orFilter && { filters: (orFilter.filters ?? []).map(accessLogFilter) },
  });
}

function comparison({ op = 'EQ', value }: Comparison = {}): Message {
  const { defaultValue, runtimeKey } = value ?? {};
  return { comparison: { op, value: message({ default_value: defaultValue ?? 0, runtime_key: runtimeKey }) } };
}
