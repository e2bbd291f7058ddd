import { SpanKind, SpanStatusCode, TraceFlags, type SpanContext } from '@opentelemetry/api';
import { hrTime, loadOtlp, OTLP_SCOPE, type Otlp } from '../../collect/otlp.ts';
import type { GrpcChannel } from '../../grpc/grpc-channel.ts';
import type { Span } from '../span.ts';
import { CALL_TIMEOUT_MS, type SpanSender } from './span-collector.ts';

type ReadableSpan = Parameters<Otlp['traces']['serializeRequest']>[0][number];

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Sends spans to an OpenTelemetry collector over gRPC. */
export function otlpSender(channel: GrpcChannel, serviceName: string): SpanSender {
  let resource: ReadableSpan['resource'] | undefined;
  // The first batch reports an error.
  loadOtlp().catch(() => {});
  return {
    async send(spans) {
      const otlp = await loadOtlp();
      const own = (resource ??= otlp.resourceOf({ 'service.name': serviceName }));
      const bytes = otlp.traces.serializeRequest(spans.map((span) => readable(span, own)));
      await channel.unary(EXPORT, Buffer.from(bytes ?? []), { timeoutMs: CALL_TIMEOUT_MS });
    },
    close: channel.close,
  };
}

function readable(span: Span, resource: ReadableSpan['resource']): ReadableSpan {
  const { traceId, parentId, startedAt, durationMs, state } = span;
  const contextOf = (spanId: string): SpanContext => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => ({ ...contextOf(span.spanId), ...(state && { traceState: traceState(state) }) }),
    ...(parentId !== undefined && { parentSpanContext: { ...contextOf(parentId), isRemote: span.hasRemoteParent } }),
    startTime: hrTime(startedAt),
    endTime: hrTime(startedAt + durationMs),
    duration: hrTime(durationMs),
    status: { code: span.failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: Object.fromEntries(span.tags),
    events: span.events.map(({ name, at }) => ({ name, time: hrTime(at) })),
    links: [],
    ended: true,
    resource,
    instrumentationScope: OTLP_SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** The state is passed on as received. */
function traceState(written: string): NonNullable<SpanContext['traceState']> {
  const state = {
    serialize: () => written,
    get: () => undefined,
    set: () => state,
    unset: () => state,
  };
  return state;
}
