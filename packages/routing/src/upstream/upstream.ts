import type { HostState, SnapshotUpstream } from '@edge-gateway/core';
import type { Host } from './hosts/host.ts';
import type { PickContext } from './hosts/pick-context.ts';

/** One upstream with its hosts, connection pools and statistics. Outlives reloads as long as its snapshot is the same. */
export interface Upstream {
  readonly name: string;
  readonly snapshot: SnapshotUpstream;
  /** The states of its hosts. */
  readonly hostStates: readonly HostState[];
  /** Returns the host for the next request by the load balancing of the upstream; `undefined` if there is none. */
  pick(context?: PickContext): Host | undefined;
}

/** All upstreams of a data plane. */
export interface Upstreams {
  get(name: string): Upstream | undefined;
  /** Applies the upstreams of a snapshot: keeps unchanged ones with their connections, closes removed ones after their requests. */
  apply(upstreams: readonly SnapshotUpstream[]): void;
  close(): Promise<void>;
}
