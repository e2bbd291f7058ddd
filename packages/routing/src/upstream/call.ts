import {
  clusterName,
  type CallUpstream,
  type FoundUpstream,
  type ResourceRef,
  type UpstreamResponse,
  type UpstreamCall,
} from '@edge-gateway/core';
import { errorOf, explain, failureOf, noEndpoint, type FailureReason } from './failure.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import { authorityOf } from '../http1/authority.ts';
import { headersByName } from '../http1/flat-headers.ts';
import { Cluster } from './cluster.ts';
import type { Host } from './hosts/host.ts';
import { UpstreamExchange } from './exchange.ts';
import { retrying } from './retrying.ts';
import type { Upstream, Upstreams } from './upstream.ts';

const RETRYABLE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Creates the {@link CallUpstream} of a data plane: small exchanges, fully buffered, over the same connections, TLS and
 * statistics as routes. Rejects with a `GatewayError` of 503 when there is no upstream, no endpoint or no connection, 504
 * if it takes longer than `timeoutMs` in total, 502 if the response is not HTTP or longer than `maxBodyBytes`. A request
 * without a body is retried once if an idle connection turns out to be closed, any request according to its `retry`. Redirects
 * are not followed.
 *
 * @example
 * const call = createUpstreamCaller(upstreams);
 * const response = await call({ name: 'idp', namespace: 'gw-system' }, { method: 'GET', path: '/jwks', timeoutMs: 5000, maxBodyBytes: 65_536 });
 */
export function createUpstreamCaller(upstreams: Upstreams): CallUpstream {
  const names = new WeakMap<ResourceRef, string>();
  const nameOf = (ref: ResourceRef): string => {
    let name = names.get(ref);
    if (name === undefined) names.set(ref, (name = clusterName(ref)));
    return name;
  };
  const cancellations = new Cancellations();
  const once: CallUpstream = (ref, call) =>
    new Promise((resolve, reject) => {
      const name = nameOf(ref);
      const cluster = upstreams.get(name);
      const host = cluster?.pick();
      if (cluster instanceof Cluster && host) new Call({ cluster, host, call, cancellations, resolve, reject }).start();
      else reject(errorOf(noEndpoint('no endpoint'), name));
    });
  return Object.assign(retrying(upstreams, once), {
    connect: createUpstreamConnector(upstreams),
    find: (ref: ResourceRef) => foundUpstream(upstreams.get(nameOf(ref))),
  });
}

function foundUpstream(cluster: Upstream | undefined): FoundUpstream | undefined {
  return cluster && { snapshot: cluster.snapshot, pick: () => cluster.pick()?.endpoint };
}

/**
 * Creates the function that opens single connections to upstreams, for protocols other than HTTP: endpoint, TLS, connect
 * timeout, limit of connections and statistics are those of the upstream. Rejects with a `GatewayError` of 503.
 *
 * @example
 * const { socket, host } = await createUpstreamConnector(upstreams)({ name: 'todos', namespace: 'gw-system' });
 */
function createUpstreamConnector(upstreams: Upstreams): NonNullable<CallUpstream['connect']> {
  return (ref) =>
    new Promise((resolve, reject) => {
      const name = clusterName(ref);
      const cluster = upstreams.get(name);
      const host = cluster?.pick();
      if (!(cluster instanceof Cluster) || !host) {
        return reject(errorOf(noEndpoint('no endpoint'), name));
      }
      const failed = (error: Error): void => reject(errorOf(explain(error, 'connecting'), name));
      try {
        cluster.pool(host).connectUnpooled((error, socket) => {
          if (socket) resolve({ socket, host: authorityOf(host), basePath: '' });
          else failed(error!);
        });
      } catch (error) {
        failed(error as Error);
      }
    });
}

/** Calls by their signals. Many calls share one signal: one listener for a set of calls is much cheaper than a listener per call. */
class Cancellations {
  readonly #bySignal = new WeakMap<AbortSignal, Set<() => void>>();

  add(signal: AbortSignal, cancel: () => void): void {
    let cancels = this.#bySignal.get(signal);
    if (!cancels) {
      const made = new Set<() => void>();
      signal.addEventListener('abort', () => made.forEach((each) => each()), { once: true });
      this.#bySignal.set(signal, (cancels = made));
    }
    cancels.add(cancel);
  }

  remove(signal: AbortSignal, cancel: () => void): void {
    this.#bySignal.get(signal)?.delete(cancel);
  }
}

interface CallParts {
  readonly cluster: Cluster;
  readonly host: Host;
  readonly call: UpstreamCall;
  readonly cancellations: Cancellations;
  readonly resolve: (response: UpstreamResponse) => void;
  readonly reject: (error: Error) => void;
}

/** Many responses share one head. */
const heads = new WeakMap<ResponseHead, Omit<UpstreamResponse, 'body'>>();

class Call extends UpstreamExchange {
  protected readonly retryableMethods = RETRYABLE_METHODS;
  readonly #parts: CallParts;
  readonly #chunks: Buffer[] = [];
  #response: Omit<UpstreamResponse, 'body'> | undefined;
  #size = 0;

  constructor(parts: CallParts) {
    super(parts.cluster, parts.host);
    this.#parts = parts;
  }

  start(): void {
    const { signal, method, path, headers = [], body, timeoutMs } = this.#parts.call;
    if (signal?.aborted) return this.#cancel();
    if (signal) this.#parts.cancellations.add(signal, this.#cancel);
    this.send({ method, path, headers, body: bytesOf(body), timeoutMs: Math.max(timeoutMs, 1) });
  }

  onHeadAlone(): void {}

  onBody(buffer: Buffer, start: number, end: number): void {
    if (this.over) return;
    const chunk = this.connection!.keep(buffer, start, end);
    const { onData, maxBodyBytes } = this.#parts.call;
    if (onData) return onData(chunk, this.#response!);
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#size <= maxBodyBytes) return;
    const failure = failureOf('ERR_ROUTING_UPSTREAM_TOO_LARGE');
    this.#end({ failure, flags: '', details: `more than ${maxBodyBytes} bytes` });
    this.leave();
  }

  onEnd(buffer: Buffer, start: number, end: number): void {
    if (end > start) this.onBody(buffer, start, end);
    if (this.over) return;
    const { cluster, resolve } = this.#parts;
    cluster.stats.rqTime.observe(this.elapsedMs);
    cluster.stats.responded(this.#response!.status);
    this.#finish();
    resolve({ ...this.#response!, body: this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks) });
  }

  protected onResponse(head: ResponseHead): void {
    let response = heads.get(head);
    if (!response) {
      const { status, headers: rawHeaders } = head;
      heads.set(head, (response = { status, headers: Object.freeze(headersByName(rawHeaders)), rawHeaders }));
    }
    this.#response = response;
  }

  protected onFailure(reason: FailureReason): void {
    this.#end(reason);
  }

  #end(reason: FailureReason): void {
    if (this.over) return;
    this.#finish();
    this.cluster.stats.responded(reason.failure.status);
    this.#parts.reject(errorOf(reason, this.cluster.name));
  }

  #finish(): void {
    this.finish();
    const { signal } = this.#parts.call;
    if (signal) this.#parts.cancellations.remove(signal, this.#cancel);
  }

  readonly #cancel = (): void => {
    if (this.over) return;
    const { call, cluster, reject } = this.#parts;
    cluster.stats.rqCancelled.value++;
    this.#finish();
    reject(call.signal?.reason as Error);
    this.leave();
  };
}

function bytesOf(body: string | Uint8Array | undefined): Buffer | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
