import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Endpoint } from '@edge-gateway/core';
import type { Cluster } from '../upstream/cluster.ts';
import type { Connection } from '../upstream/connection.ts';
import type { ConnectionPool, ConnectionUser } from '../upstream/pool.ts';
import { explain, failureOf, isDisconnect, UpstreamProtocolError, type Phase } from './failure.ts';
import type { ForwardFailure, ForwardHead, ForwardOutcome } from './forward.ts';
import { lingerOnClose } from '../lingering-close.ts';
import { RequestBody, hasBody } from './request-body.ts';
import { requestHeaders } from './request-head.ts';
import { readResponseHead, type ResponseHead } from './response-head.ts';

/** Interim answers (1xx) that are taken before a final one. */
const MAX_INTERIM = 16;
/** Longest delay a timer of Node takes. */
const MAX_DELAY_MS = 2 ** 31 - 1;
/** Methods that may be sent twice (RFC 9110 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

type Controller = Dispatcher.DispatchController;

export interface ExchangeParts {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly cluster: Cluster;
  readonly head: ForwardHead;
  readonly endpoint: Endpoint;
}

/** One request on its way upstream and its answer on the way back. undici calls the methods named `on…`. */
export class Exchange implements Dispatcher.DispatchHandler, ConnectionUser {
  readonly #parts: ExchangeParts;
  readonly #startedAt = performance.now();
  #pool: ConnectionPool | undefined;
  #connection: Connection | undefined;
  #controller: Controller | undefined;
  #body: RequestBody | undefined;
  #timer: NodeJS.Timeout | undefined;
  #phase: Phase = 'connecting';
  #answering = false;
  #framed = true;
  #retried = false;
  #over = false;
  #interim = 0;
  #status = 0;
  #upstreamMs = -1;
  #received = 0;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  start(): void {
    const { req, res, cluster, head, endpoint } = this.#parts;
    const { stats } = cluster;
    stats.rqTotal.value++;
    stats.rqActive.value++;
    res.on('close', this.#onClientGone);
    if (res.destroyed) return this.#onClientGone();
    if (head.timeoutMs > 0) this.#timer = setTimeout(onTimeout, Math.min(head.timeoutMs, MAX_DELAY_MS), this);
    if (!head.body && hasBody(req)) this.#body = new RequestBody(req, this.#onUpload);
    // undici would send an absolute URI on as it is.
    if (!head.path.startsWith('/')) return this.#end({ failure: failureOf('ERR_ROUTING_FORWARD_REQUEST'), flags: '' });
    try {
      this.#pool = cluster.pool(endpoint);
    } catch (error) {
      return this.#fail(error as Error);
    }
    if (!this.#pool.acquire(this)) this.#end({ failure: failureOf('ERR_ROUTING_UPSTREAM_OVERFLOW'), flags: 'UO' });
  }

  onConnection(connection: Connection): void {
    const { head } = this.#parts;
    this.#connection = connection;
    this.#controller = undefined;
    const options = {
      method: head.method,
      path: head.path,
      headers: requestHeaders(head.headers, this.#body?.length),
      body: (head.body ?? this.#body ?? null) as Buffer | null,
      // One constant, or undici opens a new connection whenever the Host header is another one.
      servername: 'upstream',
    };
    connection.dispatch(options, this);
  }

  onRequestStart(controller: Controller): void {
    if (this.#over) throw new Error('the exchange is over');
    this.#controller = controller;
    this.#phase = 'sent';
  }

  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(controller: Controller, status: number): void {
    if (this.#over) return;
    if (status >= 102 && status < 200 && ++this.#interim <= MAX_INTERIM) return;
    if (status < 200 || status > 599) return controller.abort(new UpstreamProtocolError(`unexpected status ${status}`));
    try {
      this.#writeHead(status, readResponseHead(controller.rawHeaders as Buffer[], status));
    } catch (error) {
      controller.abort(new UpstreamProtocolError((error as Error).message));
    }
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#over) return;
    this.#received += chunk.length;
    if (!this.#parts.res.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#connection?.finished();
    if (this.#over) return;
    // Without framing a reset looks like the end of the body.
    if (!this.#framed && this.#connection?.socketError) return this.#fail(this.#connection.socketError);
    const { res, cluster } = this.#parts;
    res.end();
    cluster.stats.rqTime.observe(performance.now() - this.#startedAt);
    this.#end({ flags: '' });
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    this.#connection?.finished();
    if (this.#over) return;
    if (this.#mayRetry(error)) {
      this.#retried = true;
      this.#phase = 'connecting';
      if (this.#pool!.acquireFresh(this)) {
        this.#parts.cluster.stats.rqRetry.value++;
        return;
      }
      this.#phase = 'sent';
    }
    this.#fail(error);
  }

  /** The time is up. */
  expire(): void {
    this.#parts.cluster.stats.rqTimeout.value++;
    this.#end({ failure: failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT'), flags: 'UT', details: 'timeout' });
    this.#abort();
  }

  /** Sends what was written of the head, when nothing of the body came with it. */
  flush(): void {
    const { res } = this.#parts;
    if (!this.#over && this.#received === 0) res.flushHeaders();
  }

  #writeHead(status: number, { headers, framed }: ResponseHead): void {
    const { res, head, cluster } = this.#parts;
    this.#upstreamMs = performance.now() - this.#startedAt;
    const flat = head.onResponseHead(status, headers);
    const early = this.#body !== undefined && !this.#body.ended;
    res.writeHead(status, early ? [...flat, 'connection', 'close'] : flat);
    if (early) lingerOnClose(res);
    this.#status = status;
    this.#framed = framed;
    cluster.stats.answered(status);
    res.on('drain', this.#onDrain);
    process.nextTick(flushHead, this);
  }

  #mayRetry(error: Error): boolean {
    const { reused } = this.#connection ?? { reused: false };
    return (
      reused &&
      this.#phase === 'sent' &&
      !this.#retried &&
      !this.#answering &&
      !this.#body &&
      !this.#parts.head.body &&
      IDEMPOTENT.has(this.#parts.head.method) &&
      isDisconnect(error)
    );
  }

  #fail(error: Error): void {
    const reason = explain(error, this.#phase);
    this.#end(reason);
  }

  #end({ failure, flags, details }: { failure?: ForwardFailure; flags: string; details?: string }): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    const { res, cluster, head, endpoint } = this.#parts;
    res.off('close', this.#onClientGone).off('drain', this.#onDrain);
    this.#body?.destroy();
    cluster.stats.rqActive.value--;
    cluster.stats.rqCompleted.value++;
    const aborted = this.#status > 0 && (failure !== undefined || flags === 'DC');
    if (failure && !aborted) cluster.stats.answered(failure.status);
    if (aborted) breakOff(res, this.#framed);
    const outcome: ForwardOutcome = {
      flags,
      details,
      failure: aborted ? undefined : failure,
      aborted: aborted || undefined,
      endpoint: `${endpoint.address}:${endpoint.port}`,
      upstreamMs: this.#upstreamMs,
      bytesSent: this.#received,
      bytesReceived: this.#body?.bytes ?? head.body?.length ?? 0,
    };
    head.onDone(outcome);
  }

  #abort(): void {
    this.#pool?.cancel(this);
    this.#controller?.abort(new Error('the exchange is over'));
  }

  readonly #onClientGone = (): void => {
    if (this.#over) return;
    this.#parts.cluster.stats.rqCancelled.value++;
    this.#end({ flags: 'DC', details: 'client disconnected' });
    this.#abort();
  };

  readonly #onDrain = (): void => this.#controller?.resume();

  readonly #onUpload = (): void => void this.#timer?.refresh();
}

const onTimeout = (exchange: Exchange): void => exchange.expire();
const flushHead = (exchange: Exchange): void => exchange.flush();

/** Ends a response whose body cannot be finished, so that nobody can take the part that was sent for the whole. */
function breakOff(res: ServerResponse, framed: boolean): void {
  const { socket } = res;
  // Without framing of its own a plain end of the connection would say that the body is complete.
  const closeEndsBody = !framed && !res.chunkedEncoding;
  if (closeEndsBody && socket && !('encrypted' in socket) && !socket.destroyed) socket.resetAndDestroy();
  else res.destroy();
}
