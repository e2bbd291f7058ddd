import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Endpoint, SnapshotUpstream } from '@edge-gateway/core';

/** One upstream with its endpoints, connection pools and statistics. Outlives reloads as long as its snapshot is the same. */
export interface Upstream {
  readonly name: string;
  readonly snapshot: SnapshotUpstream;
  /** The next endpoint by weighted round robin; `undefined` when there is none. */
  pick(): Endpoint | undefined;
}

/** All upstreams of a data plane. */
export interface Upstreams {
  get(name: string): Upstream | undefined;
  /** Takes the upstreams of a snapshot: keeps unchanged ones with their connections, lets removed ones finish and closes them. */
  apply(upstreams: readonly SnapshotUpstream[]): void;
  close(): Promise<void>;
}

/** Where an upgrade goes, and how it looks there. */
export interface UpgradeTarget {
  readonly upstream: Upstream;
  /** Path and query, canonical and rewritten. */
  readonly path: string;
  /** Flat, without hop-by-hop headers; the forwarder adds `connection` and `upgrade`. */
  readonly headers: readonly string[];
  /** The endpoint to use when the caller had to pick it already; else `upstream.pick()`. */
  readonly endpoint?: Endpoint;
  /** Called once at the end: with the status sent to the client (101 when the upgrade went through), and what to log. */
  onDone?(outcome: UpgradeOutcome): void;
}

export interface UpgradeOutcome {
  readonly status: number;
  readonly flags: string;
  readonly details?: string;
  readonly endpoint?: string;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Hands an upgrade (WebSocket) to an endpoint of an upstream. */
export type ForwardUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer, to: UpgradeTarget) => void;
