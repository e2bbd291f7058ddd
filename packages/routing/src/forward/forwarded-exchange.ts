import type { IncomingMessage, ServerResponse } from 'node:http';
import { grpcTypeOf, lingerOnClose } from '@edge-gateway/core';
import { findHeader } from '../http1/flat-headers.ts';
import { expectationOf } from '../http1/expectation.ts';
import { UpstreamProtocolError } from '../http1/errors.ts';
import { RequestBody, hasBody } from '../http1/request-body.ts';
import { takeReceivedBody } from '../http1/received-body.ts';
import { SMALL_BODY } from '../http1/request-writer.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { AttemptObserver } from '../upstream/attempt.ts';
import type { ChannelPool } from '../upstream/channel.ts';
import type { Cluster } from '../upstream/cluster.ts';
import type { Host } from '../upstream/hosts/host.ts';
import { UpstreamExchange, type UpstreamRequest } from '../upstream/exchange.ts';
import { failureOf, lateDetails, withResetText, type FailureReason } from '../upstream/failure.ts';
import type { BodyBytes } from '../http1/body-bytes.ts';
import { PlainResponse } from '../listen/http1/plain-response.ts';
import type { StreamLimits } from '../route/options/stream-limits.ts';
import { BodyWriter } from './body-writer.ts';
import type { ForwardHead, ForwardOutcome } from './forward.ts';
import { ForwardedTrailers } from './forwarded-trailers.ts';
import { sendInterim } from './interim.ts';
import { StreamTimer, type ReachedLimit } from './stream-timer.ts';

/** Idempotent methods, which may be retried (RFC 9110 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

export interface ExchangeParts {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly cluster: Cluster;
  readonly head: ForwardHead;
  readonly host: Host;
}

/** One forwarded request and its response. */
export class ForwardedExchange extends UpstreamExchange {
  protected readonly retryableMethods = IDEMPOTENT;
  protected readonly head: ForwardHead;
  protected body: RequestBody | undefined;
  /** Response flag of an attempt that could not be retried. */
  protected flag = '';
  /** An interim response was sent to the client: it is not retried. */
  protected interimSent = false;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  /** Headers of the response until they are written. */
  #flat: string[] | undefined;
  #framing: ResponseHead['framing'] = 'close';
  #receivedHead: ResponseHead | undefined;
  #status = 0;
  #received = 0;
  #timer: StreamTimer | undefined;
  #expectsContinue = false;
  #bodyWritten: BodyWriter | undefined;
  /** The complete body, if it had already been received when the exchange started. */
  #whole: Buffer | undefined;
  /** Set if trailers are forwarded. */
  #trailers: ForwardedTrailers | undefined;

  constructor(parts: ExchangeParts) {
    super(parts.cluster, parts.host);
    this.head = parts.head;
    this.#req = parts.req;
    this.#res = parts.res;
    if (parts.cluster.settings.proxyProtocol !== undefined) this.client = parts.req.socket;
  }

  protected override get observer(): AttemptObserver | undefined {
    return this.head.onAttempt;
  }

