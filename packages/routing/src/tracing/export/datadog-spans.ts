import type { CollectorPost } from '../../collect/collector-post.ts';
import type { Span } from '../span.ts';
import { CALL_TIMEOUT_MS, type SpanSender } from './span-collector.ts';

const PATH = '/v0.4/traces';
const KEEP = 1;
const NANOS_PER_MS = 1_000_000n;

export interface DatadogParts {
  readonly serviceName: string;
  /** `Host` of the calls. */
  readonly host: string;
  readonly post: (call: CollectorPost) => Promise<void>;
}

/** Sends spans to a Datadog agent: the API v0.4, as MessagePack. */
export function datadogSender({ serviceName, host, post }: DatadogParts): SpanSender {
  return {
    async send(spans) {
      const { encode } = await import('@msgpack/msgpack');
      const traces = tracesOf(spans);
      const chunks = traces.map((trace) => trace.map((span) => written(span, serviceName)));
      const headers = ['host', host, 'content-type', 'application/msgpack', 'datadog-meta-lang', 'nodejs'];
      headers.push('x-datadog-trace-count', String(traces.length));
      const body = encode(chunks, { useBigInt64: true });
      await post({ path: PATH, headers, body, timeoutMs: CALL_TIMEOUT_MS });
    },
  };
}

/** Groups spans by trace. */
function tracesOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  return [...Map.groupBy(spans, ({ traceId }) => traceId).values()];
}

const idOf = (hex: string): bigint => BigInt(`0x${hex}`);
const nanos = (milliseconds: number): bigint => {
  const whole = Math.floor(milliseconds);
  return BigInt(whole) * NANOS_PER_MS + BigInt(Math.round((milliseconds - whole) * 1_000_000));
};

function written(span: Span, service: string): object {
  const texts = Object.fromEntries(span.tags.map(([name, value]) => [name, String(value)]));
  const high = span.traceId.slice(0, 16);
  const isRoot = span.kind === 'server';
  return {
    trace_id: idOf(span.traceId.slice(16)),
    span_id: idOf(span.spanId),
    parent_id: span.parentId === undefined ? 0n : idOf(span.parentId),
    service,
    name: 'envoy.proxy',
    resource: span.name,
    type: 'web',
    start: nanos(span.startedAt),
    duration: nanos(span.durationMs),
    error: span.failed ? 1 : 0,
    meta: {
      ...texts,
      'span.kind': span.kind,
      ...(isRoot && !/^0+$/.test(high) && { '_dd.p.tid': high }),
      ...(span.origin !== undefined && { '_dd.origin': span.origin }),
    },
    metrics: isRoot ? { _sampling_priority_v1: KEEP } : {},
  };
}
