import {
  clusterName,
  createMetrics,
  DEFAULT_SNAPSHOT_SETTINGS,
  type CallUpstream,
  type Context,
  type Snapshot,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import type { Explorer } from '@edge-gateway/graphql';
import { createUpstreamCaller, createUpstreams } from '@edge-gateway/routing';
import { graphqlPackage, lazyExplorer } from '../roles/graphql-parts.ts';

/** Calls of this process to upstreams: for discovery, and for the GraphQL explorer of the admin port. */
export interface ParentUpstreams {
  /** The newest one. */
  readonly snapshot: Snapshot;
  apply(snapshot: Snapshot): void;
  readonly callUpstream: CallUpstream;
  readonly graphqlExplorer: Explorer;
  close(): Promise<void>;
}

/** Creates them. They open no connection before the first call, check no hosts, and are not part of the statistics. */
export function createParentUpstreams(given: Context, proxy: string): ParentUpstreams {
  const context: Context = { ...given, state: given.state.bind(given), metrics: createMetrics() };
  let snapshot: Snapshot = { proxy, version: '', listeners: [], upstreams: [], settings: DEFAULT_SNAPSHOT_SETTINGS };
  let used: { readonly upstreams: ReturnType<typeof createUpstreams>; readonly call: CallUpstream } | undefined;
  const unchecked = new WeakMap<SnapshotUpstream, SnapshotUpstream>();

  /** The upstream without its health checks, which are those of the workers. */
  function withoutChecks(upstream: SnapshotUpstream): SnapshotUpstream {
    const { healthChecks, outlierDetection, ...spec } = upstream.spec;
    if (!healthChecks && !outlierDetection) return upstream;
    let known = unchecked.get(upstream);
    if (!known) unchecked.set(upstream, (known = { ...upstream, spec }));
    return known;
  }

  function use(): NonNullable<typeof used> {
    if (used) return used;
    const upstreams = createUpstreams(context);
    upstreams.apply(snapshot.upstreams.map(withoutChecks));
    used = { upstreams, call: createUpstreamCaller(upstreams) };
    return used;
  }

  const callUpstream: CallUpstream = Object.assign(async (...args: Parameters<CallUpstream>) => use().call(...args), {
    find: (...args: Parameters<NonNullable<CallUpstream['find']>>) => use().call.find?.(...args),
    connect: async (...args: Parameters<NonNullable<CallUpstream['connect']>>) => use().call.connect!(...args),
  });
  const graphqlExplorer = lazyExplorer(
    () => snapshot.listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ graphqlApis }) => graphqlApis)),
    { ...context, state: context.state.bind(context), callUpstream },
    {
      findUpstream: (ref) => snapshot.upstreams.find(({ name }) => name === clusterName(ref)),
      serverPath: (ref) =>
        graphqlPackage()
          .routedPaths({ snapshots: new Map([[proxy, snapshot]]) })
          .get(clusterName(ref)),
    },
  );
  return {
    get snapshot() {
      return snapshot;
    },
    apply(next) {
      snapshot = next;
      used?.upstreams.apply(next.upstreams.map(withoutChecks));
    },
    callUpstream,
    graphqlExplorer,
    async close() {
      await graphqlExplorer.close();
      await used?.upstreams.close();
    },
  };
}
