import { factsOf, GatewayError, startTimer, watchAuthentication } from '@edge-gateway/core';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { localEndOf, type LocalEnd } from '../../format/local-end.ts';
import { UpstreamProtocolError } from '../../http1/errors.ts';
import { findHeader } from '../../http1/flat-headers.ts';
import { withoutFraming } from '../../http1/request-head.ts';
import { join } from '../../tcp/join.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import { DEFAULT_TIMEOUT_MS } from '../../upstream/cluster-settings.ts';
import type { Deadline, Limited } from '../../upstream/deadlines.ts';
import { explain, failureOf, noEndpoint, withResetText, type FailureReason } from '../../upstream/failure.ts';
import type { Host } from '../../upstream/hosts/host.ts';
import { POLICY_VIOLATION, WebSocketTunnel } from '../../websocket/websocket-tunnel.ts';
import type { UpgradeOutcome, UpstreamReply } from '../forward.ts';
import { Retries, tryTimeout } from '../retries.ts';
import { StreamTimer, type ReachedLimit } from '../stream-timer.ts';
import type { AttemptEvents, SendAttempt, Tunnel, UpgradeRequest } from './upgrade-attempt.ts';
import { watchClient } from './client-watch.ts';
import { sendConnect } from './connect-request.ts';
import { sendHandshake } from './handshake.ts';
import { relay } from './relay.ts';
import { handshakeHead, refuse, responseHead } from './response-heads.ts';
import { openStream } from './stream.ts';
import { openTcpTunnel } from './tcp-tunnel.ts';

/** Maximum time that an upstream may still send to a client that has finished sending, in milliseconds. */
const HALF_CLOSED_MS = 1000;
const NO_BYTES = Buffer.alloc(0);
const ignore = (): void => {};

/** One upgrade, from the request to the end of the tunnel. Nothing of the client is sent upstream before the tunnel is open, so that it can be retried. */
export class Upgrade implements Limited {
  readonly #request: UpgradeRequest;
  readonly #readBefore: number;
  /** Bytes of the client's connection at the end of the head of the response, or of the body of one that rejects the request. */
  #headEnd: number | undefined;
  #bodyBytes = 0;
  readonly #retries: Retries | undefined;
  readonly #startedAt = performance.now();
  readonly #isWebSocket: boolean;
  #attemptedAt = this.#startedAt;
  #attempt = 0;
  /** Of the attempt whose events have an effect. */
  #current = 0;
  #host: Host | undefined;
  /** Data that the client sent behind its request, until it is taken. */
  #head: Buffer;
  #status = 0;
  #reason: Pick<UpgradeOutcome, 'flags' | 'details' | 'cause'> = { flags: '' };
  #connected = false;
  #local: LocalEnd | undefined;
  #timer: StreamTimer | undefined;
  #deadline: Deadline | undefined;
  #tryLimit: Deadline | undefined;
  #backOff: NodeJS.Timeout | undefined;
  /** True while an attempt is an active request of its host. */
  #isCounted = false;
  #webSocket: WebSocketTunnel | undefined;
  #hasEnded = false;
  /** Ends the current attempt. */
  #abort = ignore;
  #stopWatching = ignore;

