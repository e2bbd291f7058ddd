import type { Context, LineSink, Listener } from '@edge-gateway/core';
import { compileFormat, fill } from '../format/format.ts';
import type { RequestRecord } from '../format/record.ts';
import { DEFAULT_TEXT, defaultLineFor, type Terminal } from './default-line.ts';
import { compileFilter, type LogFilter } from './filter.ts';
import { compileJsonFormat } from './json-format.ts';
import type { Sinks } from './sinks.ts';

type FileSink = NonNullable<
  NonNullable<NonNullable<Listener['options']['accessLoggingService']>['accessLog']>[number]['fileSink']
>;

export interface AccessLog {
  /** Writes the line of a finished request, if the filter matches. Never throws and never waits. */
  write(record: RequestRecord): void;
}

export interface AccessLogEnvironment {
  readonly context: Context;
  readonly sinks: Sinks;
  readonly defaultLogs: readonly AccessLog[];
}

/** The log of a gateway that configures none: a line per request, readable text on a `terminal`, otherwise JSON. */
export function createDefaultLog(sink: LineSink, terminal: Terminal = {}): AccessLog {
  const line = defaultLineFor(terminal);
  return { write: (record) => sink.write(line(record)) };
}

/** The logs that a listener's options name; an empty list turns logging off. A log with an invalid format writes the default line, and logs a warning once. */
export function createAccessLogs(
  options: Listener['options'],
  { context, sinks, defaultLogs }: AccessLogEnvironment,
): readonly AccessLog[] {
  const written = options.accessLoggingService?.accessLog;
  if (written === undefined) return defaultLogs;
  const logs = written.flatMap(({ fileSink, filter }): AccessLog[] => {
    if (!fileSink) return [];
    const line = lineOf(fileSink, context);
    const sink = sinks.get(fileSink.path || '/dev/stdout');
    const isLogged = filter && filterOf(filter, context);
    return [
      {
        write(record) {
          if (!isLogged || isLogged(record)) sink.write(line(record));
        },
      },
    ];
  });
  return logs.length === 0 && written.length > 0 ? defaultLogs : logs;
}

type Line = (record: RequestRecord) => string;

function lineOf(sink: FileSink, context: Context): Line {
  try {
    if (sink.jsonFormat) return compileJsonFormat(sink.jsonFormat);
    const format = sink.stringFormat ? compileFormat(sink.stringFormat, 'log') : DEFAULT_TEXT;
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