  start(): void {
    const res = this.#res;
    res.on('close', this.#onClientGone);
    if (res.destroyed) return this.#onClientGone();
    const { enableTrailers, maxHeaders } = this.cluster.settings;
    const passesTrailers = enableTrailers || this.cluster.usesHttp2(this.#isHttp2);
    const rules = passesTrailers ? this.head.trailers : undefined;
    if (rules) this.#trailers = new ForwardedTrailers(res, this.head, rules, maxHeaders);
    const hasTrailers = this.#trailers !== undefined && this.#req.rawTrailers.length > 0;
    this.#whole = this.head.body ?? this.takeBody(this.#req);
    if (!this.#whole && (hasBody(this.#req) || hasTrailers)) this.body = this.createBody(this.#req);
    if (this.#trailers && this.body && !isGrpc(this.head.headers)) this.body.filterTrailers = this.#trailers.ofRequest;
    if (this.head.passesInterim === true && this.body)
      this.#expectsContinue = expectationOf(this.#req)?.defer() === true;
    const { streamLimits } = this.head;
    if (streamLimits) this.#limitStream(streamLimits);
    this.send(this.request());
  }

  protected override channels(): ChannelPool {
    return this.cluster.channels(this.host, this.#isHttp2);
  }

  get #isHttp2(): boolean {
    return this.#req.httpVersionMajor > 1;
  }

  /** The listener enforces idle timeouts of HTTP/2 clients: their requests may stay open during the response. */
  protected override get mayPause(): boolean {
    return this.#isHttp2;
  }

  protected createBody(req: IncomingMessage): RequestBody {
    return new RequestBody(req, () => this.onUpload());
  }

  /** Returns the whole body if it need not be streamed. */
  protected takeBody(req: IncomingMessage): Buffer | undefined {
    return takeReceivedBody(req);
  }

  /** The request as it is to be sent now. */
  protected request(): UpstreamRequest {
    const { method, path, headers, timeoutMs, writtenNames } = this.head;
    const sendsTrailers = this.#trailers !== undefined;
    const expectsContinue = this.#expectsContinue;
    return {
      method,
      path,
      headers,
      timeoutMs,
      writtenNames,
      body: this.#whole ?? this.body,
      sendsTrailers,
      expectsContinue,
    };
  }

  onInterim(head: ResponseHead): void {
    if (this.over || this.head.passesInterim !== true) return;
    if (sendInterim(this.#req, this.#res, head)) this.interimSent = true;
  }

  onHeadAlone(): void {
    if (this.over) return;
    this.#writeHead(this.#flat!);
    this.#bodyWriter.flushHead();
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    if (this.over || this.#endedByOthers()) return;
    this.#received += end - start;
    this.#timer?.progress();
    const connection = this.connection!;
    if (this.#flat) this.#writeHead(this.#flat);
    const isSent = this.#bodyWriter.write(connection, buffer, start, end);
    if (!isSent && this.#res.writableLength >= this.cluster.settings.bufferBytes) connection.pause();
  }

  onEnd(buffer: Buffer, start: number, end: number): void {
    if (this.over || this.#endedByOthers()) return;
    const res = this.#res;
    const length = end - start;
    this.#received += length;
    const hasTrailers = this.#trailers?.add(this.connection!.trailers) === true;
    const atOnce = this.#flat !== undefined && length <= SMALL_BODY;
    if (!atOnce || hasTrailers || !this.#sendWhole(this.#flat!, { buffer, start, end })) {
      if (this.#flat && hasTrailers) this.#writeHead(this.#flat);
      else if (this.#flat) this.#writeBuffered(this.#flat, length);
      if (length === 0) res.end();
      else if (atOnce) res.end(buffer.toString('latin1', start, end), 'latin1');
      else this.#bodyWriter.end(this.connection!, buffer, start, end);
    }
    if (this.head.dynamicStats !== false) this.cluster.stats.rqTime.observe(this.elapsedMs);
    this.#end(undefined, this.flag, undefined);
  }

  protected onResponse(head: ResponseHead): void {
    const { status, headers, framing, trailer } = head;
    this.#receivedHead = head;
    this.#flat = this.head.onResponseHead(status, [...headers], this.host);
    const mayFollow = framing === 'chunked' || this.#isHttp2 || this.#trailers?.forFilter;
    if (this.#trailers && mayFollow) this.#trailers.announce(this.#flat, trailer);
    this.#status = status;
    this.#framing = framing;
  }

  protected onFailure(reason: FailureReason): void {
    const { flags, details } = reason;
    this.#end(reason, this.flag === '' ? flags : `${this.flag},${flags}`, details);
  }

  #writeHead(flat: string[]): void {
    const res = this.#res;
    const early = this.body !== undefined && !this.body.ended && !this.#isHttp2;
    // After this no other response is possible: a head that cannot be written still sets the length in `res`.
    this.#flat = undefined;
    try {
      res.writeHead(this.#status, early ? [...flat, 'connection', 'close'] : flat);
    } catch (error) {
      throw new UpstreamProtocolError((error as Error).message);
    }
    if (early) lingerOnClose(res);
    this.#count(this.#status);
  }

  /** Created only for bodies that do not arrive together with the head. */
  get #bodyWriter(): BodyWriter {
    return (this.#bodyWritten ??= new BodyWriter(this.#res, this.#onSent));
  }

  #count(status: number): void {
    if (this.head.dynamicStats !== false) this.cluster.stats.responded(status);
  }

  /** Returns true if other code ended the response during its body; it is then handled like a disconnected client. */
  #endedByOthers(): boolean {
    if (this.#flat || !this.#res.writableEnded) return false;
    this.#onClientGone();
    return true;
  }

  /** Sends a complete response in one write, if nothing else handles it. */
  #sendWhole(flat: readonly string[], body: BodyBytes): boolean {
    const res = this.#res;
    if (!(res instanceof PlainResponse) || (this.body && !this.body.ended)) return false;
    const length = String(body.end - body.start);
    const headers = this.#framing === 'chunked' ? [...flat, 'content-length', length] : flat;
    if (!res.sendWhole(this.#status, headers, body, this.#receivedHead)) return false;
    this.#flat = undefined;
    this.#count(this.#status);
    return true;
  }

  /** Writes the head of a complete response, with its length instead of chunks, so that it is sent in one write. */
  #writeBuffered(flat: string[], length: number): void {
    this.#writeHead(this.#framing === 'chunked' && !this.#isHttp2 ? [...flat, 'content-length', String(length)] : flat);
  }

  #end(reason: FailureReason | undefined, flags: string, details: string | undefined): void {
    if (this.over) return;
    this.finish();
    this.#timer?.cancel();
    const res = this.#res;
    res.off('close', this.#onClientGone);
    this.#bodyWritten?.release();
    this.body?.release();
    const begun = this.#status > 0 && this.#flat === undefined;
    const aborted = begun && (reason !== undefined || flags === 'DC');
    if (reason && !aborted) this.#count(reason.failure.status);
    if (aborted) breakOff(res, typeof this.#framing === 'number');
    const outcome: ForwardOutcome = {
      flags,
      details: aborted && details !== undefined ? lateDetails(details) : details,
      failure: aborted || !reason ? undefined : withResetText(reason, this.attempt > 1),
      aborted: aborted || undefined,
      cause: reason?.cause,
      attempts: this.attempt,
      endpoint: this.host.name,
      local: this.local,
      bytesSent: this.#received,
      bytesReceived: this.body?.bytes ?? this.#whole?.length ?? 0,
    };
    this.head.onDone(outcome);
  }

  readonly #onClientGone = (): void => {
    if (this.over) return;
    this.cluster.stats.rqCancelled.value++;
    this.leave();
    this.#end(undefined, 'DC', 'downstream_remote_disconnect');
  };

  readonly #onSent = (): void => {
    if (this.over) return;
    this.#timer?.progress();
    this.connection?.resume();
  };

  protected onUpload(): void {
    this.#timer?.progress();
    this.refresh();
  }

  // Created only for requests with limits of their own.
  #limitStream(limits: StreamLimits): void {
    this.#timer = new StreamTimer(this.cluster.deadlines, limits, (reached) => this.#limited(reached));
  }

  #limited({ code, flags, details }: ReachedLimit): void {
    this.leaveLate();
    const failure = failureOf(code);
    // The client is late, not the upstream, if its request is not complete.
    this.fail({ failure: this.#req.complete ? failure : { ...failure, status: 408 }, flags, details });
  }
}

/** gRPC requests have no trailers: the last message ends the stream. */
function isGrpc(headers: readonly string[]): boolean {
  return grpcTypeOf(findHeader(headers, 'content-type') ?? '')?.kind === 'grpc';
}

/** Ends a response whose body cannot be finished, so that a truncated body is not mistaken for a complete one. */
function breakOff(res: ServerResponse, framed: boolean): void {
  const { socket } = res;
  // The connection of an HTTP/2 client has other streams.
  if (res.req.httpVersionMajor > 1) return void res.destroy();
  // Without framing, a regular end of the connection would indicate a complete body.
  const closeEndsBody = !framed && !res.chunkedEncoding;
  if (closeEndsBody && socket && !('encrypted' in socket) && !socket.destroyed) socket.resetAndDestroy();
  else res.destroy();
}
