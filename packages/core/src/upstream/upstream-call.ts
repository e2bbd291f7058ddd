import type { Duplex } from 'node:stream';
import type { Endpoint, SnapshotUpstream } from '../contract/snapshot.ts';
import type { ResourceRef } from '../resource/resource.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** A small request to an upstream, held in memory. */
export interface UpstreamCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Flat `[name, value, …]`; `host` defaults to the endpoint's address. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
  /** Maximum size of the response body; longer ones are rejected. */
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal;
  /** Retries failed attempts at the next endpoint; all within `timeoutMs`. */
  readonly retry?: CallRetry;
  /** Receives the head and then the body as it arrives. The body of the response is then empty, and `maxBodyBytes` is not applied. */
  onData?(chunk: Buffer, head: Omit<UpstreamResponse, 'body'>): void;
}

/** The retry rules of a call. */
export interface CallRetry {
  readonly policy: RetryPolicy;
  /**
   * True if the call is idempotent, so that every condition of the policy applies. Otherwise it is only retried if the upstream cannot
   * have received it, or returned a status of the policy.
   */
  readonly repeatable: boolean;
}

/** The response to a call of an upstream. */
export interface UpstreamResponse {
  readonly status: number;
  /** By lower-case name; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** All headers as received, flat `[name, value, …]`, for those that cannot be joined. */
  readonly rawHeaders?: readonly string[];
  readonly body: Buffer;
}

/** An unshared connection, with TLS if the upstream uses it; nothing was sent on it. The caller closes it. */
export interface UpstreamConnection {
  readonly socket: Duplex;
  /** `Host` of the endpoint. */
  readonly host: string;
  /** Prefix of every path at this upstream; empty unless the upstream is a URL with a path. */
  readonly basePath: string;
}

/** An upstream as it is now. */
export interface FoundUpstream {
  readonly snapshot: SnapshotUpstream;
  /** Returns the next endpoint by the load balancing of the upstream; `undefined` if there is none. */
  pick(): Endpoint | undefined;
}

/**
 * Calls an upstream through its connection pools, load balancing and TLS. Rejects with a `GatewayError` with status 503
 * if it cannot be reached, 504 on a timeout, 502 if its response is not HTTP or too large.
 */
export interface CallUpstream {
  (upstream: ResourceRef, call: UpstreamCall): Promise<UpstreamResponse>;
  /** Returns an upstream for clients with connections of their own, such as those of gRPC; `undefined` if it does not exist. */
  find?(upstream: ResourceRef): FoundUpstream | undefined;
  /** Connects to the next endpoint within the connect timeout of the upstream, e.g. for a WebSocket. Rejects as a call does. */
  connect?(upstream: ResourceRef): Promise<UpstreamConnection>;
}