  /** `head` is what the client sent behind its request, and `host` that of the first attempt. */
  constructor(request: UpgradeRequest, head: Buffer, host: Host | undefined) {
    const { socket, to, cluster, protocol } = request;
    this.#request = request;
    this.#head = head;
    this.#readBefore = socket.bytesRead;
    this.#isWebSocket = to.tunnel === undefined && protocol.toLowerCase() === 'websocket';
    if (to.retries) this.#retries = new Retries(cluster, to.retries);
    this.#begin(host);
    if (socket.destroyed) process.nextTick(this.#done);
    else socket.once('close', this.#done);
  }

  /** Sends the request upstream, and joins client and upstream if it is accepted. */
  start(host: Host): void {
    const { socket, cluster, to } = this.#request;
    const { streamLimits, timeoutMs = DEFAULT_TIMEOUT_MS } = to;
    if (timeoutMs > 0) this.#deadline = cluster.deadlines.start(this, timeoutMs, performance.now());
    if (streamLimits) this.#timer = new StreamTimer(cluster.deadlines, streamLimits, this.#limited);
    this.#stopWatching = watchClient(socket, this.#clientLeft);
    this.#send(host);
  }

  /** Ends the upgrade before the tunnel exists, with a response of the gateway. */
  fail(reason: FailureReason): void {
    if (this.#isOver) return;
    const { socket, to } = this.#request;
    this.#current = 0;
    this.#stopWatching();
    this.#endTry();
    this.#abort();
    this.#responded(reason.failure.status, reason);
    const { flags, details, cause } = reason;
    this.#reason = { flags: this.#flagged(flags), details, cause };
    const failure = withResetText(reason, this.#attempt > 1);
    if (!to.onFailure) return refuse(socket, failure);
    // Later errors are not attributed to the host.
    this.#end();
    to.onFailure(failure, this.#outcome());
  }

  /** The upstream took too long: it has not responded, or its response that refuses the upgrade is not complete. */
  expire(): void {
    this.#request.cluster.stats.rqTimeout.value++;
    this.#host!.rqTimeout++;
    this.#host!.failed('no complete response to the upgrade', true);
    const failure = failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT');
    this.#stop({ failure, flags: 'UT', details: 'response_timeout', cause: 'no complete response to the upgrade' });
  }

  #send(host: Host): void {
    if (this.#request.socket.destroyed) return;
    this.#attempt++;
    this.#attemptedAt = performance.now();
    this.#connected = false;
    this.#limitTry();
    try {
      const events = this.#eventsOf(this.#attempt);
      this.#abort = this.#transport({ ...this.#request, takeHead: this.#takeHead, host, events });
    } catch (error) {
      this.#failed(explain(error as Error, 'connecting'));
    }
  }

  readonly #takeHead = (): Buffer => {
    const head = this.#head;
    this.#head = NO_BYTES;
    return head;
  };

  get #transport(): SendAttempt {
    const { to, cluster } = this.#request;
    if (to.tunnel === 'terminate') return openTcpTunnel;
    if (cluster.usesHttp2(to.isHttp2 ?? false)) return openStream;
    return to.tunnel === 'forward' ? sendConnect : sendHandshake;
  }

  /** The events of an attempt; those of an earlier one have no effect. */
  #eventsOf(attempt: number): AttemptEvents {
    this.#current = attempt;
    const isCurrent = (): boolean => attempt === this.#current && !this.#isOver;
    return {
      onConnect: (local) => {
        this.#connected = true;
        this.#local = local;
      },
      onTunnel: (head, tunnel) => {
        if (isCurrent()) this.#accept(head, tunnel);
        else tunnel.on('error', ignore).destroy();
      },
      onResponse: (response) => {
        if (isCurrent()) this.#rejected(response);
        else response.on('error', ignore).destroy();
      },
      onError: (error) => {
        // A client that has disconnected is no failure of the upstream.
        if (isCurrent() && !this.#request.socket.destroyed)
          this.#failed(explain(error, this.#connected ? 'sent' : 'connecting'));
      },
    };
  }

  /** Opens the tunnel towards the client, and joins both. */
  #accept({ status, headers }: Pick<ResponseHead, 'status' | 'headers'>, tunnel: Tunnel): void {
    const sent = this.#isWebSocket ? 101 : status;
    let head: string | Promise<string>;
    try {
      head = this.#headOf(sent, headers);
    } catch (error) {
      tunnel.on('error', ignore).destroy();
      return this.fail(rejectedHead(error));
    }
    if (typeof head === 'string') return this.#join(head, sent, tunnel);
    this.#abort = () => tunnel.destroy();
    tunnel.on('error', ignore);
    head.then(
      (text) => this.#joinLater(text, sent, tunnel),
      (error: unknown) => this.fail(rejectedHead(error)),
    );
  }

  /** Opens the tunnel once its head is complete, unless either side has closed meanwhile. */
  #joinLater(head: string, status: number, tunnel: Tunnel): void {
    if (this.#isOver) return void tunnel.destroy();
    if (tunnel.destroyed) return this.fail(explain(new Error('the upstream closed the connection'), 'sent'));
    tunnel.off('error', ignore);
    this.#join(head, status, tunnel);
  }

  #join(head: string, status: number, tunnel: Tunnel): void {
    const { socket } = this.#request;
    this.#opened(tunnel, status);
    socket.write(head, 'latin1');
    this.#headEnd = socket.bytesWritten;
    const early = this.#takeHead();
    if (early.length > 0) tunnel.write(early);
    join(socket, tunnel, this.#endsAlone);
    this.#observe(tunnel);
    if (this.#isWebSocket) this.#limitHalfClosed();
  }

  #headOf(status: number, headers: readonly string[]): string | Promise<string> {
    const { to } = this.#request;
    // A response that opens a tunnel has no length (RFC 9110 §9.3.6).
    const kept = withoutFraming(headers);
    const write = (sent: readonly string[]): string =>
      this.#isWebSocket ? handshakeHead(to.headers, sent) : responseHead(status, sent);
    const sent = to.onTunnel?.(status, kept, this.#host!) ?? kept;
    return sent instanceof Promise ? sent.then(write) : write(sent);
  }

  #opened(tunnel: Tunnel, status: number): void {
    this.#stopWatching();
    this.#deadline?.cancel();
    this.#succeeded();
    this.#abort = ignore;
    this.#responded(status);
    if (tunnel instanceof Socket) this.#local = localEndOf(tunnel);
  }

  /** A client that disconnected cannot be distinguished from a half-closed one, so do not wait for an upstream that does not close. */
  #limitHalfClosed(): void {
    const { socket } = this.#request;
    socket.once('end', () => setTimeout(() => socket.destroy(), HALF_CLOSED_MS).unref());
  }

  #observe(tunnel: Duplex): void {
    if (this.#hasEnded) return;
    const { req, socket, to } = this.#request;
    if (this.#timer) this.#watchPauses(this.#timer, tunnel);
    if (!this.#isWebSocket) return;
    const webSocket = new WebSocketTunnel(socket, tunnel);
    this.#webSocket = webSocket;
    this.#stopWatching = watchAuthentication(
      factsOf(req),
      { now: to.now ?? Date.now, outlivesSessionTokens: true },
      () => webSocket.close(POLICY_VIOLATION),
    );
    to.onOpen?.(webSocket);
  }

  /** True if the client was sent the close frame of a listener that drains. */
  readonly #endsAlone = (): boolean => this.#webSocket?.hasSentClose === true;

  #watchPauses(timer: StreamTimer, tunnel: Duplex): void {
    const progress = (): void => timer.progress();
    this.#request.socket.on('data', progress);
    tunnel.on('data', progress);
  }

  /** Relays the response of an upstream that rejects the request, unless it is retried. */
  #rejected(response: UpstreamReply): void {
    const { req, socket, to } = this.#request;
    const { statusCode: status = 502, rawHeaders } = response;
    const header = (name: string): string | undefined => findHeader(rawHeaders, name);
    const policy = this.#retries?.policy;
    this.#retries?.release();
    if (policy?.onResponse(status, header) !== true) this.#succeeded();
    else if (this.#retries!.reserve()) {
      this.#attempted(status, undefined);
      response.on('error', ignore);
      return this.#retry(policy.requestedDelayMs(header));
    }
    this.#stopWatching();
    this.#endTry();
    this.#reason = { flags: this.#flagged('') };
    this.#responded(status);
    // The idle timeout does not apply to a response that rejects the tunnel.
    this.#timer?.cancel();
    if (to.onResponse) to.onResponse(response, this.#host!);
    else relay(response, req, socket);
    response.on('data', (chunk: Buffer) => (this.#bodyBytes += chunk.length));
  }

  #failed(reason: FailureReason): void {
    if (this.#isOver) return;
    this.#retries?.release();
    if (!this.#retries?.appliesTo(reason) || !this.#retries.reserve()) return this.fail(reason);
    this.#attempted(reason.failure.status, reason);
    this.#retry(undefined);
  }

  /** Ends the attempt, and begins another one after a delay. */
  #retry(requestedMs: number | undefined): void {
    const delayMs = this.#retries!.delayMs(this.#host!, this.#attempt, requestedMs);
    this.#current = 0;
    this.#tryLimit?.cancel();
    this.#abort();
    this.#abort = ignore;
    this.#settle();
    this.#backOff = startTimer(this.#again, delayMs);
  }

  readonly #again = (): void => {
    const { to, socket } = this.#request;
    if (this.#isOver || socket.destroyed) return;
    const attempt = this.#attempt + 1;
    const host = this.#retries!.pick(to.pickContext, attempt);
    this.#begin(host);
    if (!host) return this.fail(noEndpoint('no endpoint'));
    to.onRetry?.(attempt, host, performance.now() - this.#startedAt);
    this.#send(host);
  };

  #limitTry(): void {
    const limitMs = this.#retries?.tryTimeoutMs(this.#request.to.timeoutMs ?? DEFAULT_TIMEOUT_MS) ?? 0;
    if (limitMs === 0) return;
    const { deadlines } = this.#request.cluster;
    this.#tryLimit = deadlines.start({ expire: this.#expireTry }, limitMs, performance.now());
  }

  readonly #expireTry = (): void => {
    this.#request.cluster.stats.rqPerTryTimeout.value++;
    this.#failed(tryTimeout(this.#retries!.policy.perTryTimeoutMs!));
  };

  #endTry(): void {
    this.#tryLimit?.cancel();
    clearTimeout(this.#backOff);
    this.#retries?.release();
  }

  /** The upstream responded, and not with what is retried. */
  #succeeded(): void {
    this.#endTry();
    if (this.#attempt > 1) this.#request.cluster.stats.rqRetrySuccess.value++;
  }

  /** With the flag of a request that could not be retried. */
  #flagged(flags: string): string {
    return [this.#retries?.flag ?? '', flags].filter((flag) => flag !== '').join(',');
  }

  #responded(status: number, reason?: FailureReason): void {
    this.#status = status;
    this.#request.cluster.stats.responded(status);
    this.#attempted(status, reason);
  }

  /** Reports the outcome of an attempt. */
  #attempted(status: number, reason: FailureReason | undefined): void {
    const { cluster } = this.#request;
    const host = this.#host;
    if (!host || this.#attempt === 0 || reason?.isLocal === true) return;
    if (reason?.reset !== 'overflow') host.responded(status);
    const elapsedMs = performance.now() - this.#attemptedAt;
    cluster.onAttempt?.({ host, attempt: this.#attempt, status: reason ? 0 : status, reason, elapsedMs });
  }

  /** True if the client has received its response or disconnected. */
  get #isOver(): boolean {
    return this.#hasEnded || this.#status !== 0;
  }

  readonly #clientLeft = (): void => {
    this.#abort();
    this.#request.socket.destroy();
  };

  readonly #limited = ({ code, flags, details }: ReachedLimit): void =>
    this.#stop({ failure: failureOf(code), flags, details });

  /** Ends the upgrade for a reason of the gateway: with a response if there is none yet. */
  #stop(reason: FailureReason): void {
    if (this.#status === 0) return this.fail(reason);
    this.#reason = { flags: reason.flags, details: reason.details };
    this.#request.socket.destroy();
    this.#abort();
  }

  readonly #done = (): void => {
    if (this.#hasEnded) return;
    this.#end();
    this.#request.to.onDone?.(this.#outcome());
  };

  /** Begins the statistics of an attempt. */
  #begin(host: Host | undefined): void {
    const { stats } = this.#request.cluster;
    this.#isCounted = true;
    this.#host = host;
    stats.rqTotal.value++;
    stats.rqActive.value++;
    if (!host) return;
    host.rqTotal++;
    host.active++;
  }

