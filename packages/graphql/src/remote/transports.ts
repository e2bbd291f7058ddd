import { MAX_DELAY_MS, type CallUpstream, type ResourceRef } from '@edge-gateway/core';
import type { OperationRequest } from '../api/executable-api.ts';
import type { Limits } from '../api/limits.ts';
import { subscribeByEvents } from './event-stream.ts';
import { bodyOf, payloadOf, type RemoteHead } from './remote-request.ts';
import type { Transports } from './remote-subscription.ts';
import { subscribeBySocket } from './socket-stream.ts';

export interface TransportsParts {
  readonly callUpstream: CallUpstream;
  readonly upstream: ResourceRef;
  readonly limits: Limits;
  readonly targetOf: (request: OperationRequest) => RemoteHead;
}

const HEADERS = ['content-type', 'application/json', 'accept', 'text/event-stream, application/json;q=0.9'];

/** Returns the transports to an upstream, through its connections, load balancing and TLS. */
export function transportsOf({ callUpstream, upstream, limits, targetOf }: TransportsParts): Transports {
  const { connect } = callUpstream;
  const events = subscribeByEvents({
    upstream: upstream.name,
    open({ request }, onData, signal) {
      const { path, headers } = targetOf(request);
      return callUpstream(upstream, {
        method: 'POST',
        path,
        headers: [...HEADERS, ...headers],
        body: bodyOf(request),
        timeoutMs: limits.maxConnectionMs || MAX_DELAY_MS,
        maxBodyBytes: limits.maxResponseBytes,
        signal,
        onData,
      });
    },
  });
  if (!connect) return { events };
  const webSocket = subscribeBySocket({
    connect: () => connect(upstream),
    targetOf: ({ request }) => ({ ...targetOf(request), payload: payloadOf(request) }),
    timeoutMs: limits.operationTimeoutMs,
    pingIntervalMs: limits.pingIntervalMs,
  });
  return { events, webSocket };
}
