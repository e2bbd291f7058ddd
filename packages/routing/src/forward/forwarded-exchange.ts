import { ServerResponse, type IncomingMessage } from 'node:http';
import { lingerOnClose } from '@edge-gateway/core';
import { UpstreamProtocolError } from '../http1/errors.ts';
import { isReusable, reuse } from '../http1/read-buffer.ts';
import { RequestBody, hasBody } from '../http1/request-body.ts';
import { SMALL_BODY } from '../http1/request-writer.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { AttemptObserver } from '../upstream/attempt.ts';
import type { Cluster } from '../upstream/cluster.ts';
import type { Host } from '../upstream/hosts/host.ts';
import { hostOf } from '../http1/authority.ts';
import { UpstreamExchange } from '../upstream/exchange.ts';
import type { FailureReason, ForwardFailure } from '../upstream/failure.ts';
import type { ForwardHead, ForwardOutcome } from './forward.ts';

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
  readonly #parts: ExchangeParts;
  #body: RequestBody | undefined;
  /** Headers of the response until they are written. */
  #flat: string[] | undefined;
  #framing: ResponseHead['framing'] = 'close';
  #status = 0;
  #upstreamMs = -1;
  #received = 0;

  constructor(parts: ExchangeParts) {
    super(parts.cluster, parts.host);
    this.#parts = parts;
    if (parts.cluster.settings.proxyProtocol !== undefined) this.client = parts.req.socket;
  }

  protected override get observer(): AttemptObserver | undefined {
    return this.#parts.head.onAttempt;
  }

  start(): void {
    const { req, res, head } = this.#parts;
    res.on('close', this.#onClientGone);
    if (res.destroyed) return this.#onClientGone();
    if (!head.body && hasBody(req)) this.#body = new RequestBody(req, this.#onUpload);
    const { method, path, headers, timeoutMs } = head;
    this.send({ method, path, headers, timeoutMs, body: head.body ?? this.#body });
  }

  onHeadAlone(): void {
    if (this.over) return;
    this.#writeHead(this.#flat!);
    this.#parts.res.flushHeaders();
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    if (this.over || this.#endedByOthers()) return;
    this.#received += end - start;
    const { connection } = this;
    if (this.#flat) this.#writeHead(this.#flat);
    const { res, cluster } = this.#parts;
    if (!write(res, connection!.take(buffer, start, end)) && res.writableLength >= cluster.settings.bufferBytes)
      connection!.pause();
  }

  onEnd(buffer: Buffer, start: number, end: number): void {
    if (this.over || this.#endedByOthers()) return;
    const { res, cluster } = this.#parts;
    const length = end - start;
    this.#received += length;
    const atOnce = this.#flat !== undefined && length <= SMALL_BODY;
    if (this.#flat) this.#writeBuffered(this.#flat, length);
    if (length === 0) res.end();
    else if (atOnce) res.end(buffer.toString('latin1', start, end), 'latin1');
    else res.end(this.connection!.take(buffer, start, end));
    cluster.stats.rqTime.observe(this.elapsedMs);
    this.#end({ flags: '' });
  }

  protected onResponse({ status, headers, framing }: ResponseHead): void {
    const { head } = this.#parts;
    this.#upstreamMs = this.elapsedMs;
    this.#flat = head.onResponseHead(status, [...headers], this.host);
    this.#status = status;
    this.#framing = framing;
  }

  protected onFailure(reason: FailureReason): void {
    this.#end(reason);
  }

  #writeHead(flat: string[]): void {
    const { res, cluster } = this.#parts;
    const early = this.#body !== undefined && !this.#body.ended;
    // After this no other response is possible: a head that cannot be written still sets the length in `res`.
    this.#flat = undefined;
    try {
      res.writeHead(this.#status, early ? [...flat, 'connection', 'close'] : flat);
    } catch (error) {
      throw new UpstreamProtocolError((error as Error).message);
    }
    if (early) lingerOnClose(res);
    cluster.stats.responded(this.#status);
    res.on('drain', this.#onDrain);
  }

  /** Returns true if other code ended the response during its body; it is then handled like a disconnected client. */
  #endedByOthers(): boolean {
    if (this.#flat || !this.#parts.res.writableEnded) return false;
    this.#onClientGone();
    return true;
  }

  /** Writes the head of a complete response, with its length instead of chunks, so that it is sent in one write. */
  #writeBuffered(flat: string[], length: number): void {
    this.#writeHead(this.#framing === 'chunked' ? [...flat, 'content-length', String(length)] : flat);
  }

  #end({ failure, flags, details }: { failure?: ForwardFailure; flags: string; details?: string }): void {
    if (this.over) return;
    this.finish();
    const { res, cluster, head } = this.#parts;
    res.off('close', this.#onClientGone).off('drain', this.#onDrain);
    this.#body?.release();
    const begun = this.#status > 0 && this.#flat === undefined;
    const aborted = begun && (failure !== undefined || flags === 'DC');
    if (failure && !aborted) cluster.stats.responded(failure.status);
    if (aborted) breakOff(res, this.#framing !== 'close');
    const outcome: ForwardOutcome = {
      flags,
      details,
      failure: aborted ? undefined : failure,
      aborted: aborted || undefined,
      endpoint: hostOf(this.host),
      upstreamMs: this.#upstreamMs,
      bytesSent: this.#received,
      bytesReceived: this.#body?.bytes ?? head.body?.length ?? 0,
    };
    head.onDone(outcome);
  }

  readonly #onClientGone = (): void => {
    if (this.over) return;
    this.cluster.stats.rqCancelled.value++;
    this.leave();
    this.#end({ flags: 'DC', details: 'client disconnected' });
  };

  readonly #onDrain = (): void => this.connection?.resume();

  readonly #onUpload = (): void => this.refresh();
}

/** Writes a chunk. A large one is reused when it is sent, unless other middleware replaced `write` and may keep it. */
function write(res: ServerResponse, chunk: Buffer): boolean {
  if (!isReusable(chunk) || res.write !== ServerResponse.prototype.write) return res.write(chunk);
  return res.write(chunk, (error) => {
    if (!error) reuse(chunk);
  });
}

/** Ends a response whose body cannot be finished, so that a truncated body is not mistaken for a complete one. */
function breakOff(res: ServerResponse, framed: boolean): void {
  const { socket } = res;
  // Without framing, a regular end of the connection would indicate a complete body.
  const closeEndsBody = !framed && !res.chunkedEncoding;
  if (closeEndsBody && socket && !('encrypted' in socket) && !socket.destroyed) socket.resetAndDestroy();
  else res.destroy();
}
