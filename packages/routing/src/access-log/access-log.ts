import type { Context, LineSink, Listener } from '@edge-gateway/core';
import type { AccessLog as AccessLogSpec, AccessLoggingService } from '@edge-gateway/core/schema';
import type { Collector, Collectors } from '../collect/collectors.ts';
import { compileFormat, fill } from '../format/format.ts';
import type { RequestRecord } from '../format/record.ts';
import { alsLog, type EntryCollector, type LogScope } from './als/als-log.ts';
import { DEFAULT_TEXT, defaultLineFor, type Terminal } from './default-line.ts';
import { compileFilter, type LogFilter } from './filter.ts';
import { compileJsonFormat } from './json-format.ts';
import { otlpLog } from './otlp/otlp-log.ts';
import type { Sinks } from './sinks.ts';

type FileSink = NonNullable<AccessLogSpec['fileSink']>;

export interface AccessLog {
  /** Writes the line of a finished request, if the filter matches. Never throws and never waits. */
  write(record: RequestRecord): void;
  /** The collector that receives its entries. */
  readonly collector?: Collector;
}

export interface AccessLogEnvironment {
  readonly context: Context;
  readonly sinks: Sinks;
  readonly collectors: Collectors;
  readonly defaultLogs: readonly AccessLog[];
}

/** The log of a gateway that configures none: a line per request, readable text on a `terminal`, otherwise JSON. */
export function createDefaultLog(sink: LineSink, terminal: Terminal = {}): AccessLog {
  const line = defaultLineFor(terminal);
  return { write: (record) => sink.write(line(record)) };
}

/**
 * The logs that a listener's options name; an empty list turns logging off. A log with an invalid format writes the default line,
 * one with an invalid collector nothing; both log a warning once.
 */
export function createAccessLogs(
  { options, gateway }: Pick<Listener, 'options' | 'gateway'>,
  environment: AccessLogEnvironment,
): readonly AccessLog[] {
  return compileLogs(options.accessLoggingService, { ...environment, gateway, scope: 'request' });
}

/** The logs of the connections of a listener; `undefined` if there are none. */
export function createConnectionLogs(
  { options, gateway }: Pick<Listener, 'options' | 'gateway'>,
  environment: AccessLogEnvironment,
): readonly AccessLog[] | undefined {
  const parts: LogParts = { ...environment, defaultLogs: [], gateway, scope: 'connection' };
  const logs = compileLogs(options.listenerAccessLoggingService, parts);
  return logs.length === 0 ? undefined : logs;
}

interface LogParts extends AccessLogEnvironment {
  readonly gateway: Listener['gateway'];
  readonly scope: LogScope;
}

function compileLogs(service: AccessLoggingService | undefined, parts: LogParts): readonly AccessLog[] {
  const written = service?.accessLog;
  if (written === undefined) return parts.defaultLogs;
  const logs = written.flatMap((each): AccessLog[] => {
    const log = logOf(each, parts);
    if (!log) return [];
    const isLogged = each.filter && filterOf(each.filter, parts.context);
    if (!isLogged) return [log];
    return [
      {
        ...log,
        write(record) {
          if (isLogged(record)) log.write(record);
        },
      },
    ];
  });
  return logs.length === 0 && written.length > 0 ? parts.defaultLogs : logs;
}

function logOf({ fileSink, grpcService, openTelemetryService }: AccessLogSpec, parts: LogParts): AccessLog | undefined {
  if (fileSink) return fileLog(fileSink, parts);
  try {
    if (grpcService) return entryLog(alsLog(grpcService, parts.scope, parts));
    if (openTelemetryService) return entryLog(otlpLog(openTelemetryService, parts));
  } catch (error) {
    warn(parts.context, error);
  }
  return undefined;
}

const entryLog = (collector: EntryCollector): AccessLog => ({
  write: (record) => collector.add(record),
  collector,
});

function fileLog(fileSink: FileSink, { context, sinks }: LogParts): AccessLog {
  const line = lineOf(fileSink, context);
  const sink = sinks.get(fileSink.path || '/dev/stdout');
  return { write: (record) => sink.write(line(record)) };
}

type Line = (record: RequestRecord) => string;

function lineOf(sink: FileSink, context: Context): Line {
  try {
    if (sink.jsonFormat) return compileJsonFormat(sink.jsonFormat, context.env);
    const format = sink.stringFormat ? compileFormat(sink.stringFormat, 'log', context.env) : DEFAULT_TEXT;
    return (record) => fill(format, record, '-');
  } catch (error) {
    warn(context, error);
    return (record) => fill(DEFAULT_TEXT, record, '-');
  }
}

function filterOf(filter: Parameters<typeof compileFilter>[0], context: Context): LogFilter | undefined {
  try {
    return compileFilter(filter);
  } catch (error) {
    warn(context, error);
    return undefined;
  }
}

function warn(context: Context, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  context.log.get('config').warn({ reason }, 'invalid access log configuration');
}
