import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { grpcService, message } from '@edge-gateway/core/grpc';

export { until } from '../../../../test/parts/until.ts';

/** The part of the OTLP protocol that the tests read, from its specification. */
const COMMON = {
  ArrayValue: message({ values: ['AnyValue', 1, 'repeated'] }),
  KeyValueList: message({ values: ['KeyValue', 1, 'repeated'] }),
  AnyValue: message(
    {
      string_value: ['string', 1],
      bool_value: ['bool', 2],
      int_value: ['int64', 3],
      double_value: ['double', 4],
      array_value: ['ArrayValue', 5],
      kvlist_value: ['KeyValueList', 6],
    },
    { value: ['string_value', 'bool_value', 'int_value', 'double_value', 'array_value', 'kvlist_value'] },
  ),
  KeyValue: message({ key: ['string', 1], value: ['AnyValue', 2] }),
  Resource: message({ attributes: ['KeyValue', 1, 'repeated'] }),
};
const TRACES = {
  Event: message({ time_unix_nano: ['fixed64', 1], name: ['string', 2] }),
  Status: message({ message: ['string', 2], code: ['int32', 3] }),
  Span: message({
    trace_id: ['bytes', 1],
    span_id: ['bytes', 2],
    trace_state: ['string', 3],
    parent_span_id: ['bytes', 4],
    name: ['string', 5],
    kind: ['int32', 6],
    start_time_unix_nano: ['fixed64', 7],
    end_time_unix_nano: ['fixed64', 8],
    attributes: ['KeyValue', 9, 'repeated'],
    events: ['Event', 11, 'repeated'],
    status: ['Status', 15],
  }),
  ScopeSpans: message({ spans: ['Span', 2, 'repeated'] }),
  ResourceSpans: message({ resource: ['Resource', 1], scope_spans: ['ScopeSpans', 2, 'repeated'] }),
  TraceRequest: message({ resource_spans: ['ResourceSpans', 1, 'repeated'] }),
};
const LOGS = {
  LogRecord: message({
    time_unix_nano: ['fixed64', 1],
    body: ['AnyValue', 5],
    attributes: ['KeyValue', 6, 'repeated'],
    trace_id: ['bytes', 9],
    span_id: ['bytes', 10],
  }),
  ScopeLogs: message({ log_records: ['LogRecord', 2, 'repeated'] }),
  ResourceLogs: message({ resource: ['Resource', 1], scope_logs: ['ScopeLogs', 2, 'repeated'] }),
  LogsRequest: message({ resource_logs: ['ResourceLogs', 1, 'repeated'] }),
};

interface Value {
  readonly string_value?: string;
  readonly int_value?: number;
  readonly kvlist_value?: { readonly values: readonly KeyValue[] };
}
interface KeyValue {
  readonly key: string;
  readonly value: Value;
}

/** A span as the collector received it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly state: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly service: string | undefined;
}

export interface ReceivedLog {
  readonly body: Value | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly traceId: string;
}

export interface OtlpServer {
  readonly port: number;
  readonly spans: ReceivedSpan[];
  readonly logs: ReceivedLog[];
  /** Metadata of the last call. */
  metadata: Readonly<Record<string, unknown>>;
  authority: string;
  close(): Promise<void>;
}

const hex = (bytes: Buffer): string => bytes.toString('hex');
const millis = (nanos: number): number => nanos / 1_000_000;

function byKey(pairs: readonly KeyValue[] = []): Record<string, string> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [key, value.string_value ?? value.int_value?.toString() ?? JSON.stringify(value)]),
  );
}

interface Requests {
  readonly resource_spans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scope_spans: readonly { readonly spans: readonly Record<string, never>[] }[];
  }[];
  readonly resource_logs: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scope_logs: readonly { readonly log_records: readonly Record<string, never>[] }[];
  }[];
}

/** Starts an OpenTelemetry collector on a free port (or the given one) of 127.0.0.1. */
export async function startOtlp(port = 0, credentials = ServerCredentials.createInsecure()): Promise<OtlpServer> {
  const types = { ...COMMON, ...TRACES, ...LOGS, Empty: message({}) };
  const serviceOf = (name: string, requestType: string) => {
    const methods = { Export: { requestType, responseType: 'Empty' } };
    return grpcService(`opentelemetry.proto.collector.${name.toLowerCase()}.v1`, `${name}Service`, {
      ...types,
      [`${name}Service`]: { methods },
    }).service;
  };
  const server = new Server();
  const received: OtlpServer = { port: 0, spans: [], logs: [], metadata: {}, authority: '', close };
  const note = (call: ServerUnaryCall<Requests, object>): void => {
    received.metadata = call.metadata.getMap();
    received.authority = call.getHost();
  };
  server.addService(serviceOf('Trace', 'TraceRequest'), {
    Export(call: ServerUnaryCall<Requests, object>, done: sendUnaryData<object>) {
      note(call);
      for (const { resource, scope_spans: scopes } of call.request.resource_spans) {
        const service = byKey(resource.attributes)['service.name'];
        for (const { spans } of scopes) for (const span of spans) received.spans.push(spanOf(span, service));
      }
      done(null, {});
    },
  });
  server.addService(serviceOf('Logs', 'LogsRequest'), {
    Export(call: ServerUnaryCall<Requests, object>, done: sendUnaryData<object>) {
      note(call);
      for (const { resource, scope_logs: scopes } of call.request.resource_logs) {
        for (const { log_records: logs } of scopes) {
          for (const log of logs) {
            received.logs.push({
              body: log['body'],
              attributes: byKey(log['attributes']),
              resource: byKey(resource.attributes),
              traceId: hex(log['trace_id'] ?? Buffer.alloc(0)),
            });
          }
        }
      }
      done(null, {});
    },
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, at) => (error ? reject(error) : resolve(at)));
  });
  async function close(): Promise<void> {
    server.forceShutdown();
    await Promise.resolve();
  }
  return Object.assign(received, { port: bound });
}

function spanOf(span: Record<string, never>, service: string | undefined): ReceivedSpan {
  return {
    traceId: hex(span['trace_id']!),
    spanId: hex(span['span_id']!),
    parentId: hex(span['parent_span_id'] ?? Buffer.alloc(0)),
    state: span['trace_state'] ?? '',
    name: span['name']!,
    kind: span['kind']!,
    startMs: millis(span['start_time_unix_nano']!),
    endMs: millis(span['end_time_unix_nano']!),
    tags: byKey(span['attributes']),
    events: (span['events'] as unknown as readonly { name: string }[]).map(({ name }) => name),
    status: (span['status'] as { code?: number } | undefined)?.code ?? 0,
    service,
  };
}
