import type { ApiResult, OperationRequest } from '../api/executable-api.ts';

/** One subscription at a server, over any transport. */
export interface Stream {
  readonly request: OperationRequest;
  /** Aborted when the consumer has left. */
  readonly signal: AbortSignal;
  /** Maximum size of one result in bytes. */
  readonly maxBytes: number;
  /** Called when the server accepts the subscription over this transport. */
  accepted(): void;
  push(result: ApiResult, bytes: number): void;
}

/** Subscribes over one transport. Resolves at the end of the stream. Rejects with {@link NotTaken} if the server does not support the transport. */
export type SubscribeAt = (stream: Stream) => Promise<void>;

/** The server does not support subscriptions over this transport. */
export class NotTaken extends Error {
  /** Its response, if that was a result. */
  readonly result: ApiResult | undefined;

  constructor(reason: string, result?: ApiResult) {
    super(reason);
    this.result = result;
  }
}
