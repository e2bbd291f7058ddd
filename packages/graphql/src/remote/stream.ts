import type { ApiResult, OperationRequest } from '../api/executable-api.ts';

/** One subscription at a server, however it is reached. */
export interface Stream {
  readonly request: OperationRequest;
  /** Aborted when nobody takes results any more. */
  readonly signal: AbortSignal;
  /** Bytes of one result. */
  readonly maxBytes: number;
  /** The server has taken the subscription in this way. */
  accepted(): void;
  push(result: ApiResult, bytes: number): void;
}

/** A way to subscribe. Resolves when there is no more to come; rejects with {@link NotTaken} where the server does not know it. */
export type SubscribeAt = (stream: Stream) => Promise<void>;

/** A server does not take subscriptions in the way they were asked for. */
export class NotTaken extends Error {
  /** What it answered, where that was a result. */
  readonly result: ApiResult | undefined;

  constructor(reason: string, result?: ApiResult) {
    super(reason);
    this.result = result;
  }
}
