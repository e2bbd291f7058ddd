import type { AttemptObserver } from './attempt.ts';
import { explain, failureOf, isDisconnect, overflow, type FailureReason } from './failure.ts';
import { UpstreamProtocolError, UpstreamResetError } from '../http1/errors.ts';
import type { LocalEnd } from '../format/local-end.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { Cluster } from './cluster.ts';
import type { Host } from './hosts/host.ts';
import type { Channel, ChannelPool, ChannelProgress, ChannelRequest, ChannelUser, PreparedHead } from './channel.ts';
import type { Deadline, Limited } from './deadlines.ts';
import type { ClientAddresses } from './connect/proxy-header.ts';
import { applyReportedFailure } from './health/immediate-failure.ts';
import { isEmptyBody } from './framing.ts';

/** How often a request is sent again because its host did not process it: a server may close many connections one after the other. */
const MAX_UNPROCESSED = 3;
/** A client that gives up after this time, in milliseconds, may have waited for a connection that is dead. */
const LATE_MS = 1000;

/** A request to a host, and the time limit for its response. */
export interface UpstreamRequest extends ChannelRequest {
  /** 0 is no limit. */
  readonly timeoutMs: number;
}

/**
 * One request to a host and its response: the connection, the statistics, the time limit, and the retry if an
 * idle connection turns out to be closed. Subclasses handle the response.
 */
export abstract class UpstreamExchange implements ChannelUser, Limited {
  protected readonly cluster: Cluster;
  protected host: Host;
  /** Connection of the client, where the upstream is told of it. */
  client: ClientAddresses | undefined;
  protected connection: Channel | undefined;
  /** This side of the last connection. */
  protected local: LocalEnd | undefined;
  /** The exchange has ended. */
  protected over = false;
  /** Number of the current attempt. */
  protected attempt = 1;
  readonly #startedAt = performance.now();
  #attemptedAt = this.#startedAt;
  /** The current attempt is in progress, and counted as such. */
  #active = true;
  #request: UpstreamRequest | undefined;
  #head: PreparedHead = '';
  #pool: ChannelPool | undefined;
  #deadline: Deadline | undefined;
  #lifetime: Deadline | undefined;
  #retried = false;
  #unprocessed = 0;
  #status = 0;

  constructor(cluster: Cluster, host: Host) {
    this.cluster = cluster;
    this.host = host;
    this.#begin();
  }

  /** The response begins. An error that it throws aborts the exchange. */
  protected abstract onResponse(head: ResponseHead): void;
  /** The exchange failed: no response, or an incomplete one. */
  protected abstract onFailure(reason: FailureReason): void;
  /** Methods whose request may be retried if no host can have received it. */
  protected abstract readonly retryableMethods: ReadonlySet<string>;

  /** Receives the outcomes of this exchange. */
  protected get observer(): AttemptObserver | undefined {
    return undefined;
  }

  /** The connections that the request may use. */
  protected channels(): ChannelPool {
    return this.cluster.channels(this.host, false);
  }

  abstract onHeadAlone(): void;
  abstract onBody(buffer: Buffer, start: number, end: number): void;
  abstract onEnd(buffer: Buffer, start: number, end: number): void;

  protected get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  protected send(request: UpstreamRequest): void {
    this.#request = request;
    this.#limitTime(this.#startedAt);
    this.#dispatch(request);
  }

  /** Ends the current attempt without ending the exchange: {@link sendAgain} follows. */
  protected endAttempt(): void {
    this.leave();
    this.connection = undefined;
    this.#settle();
  }

  /** Begins another attempt within the same time limit. */
  protected sendAgain(host: Host, request: UpstreamRequest): void {
    this.attempt++;
    this.host = host;
    this.#attemptedAt = performance.now();
    this.#active = true;
    this.#retried = false;
    this.#status = 0;
    this.#begin();
    this.#dispatch(request);
  }

  /** Restarts the time limit. */
  protected refresh(): void {
    this.#deadline?.restart();
  }

  /** Ends the exchange: stops its timers and statistics. */
  protected finish(): void {
    this.over = true;
    this.#deadline?.cancel();
    this.#settle();
  }

  /** Releases the connection, or stops waiting for one. */
  protected leave(): void {
    if (!this.connection) this.#pool?.cancel(this);
    else if (performance.now() - this.#attemptedAt >= LATE_MS) this.connection.leaveLate();
    else this.connection.leave();
  }

  /** Does so after a time limit: the connection may be dead. */
  protected leaveLate(): void {
    if (this.connection) this.connection.leaveLate();
    else this.#pool?.cancel(this);
  }

  #limitTime(from = performance.now()): void {
    const { timeoutMs } = this.#request!;
    if (timeoutMs > 0) this.#deadline = this.cluster.deadlines.start(this, timeoutMs, from);
  }

