import type { HrTime } from '@opentelemetry/api';

type Transformer = typeof import('@opentelemetry/otlp-transformer');

/** The OTLP writers of OpenTelemetry. */
export interface Otlp {
  readonly traces: Transformer['ProtobufTraceSerializer'];
  readonly logs: Transformer['ProtobufLogsSerializer'];
  readonly resourceOf: typeof import('@opentelemetry/resources').resourceFromAttributes;
}

/** Loads the writers. A collector does so when it is created: later it would delay the requests that are served meanwhile. */
export async function loadOtlp(): Promise<Otlp> {
  const [{ ProtobufTraceSerializer: traces, ProtobufLogsSerializer: logs }, { resourceFromAttributes: resourceOf }] =
    await Promise.all([import('@opentelemetry/otlp-transformer'), import('@opentelemetry/resources')]);
  return { traces, logs, resourceOf };
}

/** Name and version of the writer of spans and log entries. */
export const OTLP_SCOPE = { name: '@edge-gateway/routing' };

/** Converts milliseconds since the epoch, with fractions, to seconds and nanoseconds. */
export function hrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1_000);
  return [seconds, Math.round((milliseconds - seconds * 1_000) * 1_000_000)];
}
