import type { Endpoint, SnapshotUpstream } from '@edge-gateway/core';

/** One upstream with its endpoints, connection pools and statistics. Outlives reloads as long as its snapshot is the same. */
export interface Upstream {
  readonly name: string;
  readonly snapshot: SnapshotUpstream;
  /** Returns the next endpoint by weighted round robin; `undefined` if there is none. */
  pick(): Endpoint | undefined;
}

/** All upstreams of a data plane. */
export interface Upstreams {
  get(name: string): Upstream | undefined;
  /** Applies the upstreams of a snapshot: keeps unchanged ones with their connections, closes removed ones after their requests. */
  apply(upstreams: readonly SnapshotUpstream[]): void;
  close(): Promise<void>;
}