  /** Ends the current attempt as failed. */
  protected fail(reason: FailureReason): void {
    if (this.#active) this.#report(this.#status, reason);
    this.onFailure(reason);
  }

  onOpen(connection: Channel): void {
    if (this.over) return connection.leave();
    this.connection = connection;
    this.local = connection.local;
    const { method, body } = this.#request!;
    connection.write(method, this.#head, body);
  }

  onHead(head: ResponseHead): void {
    if (this.over) return;
    const { maxHeaders } = this.cluster.settings;
    if (head.headers.length > maxHeaders * 2) throw new UpstreamProtocolError(`more than ${maxHeaders} headers`);
    this.#report(head.status, undefined);
    if (this.host.lastFailure) this.host.recovered('response');
    const { health } = this.cluster;
    if (health?.isChecked) applyReportedFailure(health, this.host, head.headers);
    try {
      this.onResponse(head);
    } catch (error) {
      throw new UpstreamProtocolError((error as Error).message);
    }
  }

  onBroken(progress: ChannelProgress, error: Error): void {
    this.connection = undefined;
    if (this.over) return;
    if (this.#mayRepeat(progress, error)) {
      this.#retried = true;
      if (this.#pool!.acquireFresh(this)) {
        this.cluster.stats.rqRetry.value++;
        return;
      }
    }
    this.fail(explain(error, progress.sent ? 'sent' : 'connecting'));
  }

  /** True if clients may pause while they send the request. */
  protected get mayPause(): boolean {
    return false;
  }

  /** True if the client has to send more of the request before the upstream can respond. */
  protected get waitsForClient(): boolean {
    const body = this.#request?.body;
    return body !== undefined && !Buffer.isBuffer(body) && body.isAwaited;
  }

  expire(): void {
    if (this.waitsForClient) return this.mayPause ? this.#limitTime() : this.#clientIsLate();
    this.cluster.stats.rqTimeout.value++;
    this.host.rqTimeout++;
    const cause = `no response in ${this.#request!.timeoutMs} ms`;
    this.host.failed(cause, true);
    this.leaveLate();
    this.fail({
      failure: failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT'),
      flags: 'UT',
      details: 'response_timeout',
      cause,
    });
  }

  /** The host has no part in it: nothing is reported of it, and nothing is retried. */
  #clientIsLate(): void {
    const failure = { ...failureOf('ERR_ROUTING_STREAM_TIMEOUT'), status: 408 };
    const cause = `no more of the request in ${this.#request!.timeoutMs} ms`;
    this.leave();
    this.onFailure({ failure, flags: 'SI', details: 'stream_idle_timeout', cause });
  }

  #dispatch(request: UpstreamRequest): void {
    const { settings } = this.cluster;
    this.#request = request;
    if (settings.maxStreamMs > 0) this.#limitLifetime(settings.maxStreamMs);
    try {
      this.#pool = this.channels();
      this.#head = this.#pool.prepare(request);
    } catch (error) {
      return this.fail(explain(error as Error, 'connecting'));
    }
    if (!this.cluster.breakers.allowsRequest()) return this.fail(overflow('too many active requests'));
    if (this.#pool.acquire(this)) return;
    this.fail(overflow('too many requests are waiting for a connection'));
  }

  // A method of its own: the callback is only created where it is needed.
  #limitLifetime(limitMs: number): void {
    const expire = (): void => this.#outlived();
    this.#lifetime = this.cluster.deadlines.start({ expire }, limitMs, performance.now());
  }

  #outlived(): void {
    this.cluster.stats.rqMaxDuration.value++;
    this.leaveLate();
    this.fail({
      failure: failureOf('ERR_ROUTING_UPSTREAM_DURATION'),
      flags: 'UMSDR',
      details: 'upstream_max_stream_duration_reached',
      reset: 'local reset',
      cause: `not complete after ${this.cluster.settings.maxStreamMs} ms`,
    });
  }

  #begin(): void {
    const { stats } = this.cluster;
    stats.rqTotal.value++;
    stats.rqActive.value++;
    this.host.rqTotal++;
    this.host.active++;
  }

  #settle(): void {
    if (!this.#active) return;
    this.#active = false;
    this.#lifetime?.cancel();
    const { stats } = this.cluster;
    stats.rqActive.value--;
    this.host.active--;
    stats.rqCompleted.value++;
  }

  #report(status: number, reason: FailureReason | undefined): void {
    const { cluster, host, attempt, observer } = this;
    const isLocal = reason?.isLocal === true;
    if (this.#status === 0 && !isLocal && reason?.reset !== 'overflow')
      host.responded(reason?.failure.status ?? status);
    this.#status = status;
    if (!cluster.onAttempt && !observer) return;
    const outcome = { host, attempt, status, reason, elapsedMs: performance.now() - this.#attemptedAt };
    if (!isLocal) cluster.onAttempt?.(outcome);
    observer?.(outcome);
  }

  /**
   * Only if the request can have had no effect: on a connection that was idle, which the peer may close at any time, or on one
   * whose peer says that it did not process the request.
   */
  #mayRepeat({ reused, sent, responding }: ChannelProgress, error: Error): boolean {
    const { method, body } = this.#request!;
    // A peer that says so although it responds is not believed: the client may have a part of that response.
    if (responding) return false;
    // A body that is held as a whole can be sent again.
    if (error instanceof UpstreamResetError && error.isUnprocessed)
      return (Buffer.isBuffer(body) || isEmptyBody(body)) && this.#unprocessed++ < MAX_UNPROCESSED;
    if (!isEmptyBody(body)) return false;
    return !this.#retried && reused && sent && this.retryableMethods.has(method) && isDisconnect(error);
  }
}
