import type { CallUpstream, ResourceRef } from '@edge-gateway/core';
import type { ApiResult, OperationRequest } from '../execute/executable-api.ts';
import type { Limits } from '../document/limits.ts';
import type { RemoteHead } from './remote-request.ts';

/** The server of subscriptions, which is called through the connections, load balancing and TLS of its upstream. */
export interface StreamServer {
  readonly callUpstream: CallUpstream;
  readonly upstream: ResourceRef;
  readonly limits: Limits;
  targetOf(request: OperationRequest): RemoteHead;
}

export interface Stream {
  readonly request: OperationRequest;
  /** Aborted when the consumer has left. */
  readonly signal: AbortSignal;
  /** Called when the server accepts the subscription over this transport. */
  accepted(): void;
  push(result: ApiResult, bytes: number): void;
}

/** Subscribes over one transport. Resolves at the end of the stream. Rejects with {@link TransportRejected} if the server does not support the transport. */
export type SubscribeAt = (stream: Stream) => Promise<void>;

/** The server does not support subscriptions over this transport. */
export class TransportRejected extends Error {
  readonly result: ApiResult | undefined;

  constructor(reason: string, result?: ApiResult) {
    super(reason);
    this.result = result;
  }
}
