import type { CallUpstream, ResourceRef, SnapshotUpstream } from '@edge-gateway/core';
import type { ApiResult, OperationRequest } from '../api/executable-api.ts';
import type { Limits } from '../api/limits.ts';
import { carrying, noteRequest } from '../trace/http-call.ts';
import { callKind, traced, traceOf, type TracedCall } from '../trace/span.ts';
import { readRemoteAnswer } from './remote-answer.ts';
import { bodyOf, type RemoteHead } from './remote-request.ts';

/** Forwards operations to a server. Rejects if there is no result. */
export type ForwardOperation = (request: OperationRequest, head: RemoteHead) => Promise<ApiResult>;

export interface ForwardOptions {
  readonly upstream: ResourceRef;
  readonly callUpstream: CallUpstream;
  readonly findUpstream: ((ref: ResourceRef) => SnapshotUpstream | undefined) | undefined;
  readonly limits: Limits;
  readonly spanName: string | undefined;
}

/** Creates the forwarder of operations to a server: each in a span, with the retries of the route for queries. */
export function createForward(options: ForwardOptions): ForwardOperation {
  const { upstream, callUpstream, findUpstream, limits, spanName } = options;
  const kind = callKind(spanName || upstream.name);
  const place = { upstream, find: findUpstream };

  async function forward(request: OperationRequest, { path, headers }: RemoteHead, trace: TracedCall | undefined) {
    const { operation, retries, signal } = request;
    const type = operation.definition.operation;
    if (trace) {
      noteRequest(trace, { method: 'POST', path }, place);
      const name = operation.definition.name?.value;
      trace.span.setAttributes({ 'graphql.operation.type': type, ...(name && { 'graphql.operation.name': name }) });
    }
    const answer = await callUpstream(upstream, {
      method: 'POST',
      path,
      headers: trace ? carrying(headers, trace) : headers,
      body: bodyOf(request),
      timeoutMs: limits.operationTimeoutMs,
      maxBodyBytes: limits.maxResponseBytes,
      signal,
      ...(retries && { retry: { policy: retries, repeatable: type === 'query' } }),
    });
    trace?.span.setAttribute('http.response.status_code', answer.status);
    return readRemoteAnswer(upstream.name, answer);
  }

  return (request, head) => traced(kind, traceOf(request.facts), (trace) => forward(request, head, trace));
}