  /** Ends the statistics of an attempt. */
  #settle(): void {
    if (!this.#isCounted) return;
    this.#isCounted = false;
    const { stats } = this.#request.cluster;
    stats.rqActive.value--;
    if (this.#host) this.#host.active--;
    stats.rqCompleted.value++;
  }

  /** Ends the timers and statistics. */
  #end(): void {
    this.#hasEnded = true;
    if (this.#status === 0) this.#abort();
    this.#endTry();
    this.#timer?.cancel();
    this.#stopWatching();
    this.#deadline?.cancel();
    this.#settle();
    if (this.#status === 0) this.#request.cluster.stats.rqCancelled.value++;
  }

  #outcome(): UpgradeOutcome {
    const { socket } = this.#request;
    const status = this.#status;
    return {
      ...this.#reason,
      ...(status === 0 && { flags: 'DC' }),
      status,
      attempts: this.#host ? Math.max(this.#attempt, 1) : this.#attempt,
      endpoint: this.#host?.name,
      local: this.#local,
      bytesSent: this.#headEnd === undefined ? this.#bodyBytes : socket.bytesWritten - this.#headEnd,
      bytesReceived: socket.bytesRead - this.#readBefore,
    };
  }
}

/** Returns why the response that opens a tunnel is not sent: the gateway rejects it, or it is invalid. */
function rejectedHead(error: unknown): FailureReason {
  if (!(error instanceof GatewayError)) return explain(new UpstreamProtocolError((error as Error).message), 'sent');
  const { details = error.message, flags = '' } = error.reply ?? {};
  return { failure: error, flags, details, isLocal: true };
}
