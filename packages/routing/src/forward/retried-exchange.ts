import type { IncomingMessage } from 'node:http';
import type { RetryPolicy } from '@edge-gateway/core';
import { findHeader } from '../http1/flat-headers.ts';
import { ReplayableBody } from '../http1/replayable-body.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { Deadline } from '../upstream/deadlines.ts';
import { failureOf, noEndpoint, type FailureReason } from '../upstream/failure.ts';
import type { Host } from '../upstream/hosts/host.ts';
import { ForwardedExchange, type ExchangeParts } from './forwarded-exchange.ts';

/** Bodies up to this size, in bytes, can be sent again. */
export const DEFAULT_REPLAY_BYTES = 1024 * 1024;

/**
 * A forwarded request that is retried as its policy says: within its time limit and the retry limit of the upstream, at another
 * endpoint if there is one, and never after a response was chosen for the client.
 */
export class RetriedExchange extends ForwardedExchange {
  readonly #policy: RetryPolicy;
  readonly #tried = new Set<Host>();
  readonly #triedPriorities = new Set<number>();
  #left: number;
  /** The response that the client gets has begun. */
  #chosen = false;
  /** Holds one of the retries that the upstream allows. */
  #reserved = false;
  #timer: NodeJS.Timeout | undefined;
  #tryLimit: Deadline | undefined;
  #replay: ReplayableBody | undefined;

  constructor(parts: ExchangeParts, policy: RetryPolicy) {
    super(parts);
    this.#policy = policy;
    this.#left = policy.numRetries;
    this.#limitTry();
  }

  protected override createBody(req: IncomingMessage): ReplayableBody {
    return (this.#replay = new ReplayableBody(
      req,
      () => this.onUpload(),
      this.head.replayBytes ?? DEFAULT_REPLAY_BYTES,
    ));
  }

  /** The stream knows whether the body can be sent again. */
  protected override takeBody(): undefined {
    return undefined;
  }

  /** While the request is being sent, the limit of an attempt applies to each pause too. */
  protected override refresh(): void {
    super.refresh();
    this.#tryLimit?.restart();
  }

  protected override onResponse(head: ResponseHead): void {
    const { status, headers } = head;
    const header = (name: string): string | undefined => findHeader(headers, name);
    const retriable = this.#policy.onResponse(status, header);
    this.#endTry();
    if (retriable && this.#mayRetry()) {
      this.connection!.abandon();
      this.connection = undefined;
      return this.#retry(this.#policy.requestedDelayMs(header));
    }
    if (!retriable && this.attempt > 1) this.cluster.stats.rqRetrySuccess.value++;
    this.#chosen = true;
    this.#replay?.forget();
    super.onResponse(head);
  }

  protected override onFailure(reason: FailureReason): void {
    this.#endTry();
    const { reset } = reason;
    const connected = reset !== 'remote connection failure' && reset !== 'connection timeout';
    const refused = reset === 'remote refused stream reset';
    const mayApply = !this.#chosen && reset !== undefined && reset !== 'overflow';
    const retriable = mayApply && this.#policy.onReset(connected, refused);
    if (retriable && this.#mayRetry()) this.#retry(undefined);
    else super.onFailure(reason);
  }

  protected override finish(): void {
    super.finish();
    clearTimeout(this.#timer);
    this.#endTry();
  }

  /** Reserves a retry. If none is left, the flag of the response says why. */
  #mayRetry(): boolean {
    const { stats, breakers } = this.cluster;
    if (this.interimSent || this.#replay?.replayable === false) {
      stats.retryAbandoned.value++;
      return false;
    }
    if (this.#left === 0) {
      stats.rqRetryLimitExceeded.value++;
      this.flag = 'URX';
      return false;
    }
    this.#left--;
    this.#reserved = breakers.beginRetry();
    if (!this.#reserved) this.flag = 'UO';
    return this.#reserved;
  }

  #retry(requestedMs: number | undefined): void {
    const { stats } = this.cluster;
    if (requestedMs === undefined) stats.rqRetryBackoffExponential.value++;
    else stats.rqRetryBackoffRatelimited.value++;
    this.#tried.add(this.host);
    this.#replay?.detach();
    this.endAttempt();
    this.#timer = setTimeout(this.#again, requestedMs ?? this.#policy.delayMs(this.attempt));
  }

  readonly #again = (): void => {
    const attempt = this.attempt + 1;
    const host = this.cluster.pick({
      ...this.head.pickContext,
      excluded: this.#tried,
      excludedPriorities: this.#priorities(),
      attempt,
    });
    if (!host) return super.onFailure(noEndpoint('no endpoint'));
    this.head.onRetry?.(attempt, host, this.elapsedMs);
    this.#limitTry();
    this.sendAgain(host, this.request());
  };

  /** Returns the priorities that were tried, as of the last attempt after which they are compared. */
  #priorities(): ReadonlySet<number> | undefined {
    const { priorityEvery } = this.#policy;
    if (priorityEvery === undefined) return undefined;
    if (this.attempt % priorityEvery === 0) for (const { priority } of this.#tried) this.#triedPriorities.add(priority);
    return this.#triedPriorities;
  }

  #limitTry(): void {
    const { perTryTimeoutMs = 0 } = this.#policy;
    const { timeoutMs } = this.head;
    // One that is not shorter than the limit of the request has no effect, as in Envoy.
    if (perTryTimeoutMs === 0 || (timeoutMs > 0 && perTryTimeoutMs >= timeoutMs)) return;
    this.#tryLimit = this.cluster.deadlines.start({ expire: this.#expireTry }, perTryTimeoutMs, performance.now());
  }

  readonly #expireTry = (): void => {
    // The limit begins when the request is complete.
    if (this.waitsForClient) return this.#limitTry();
    this.cluster.stats.rqPerTryTimeout.value++;
    this.leave();
    this.fail({
      failure: failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT'),
      flags: 'UT',
      details: 'upstream_per_try_timeout',
      reset: 'local reset',
      cause: `no response in ${this.#policy.perTryTimeoutMs} ms`,
    });
  };

  #endTry(): void {
    this.#tryLimit?.cancel();
    this.#tryLimit = undefined;
    if (this.#reserved) this.cluster.breakers.endRetry();
    this.#reserved = false;
  }
}
