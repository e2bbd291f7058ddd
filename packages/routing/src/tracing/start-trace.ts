import type { CompiledRouteTracing } from './route-tracing.ts';
import type { DownstreamHead } from '../route/downstream-head.ts';
import { findHeader, removeHeader, setHeader } from '../http1/flat-headers.ts';
import { RequestTrace } from './request-trace.ts';
import { pointOf, traceReason, withReason } from './sampling.ts';
import type { Tracer } from './tracer.ts';

/** Name of an operation: a caller sends it, and a response has that of its route. */
export const OPERATION = 'x-envoy-decorator-operation';

export interface TracedRequest {
  readonly head: DownstreamHead;
  readonly startedAt: number;
}

/** Begins the trace of a request: decides whether it is sampled, and writes the decision into the request id. */
export function startTrace(
  tracer: Tracer,
  { head, startedAt }: TracedRequest,
  route: CompiledRouteTracing | undefined,
): RequestTrace {
  const { headers } = head;
  const received = tracer.propagation.extract(headers);
  const point = (tracer.samplesByRequestId ? pointOf(head.requestId) : undefined) ?? Math.random();
  const input = {
    requestId: head.requestId,
    hasClientTraceId: findHeader(headers, 'x-client-trace-id') !== undefined,
    isForced: findHeader(headers, 'x-envoy-force-trace') !== undefined,
    point,
  };
  const reason = traceReason(input, route?.sampling ?? tracer.sampling);
  if (tracer.packsReason) setRequestId(head, withReason(head.requestId, reason));
  const operation = findHeader(headers, OPERATION) ?? '';
  if (operation !== '') removeHeader(headers, OPERATION);
  return new RequestTrace({
    tracer,
    received,
    sampled: received.sampled ?? reason !== undefined,
    propagate: route?.propagate !== false,
    operation: operation || route?.descriptor || '',
    announced: operation === '' ? (route?.descriptor ?? '') : '',
    startedAt,
  });
}

function setRequestId(head: DownstreamHead, id: string): void {
  if (id === head.requestId) return;
  head.requestId = id;
  setHeader(head.headers, 'x-request-id', id);
}
