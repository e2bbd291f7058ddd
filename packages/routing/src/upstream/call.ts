import {
  clusterName,
  GatewayError,
  type CallUpstream,
  type Endpoint,
  type UpstreamAnswer,
  type UpstreamCall,
} from '@edge-gateway/core';
import type { Dispatcher } from 'undici';
import { explain, failureOf, isDisconnect, UpstreamProtocolError, type Phase } from '../forward/failure.ts';
import type { ForwardFailure } from '../forward/forward.ts';
import { requestHeaders } from '../forward/request-head.ts';
import { readResponseHead } from '../forward/response-head.ts';
import { Cluster } from './cluster.ts';
import { createUpstreamConnector } from './connect.ts';
import type { Connection } from './connection.ts';
import { hostOf } from './host-of.ts';
import type { ConnectionPool, ConnectionUser } from './pool.ts';
import { retrying } from './retrying.ts';
import type { Upstreams } from './upstream.ts';

const MAX_INTERIM = 16;
/** Longest delay a timer of Node takes. */
const MAX_DELAY_MS = 2 ** 31 - 1;
const SENT_TWICE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Makes the {@link CallUpstream} of a data plane: small exchanges, wholly in memory, over the same connections, TLS and
 * statistics as routes. Rejects with a `GatewayError` of 503 when there is no upstream, no endpoint or no connection, 504
 * when all of it takes longer than `timeoutMs`, 502 when the answer is not HTTP or longer than `maxBodyBytes`. A request
 * without body is sent once more when an idle connection turns out to be closed, any request as its `retry` says. Redirects
 * are not followed.
 *
 * @example
 * const call = createUpstreamCaller(upstreams);
 * const answer = await call({ name: 'idp', namespace: 'gw-system' }, { method: 'GET', path: '/jwks', timeoutMs: 5000, maxBodyBytes: 65_536 });
 */
export function createUpstreamCaller(upstreams: Upstreams): CallUpstream {
  const once: CallUpstream = (ref, asked) =>
    new Promise((resolve, reject) => {
      const cluster = upstreams.get(clusterName(ref));
      const endpoint = cluster?.pick();
      if (cluster instanceof Cluster && endpoint) new Call({ cluster, endpoint, call: asked, resolve, reject }).start();
      else reject(errorOf(failureOf('ERR_ROUTING_NO_ENDPOINT'), `upstream ${clusterName(ref)}`));
    });
  return Object.assign(retrying(upstreams, once), { connect: createUpstreamConnector(upstreams) });
}

