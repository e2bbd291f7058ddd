import type { Context, SnapshotUpstream } from '@edge-gateway/core';
import { Cluster, type ClusterEnvironment, type Http2Client } from './cluster.ts';
import { Deadlines } from './deadlines.ts';
import { createLookup, type Lookup } from './dns/lookup.ts';
import { createWatchedNames } from './dns/watched-names.ts';
import type { Upstreams } from './upstream.ts';

/** Creates the parts that clusters share. */
export function createClusterEnvironment(
  lookup: Lookup = createLookup(),
  http2Client?: Http2Client,
): ClusterEnvironment {
  return { deadlines: new Deadlines(), names: createWatchedNames(lookup), http2Client };
}

/**
 * Creates the upstreams of a data plane, initially none. Certificates are read through `context.secrets` at each `apply`;
 * if one changed, new connections use it. An upstream whose certificates are missing or invalid has no endpoint
 * to pick: its requests get 503 and are never sent unverified. `close` resolves when the last exchange has ended.
 *
 * @example
 * const upstreams = createUpstreams(context);
 * upstreams.apply(snapshot.upstreams);
 * forward(req, res, upstreams.get('api_gw-system')!, head);
 */
export function createUpstreams(context: Context, lookup?: Lookup, http2Client?: Http2Client): Upstreams {
  let clusters = new Map<string, Cluster>();
  const closing = new Set<Promise<void>>();
  const environment = createClusterEnvironment(lookup, http2Client);

  function retire(cluster: Cluster): void {
    const { name } = cluster;
    const done: Promise<void> = cluster.close().then(() => {
      closing.delete(done);
      // Last, because requests in progress were still counted.
      if (!clusters.has(name)) cluster.stats.forget();
    });
    closing.add(done);
  }

  return {
    get: (name) => clusters.get(name),
    apply(upstreams: readonly SnapshotUpstream[]) {
      const before = clusters;
      clusters = new Map();
      for (const snapshot of upstreams) {
        const known = before.get(snapshot.name);
        if (known?.snapshot === snapshot) known.refresh();
        clusters.set(
          snapshot.name,
          known?.snapshot === snapshot ? known : new Cluster(snapshot, context, environment, known),
        );
      }
      for (const [name, cluster] of before) {
        if (clusters.get(name) === cluster) continue;
        if (!clusters.has(name)) cluster.stats.forget();
        retire(cluster);
      }
    },
    async close() {
      for (const cluster of clusters.values()) retire(cluster);
      clusters = new Map();
      await Promise.all(closing);
    },
  };
}
