import type { Host } from './hosts/host.ts';
import type { FailureReason } from './failure.ts';

/** The outcome of one attempt to send a request to an endpoint: the first one, or a retry. */
export interface AttemptOutcome {
  readonly host: Host;
  /** 1 for the first attempt of the request. */
  readonly attempt: number;
  /** Status of the response; 0 if none began. */
  readonly status: number;
  /** Why the attempt failed; `undefined` for a response. The flags tell local failures (`UF`, `UO`) from those of the endpoint. */
  readonly reason: FailureReason | undefined;
  /** Milliseconds from the start of the attempt. */
  readonly elapsedMs: number;
}

/**
 * Receives the outcome of each attempt: once when its response head arrives or when it fails, and a second time, with
 * status and reason, if the body of the response breaks off. An attempt that its client cancels has no outcome.
 *
 * There are two of them, both called by `UpstreamExchange` only: `cluster.onAttempt` for whatever judges endpoints (outlier
 * detection), and `head.onAttempt` for whatever follows one request (spans).
 */
export type AttemptObserver = (outcome: AttemptOutcome) => void;