interface CallParts {
  readonly cluster: Cluster;
  readonly endpoint: Endpoint;
  readonly call: UpstreamCall;
  readonly resolve: (answer: UpstreamAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** One exchange. undici calls the methods named `on…`. */
class Call implements Dispatcher.DispatchHandler, ConnectionUser {
  readonly #parts: CallParts;
  readonly #startedAt = performance.now();
  readonly #chunks: Buffer[] = [];
  #pool: ConnectionPool | undefined;
  #connection: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #phase: Phase = 'connecting';
  #answer: Omit<UpstreamAnswer, 'body'> | undefined;
  #answering = false;
  #framed = true;
  #retried = false;
  #over = false;
  #interim = 0;
  #size = 0;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  start(): void {
    const { cluster, endpoint, call } = this.#parts;
    cluster.stats.rqTotal.value++;
    cluster.stats.rqActive.value++;
    if (call.signal?.aborted) return this.#cancel();
    call.signal?.addEventListener('abort', this.#cancel, { once: true });
    this.#timer = setTimeout(this.#expire, Math.min(Math.max(call.timeoutMs, 0), MAX_DELAY_MS));
    if (!call.path.startsWith('/')) return this.#end(failureOf('ERR_ROUTING_FORWARD_REQUEST'), 'the path is relative');
    try {
      this.#pool = cluster.pool(endpoint);
    } catch (error) {
      return this.#fail(error as Error);
    }
    if (!this.#pool.acquire(this)) this.#end(failureOf('ERR_ROUTING_UPSTREAM_OVERFLOW'), 'too many requests wait');
  }

  onConnection(connection: Connection): void {
    const { call, endpoint } = this.#parts;
    const body = typeof call.body === 'string' ? Buffer.from(call.body) : call.body;
    this.#connection = connection;
    this.#controller = undefined;
    connection.dispatch(
      {
        method: call.method,
        path: call.path,
        headers: requestHeaders(withHost(call.headers ?? [], endpoint), undefined),
        body: (body ?? null) as Buffer | null,
        // One constant, or undici opens a new connection whenever the Host header is another one.
        servername: 'upstream',
      } as Dispatcher.DispatchOptions,
      this,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) throw new Error('the call is over');
    this.#controller = controller;
    this.#phase = 'sent';
  }

  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.#over) return;
    if (status >= 102 && status < 200 && ++this.#interim <= MAX_INTERIM) return;
    if (status < 200 || status > 599) return controller.abort(new UpstreamProtocolError(`unexpected status ${status}`));
    try {
      const { headers, framed } = readResponseHead(controller.rawHeaders as Buffer[], status);
      this.#framed = framed;
      this.#answer = { status, headers: byName(headers) };
    } catch (error) {
      controller.abort(new UpstreamProtocolError((error as Error).message));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    const { onData } = this.#parts.call;
    if (onData) return onData(chunk, this.#answer!);
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#size <= this.#parts.call.maxBodyBytes) return;
    this.#end(failureOf('ERR_ROUTING_UPSTREAM_TOO_LARGE'), `more than ${this.#parts.call.maxBodyBytes} bytes`);
    this.#abort();
  }

  onResponseEnd(): void {
    this.#connection?.finished();
    if (this.#over) return;
    // Without framing a reset looks like the end of the body.
    if (!this.#framed && this.#connection?.socketError) return this.#fail(this.#connection.socketError);
    const { cluster, resolve } = this.#parts;
    cluster.stats.rqTime.observe(performance.now() - this.#startedAt);
    cluster.stats.answered(this.#answer!.status);
    this.#finish();
    resolve({ ...this.#answer!, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
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

  #mayRetry(error: Error): boolean {
    const { call } = this.#parts;
    const closedIdle = this.#connection?.reused === true && this.#phase === 'sent' && !this.#answering;
    return closedIdle && !this.#retried && !call.body && SENT_TWICE.has(call.method) && isDisconnect(error);
  }

  #fail(error: Error): void {
    const { failure, details } = explain(error, this.#phase);
    this.#end(failure, details);
  }

  #end(failure: ForwardFailure, details: string): void {
    if (this.#over) return;
    this.#finish();
    this.#parts.cluster.stats.answered(failure.status);
    this.#parts.reject(errorOf(failure, `${this.#parts.cluster.name}: ${details}`));
  }

  #finish(): void {
    const { cluster, call } = this.#parts;
    this.#over = true;
    clearTimeout(this.#timer);
    call.signal?.removeEventListener('abort', this.#cancel);
    cluster.stats.rqActive.value--;
    cluster.stats.rqCompleted.value++;
  }

  #abort(): void {
    this.#pool?.cancel(this);
    this.#controller?.abort(new Error('the call is over'));
  }

  readonly #expire = (): void => {
    this.#parts.cluster.stats.rqTimeout.value++;
    this.#end(failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT'), `no answer in ${this.#parts.call.timeoutMs} ms`);
    this.#abort();
  };

  readonly #cancel = (): void => {
    if (this.#over) return;
    const { call, cluster, reject } = this.#parts;
    cluster.stats.rqCancelled.value++;
    this.#finish();
    reject(call.signal?.reason as Error);
    this.#abort();
  };
}

function errorOf({ status, code, message }: ForwardFailure, details: string): GatewayError {
  return new GatewayError(message, { status, code, cause: new Error(details) });
}

function withHost(headers: readonly string[], endpoint: Endpoint): string[] {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.toLowerCase() === 'host') return [...headers];
  return ['host', hostOf(endpoint), ...headers];
}

function byName(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    headers[name] = headers[name] === undefined ? flat[i + 1]! : `${headers[name]}, ${flat[i + 1]!}`;
  }
  return headers;
}
