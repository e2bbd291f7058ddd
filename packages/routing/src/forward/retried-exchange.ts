import type { IncomingMessage } from 'node:http';
import { startTimer, type RetryPolicy } from '@edge-gateway/core';
import { findHeader } from '../http1/flat-headers.ts';
import { ReplayableBody } from '../http1/replayable-body.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { Deadline } from '../upstream/deadlines.ts';
import { noEndpoint, type FailureReason } from '../upstream/failure.ts';
import { ForwardedExchange, type ExchangeParts } from './forwarded-exchange.ts';
import { Retries, tryTimeout } from './retries.ts';

/** Bodies up to this size, in bytes, can be sent again. */
export const DEFAULT_REPLAY_BYTES = 1024 * 1024;

/**
 * A forwarded request that is retried as its policy says: within its time limit and the retry limit of the upstream, at another
 * endpoint if there is one, and never after a response was chosen for the client.
 */
export class RetriedExchange extends ForwardedExchange {
  readonly #retries: Retries;
  /** The response that the client gets has begun. */
  #chosen = false;
  #timer: NodeJS.Timeout | undefined;
  #tryLimit: Deadline | undefined;
  #replay: ReplayableBody | undefined;

  constructor(parts: ExchangeParts, policy: RetryPolicy) {
    super(parts);
    this.#retries = new Retries(parts.cluster, policy);
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
    const { policy } = this.#retries;
    const header = (name: string): string | undefined => findHeader(headers, name);
    const retriable = policy.onResponse(status, header);
    this.#endTry();
    if (retriable && this.#mayRetry()) {
      this.connection!.abandon();
      this.connection = undefined;
      return this.#retry(policy.requestedDelayMs(header));
    }
    if (!retriable && this.attempt > 1) this.cluster.stats.rqRetrySuccess.value++;
    this.#chosen = true;
    this.#replay?.forget();
    super.onResponse(head);
  }

  protected override onFailure(reason: FailureReason): void {
    this.#endTry();
    const retriable = !this.#chosen && this.#retries.appliesTo(reason);
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
    if (this.interimSent || this.#replay?.replayable === false) {
      this.cluster.stats.retryAbandoned.value++;
      return false;
    }
    const reserved = this.#retries.reserve();
    this.flag = this.#retries.flag;
    return reserved;
  }

  #retry(requestedMs: number | undefined): void {
    const delayMs = this.#retries.delayMs(this.host, this.attempt, requestedMs);
    this.#replay?.detach();
    this.endAttempt();
    this.#timer = startTimer(this.#again, delayMs);
  }

  readonly #again = (): void => {
    const attempt = this.attempt + 1;
    const host = this.#retries.pick(this.head.pickContext, attempt);
    if (!host) return super.onFailure(noEndpoint('no endpoint'));
    this.head.onRetry?.(attempt, host, this.elapsedMs);
    this.#limitTry();
    this.sendAgain(host, this.request());
  };

  #limitTry(): void {
    const limitMs = this.#retries.tryTimeoutMs(this.head.timeoutMs);
    if (limitMs === 0) return;
    this.#tryLimit = this.cluster.deadlines.start({ expire: this.#expireTry }, limitMs, performance.now());
  }

  readonly #expireTry = (): void => {
    // The limit begins when the request is complete.
    if (this.waitsForClient) return this.#limitTry();
    this.cluster.stats.rqPerTryTimeout.value++;
    const { perTryTimeoutMs } = this.#retries.policy;
    this.host.failed(`no response in ${perTryTimeoutMs} ms`, true);
    this.leaveLate();
    this.fail(tryTimeout(perTryTimeoutMs!));
  };

  #endTry(): void {
    this.#tryLimit?.cancel();
    this.#tryLimit = undefined;
    this.#retries.release();
  }
}
