import type { Duplex } from 'node:stream';
import type { ResourceRef } from '../resource/resource.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** A small exchange with an upstream, wholly in memory. */
export interface UpstreamCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Flat `[name, value, …]`; `host` defaults to the endpoint's address. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
  /** A longer answer is refused. */
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal;
  /** Sends it again, to the next endpoint, where it fails; all within `timeoutMs`. */
  readonly retry?: CallRetry;
  /** Gets the body as it comes, with the head before it. The answer's body is then empty, and `maxBodyBytes` bounds nothing. */
  onData?(chunk: Buffer, head: Omit<UpstreamAnswer, 'body'>): void;
}

/** When a call is made again. */
export interface CallRetry {
  readonly policy: RetryPolicy;
  /**
   * It changes nothing, so that any condition of the policy counts. Otherwise it is made again only where the upstream cannot
   * have got it, or answered with a status that the policy names.
   */
  readonly repeatable: boolean;
}

export interface UpstreamAnswer {
  readonly status: number;
  /** By lower-case name; repeated ones joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A connection that is nobody else's, with TLS where the upstream has it; nothing was sent on it. Who asked for it ends it. */
export interface UpstreamConnection {
  readonly socket: Duplex;
  /** `Host` of the endpoint. */
  readonly host: string;
  /** What every path at this upstream begins with; empty unless the upstream is a URL with a path. */
  readonly basePath: string;
}

/**
 * Asks an upstream through its connection pools, load balancing and TLS. Rejects with a `GatewayError` whose status is 503
 * when it cannot be reached, 504 when it is too slow, 502 when its answer is not HTTP or too large.
 */
export interface CallUpstream {
  (upstream: ResourceRef, call: UpstreamCall): Promise<UpstreamAnswer>;
  /** Connects to the next endpoint within the connect timeout of the upstream, e.g. for a WebSocket. Rejects as a call does. */
  connect?(upstream: ResourceRef): Promise<UpstreamConnection>;
}
