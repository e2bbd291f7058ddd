import { loadEncoder, type DefineMessages } from '../../grpc/load-encoder.ts';
import type { CollectorPost } from '../../collect/collector-post.ts';
import type { Span } from '../span.ts';
import { CALL_TIMEOUT_MS, type SpanSender } from './span-collector.ts';

/** The part of Zipkin's `zipkin.proto` that is used here. */
const zipkinMessages: DefineMessages = ({ message }) => ({
  Endpoint: message({ service_name: ['string', 1] }),
  Annotation: message({ timestamp: ['fixed64', 1], value: ['string', 2] }),
  Span: message({
    trace_id: ['bytes', 1],
    parent_id: ['bytes', 2],
    id: ['bytes', 3],
    kind: ['int32', 4],
    name: ['string', 5],
    timestamp: ['fixed64', 6],
    duration: ['uint64', 7],
    local_endpoint: ['Endpoint', 8],
    annotations: ['Annotation', 10, 'repeated'],
    tags: ['string', 11, 'map'],
    shared: ['bool', 13],
  }),
  ListOfSpans: message({ spans: ['Span', 1, 'repeated'] }),
});

const KINDS = { server: 'SERVER', client: 'CLIENT', internal: undefined } as const;
const KIND_NUMBERS = { server: 2, client: 1, internal: 0 } as const;

export interface ZipkinParts {
  readonly path: string;
  readonly version: 'HTTP_JSON' | 'HTTP_PROTO';
  readonly serviceName: string;
  /** `Host` of the calls. */
  readonly host: string;
  readonly post: (call: CollectorPost) => Promise<void>;
}

/** Sends spans to a Zipkin server: its API version 2, as JSON or protobuf. */
export function zipkinSender({ path, version, serviceName, host, post }: ZipkinParts): SpanSender {
  let encoder: ReturnType<typeof loadEncoder> | undefined;
  const call = (type: string, body: string | Uint8Array): Promise<void> =>
    post({ path, headers: ['host', host, 'content-type', type], body, timeoutMs: CALL_TIMEOUT_MS });
  if (version === 'HTTP_JSON') {
    return { send: (spans) => call('application/json', JSON.stringify(spans.map((span) => json(span, serviceName)))) };
  }
  return {
    async send(spans) {
      const encode = await (encoder ??= loadEncoder(zipkinMessages, 'ListOfSpans'));
      await call('application/x-protobuf', encode({ spans: spans.map((span) => proto(span, serviceName)) }));
    },
  };
}

const micros = (milliseconds: number): number => Math.max(Math.round(milliseconds * 1_000), 1);

/** Trace ids of 64 bits are shown without leading zeros. */
const traceIdOf = ({ traceId }: Span): string => (/^0{16}/.test(traceId) ? traceId.slice(16) : traceId);

function tagsOf({ tags, failed }: Span): Record<string, string> {
  const texts = Object.fromEntries(tags.map(([name, value]) => [name, String(value)]));
  return failed && texts['error'] === undefined ? { ...texts, error: 'true' } : texts;
}

function json(span: Span, serviceName: string): object {
  const { parentId, events, shared } = span;
  return {
    traceId: traceIdOf(span),
    id: span.spanId,
    ...(parentId !== undefined && { parentId }),
    ...(KINDS[span.kind] && { kind: KINDS[span.kind] }),
    name: span.name,
    timestamp: micros(span.startedAt),
    duration: micros(span.durationMs),
    localEndpoint: { serviceName },
    ...(events.length > 0 && { annotations: events.map(({ name, at }) => ({ timestamp: micros(at), value: name })) }),
    tags: tagsOf(span),
    ...(shared && { shared }),
  };
}

function proto(span: Span, serviceName: string): object {
  const { parentId, events, shared } = span;
  return {
    trace_id: Buffer.from(traceIdOf(span), 'hex'),
    ...(parentId !== undefined && { parent_id: Buffer.from(parentId, 'hex') }),
    id: Buffer.from(span.spanId, 'hex'),
    kind: KIND_NUMBERS[span.kind],
    name: span.name,
    timestamp: micros(span.startedAt),
    duration: micros(span.durationMs),
    local_endpoint: { service_name: serviceName },
    annotations: events.map(({ name, at }) => ({ timestamp: micros(at), value: name })),
    tags: tagsOf(span),
    shared,
  };
}
