import { hostname } from 'node:os';
import { TraceFlags } from '@opentelemetry/api';
import { parseDuration, type Context, type Listener } from '@edge-gateway/core';
import type { AccessLog as AccessLogSpec } from '@edge-gateway/core/schema';
import type { CollectorParts, Collectors } from '../../collect/collectors.ts';
import { hrTime, loadOtlp, OTLP_SCOPE, type Otlp } from '../../collect/otlp.ts';
import type { RecordedTrace, RequestRecord } from '../../format/record.ts';
import type { EntryCollector } from '../als/als-log.ts';
import { createLogBatches } from '../log-collector.ts';
import { otlpConnection } from './otlp-connection.ts';
import { compileFields, compileValue, type OtlpValue } from './otlp-values.ts';

type OpenTelemetryService = NonNullable<AccessLogSpec['openTelemetryService']>;
type LogRecord = Parameters<Otlp['logs']['serializeRequest']>[0][number];

/** An entry until it is sent. */
interface Entry {
  readonly at: number;
  readonly body: OtlpValue | undefined;
  readonly attributes: { [key: string]: OtlpValue };
  readonly trace: RecordedTrace | undefined;
}

/** Where a log belongs to. */
interface LogTarget {
  readonly gateway: Listener['gateway'];
  readonly collectors: Collectors;
  readonly context: Context;
}

const DEFAULT_TIMEOUT_MS = 5_000;

/** Creates the log that sends entries to an OpenTelemetry collector, over gRPC or HTTP. Throws for an invalid format or endpoint. */
export function otlpLog(written: OpenTelemetryService, { gateway, collectors, context }: LogTarget): EntryCollector {
  const bodyOf = written.body === undefined ? () => undefined : compileValue(written.body, context.env);
  const attributesOf = compileFields(written.attributes, context.env);
  const { collector = {}, disableBuiltinLabels, logName = '' } = written;
  const timeoutMs = (collector.timeout && parseDuration(collector.timeout)) || DEFAULT_TIMEOUT_MS;
  const labels = disableBuiltinLabels
    ? {}
    : { log_name: logName, cluster_name: gateway.name, node_name: hostname(), zone_name: '' };
  const endpoint = collector.endpoint ?? '';
  return collectors.get(`otlp log ${JSON.stringify([gateway, written])}`, (parts: CollectorParts) => {
    // The first batch reports an error.
    loadOtlp().catch(() => {});
    const connection = otlpConnection(collector, { gateway, context: parts.context });
    const batches = createLogBatches<Entry>(parts, endpoint, async (entries) => {
      const otlp = await loadOtlp();
      const resource = otlp.resourceOf(labels);
      const bytes = otlp.logs.serializeRequest(entries.map((entry) => logRecord(entry, resource)));
      await connection.send(Buffer.from(bytes ?? []), timeoutMs);
    });
    return {
      add: (record: RequestRecord) =>
        batches.add({
          at: record.startedAt,
          body: bodyOf(record),
          attributes: attributesOf(record),
          trace: record.trace && recordedTrace(record.trace),
        }),
      async close(limitMs: number) {
        await batches.flush(limitMs);
        connection.close();
      },
    };
  });
}

/** The record itself belongs to its request. */
const recordedTrace = ({ traceId, spanId, sampled }: RecordedTrace): RecordedTrace => ({ traceId, spanId, sampled });

function logRecord({ at, body, attributes, trace }: Entry, resource: LogRecord['resource']): LogRecord {
  return {
    hrTime: hrTime(at),
    hrTimeObserved: hrTime(at),
    ...(body !== undefined && { body }),
    attributes,
    ...(trace && {
      spanContext: {
        traceId: trace.traceId,
        spanId: trace.spanId,
        traceFlags: trace.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      },
    }),
    resource,
    instrumentationScope: OTLP_SCOPE,
    droppedAttributesCount: 0,
  };
}
