import {
  clusterName,
  differingKeys,
  keyOf,
  type CallUpstream,
  type ControlPlaneState,
  type Observed,
  type Logger,
  type Metrics,
  type Resource,
  type ResourceKey,
} from '@edge-gateway/core';
import type { GraphQLApiSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { isDeepStrictEqual } from 'node:util';
import { changePolicyOf, settingsOf } from './judge-schema.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import { createPoll } from './poll.ts';
import { namedPath, routedPaths, SERVER_PATH } from './server-path.ts';
import { createWatchedServer, serverOf, type WatchedApi } from './watched-server.ts';

/** Options of {@link createSchemaWatch}. */
export interface SchemaWatchOptions {
  readonly callUpstream: CallUpstream;
  /** Receives what was observed, e.g. `observe` of a control plane; `undefined` if an API is removed. */
  readonly observe: (key: ResourceKey, observed: Observed | undefined) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Polling interval of a server in milliseconds. Default 15,000. */
  readonly intervalMs?: number;
}

/** A loop that compares the schemas of GraphQL servers with those of their APIs. */
export interface SchemaWatch {
  /** Sets the newest resources. Servers of new and changed APIs are polled at once. */
  update(state: Pick<ControlPlaneState, 'resources' | 'snapshots'>): void;
  /** Polls every server now. Resolves when that is done. */
  look(): Promise<void>;
  close(): void;
}

const MAX_LINES = 100;

/**
 * Creates the loop that reads the schemas of the servers of remote GraphQLApis, reports differences from the declared schema, or from
 * the previous one if none is declared, and provides the schema of those. Generated APIs belong to discovery.
 *
 * @example
 * const watch = createSchemaWatch({ callUpstream, observe: controlPlane.observe, log, metrics });
 * controlPlane.subscribe((state) => watch.update(state));
 */
export function createSchemaWatch(options: SchemaWatchOptions): SchemaWatch {
  const servers = new Map<ResourceKey, ReturnType<typeof createWatchedServer>>();
  const lastObserved = new Map<ResourceKey, Observed>();
  let apis = new Map<ResourceKey, WatchedApi>();
  const poll = createPoll(ask, () => apis.keys(), options.intervalMs);

  async function ask(key: ResourceKey): Promise<void> {
    const api = apis.get(key);
    if (!api || poll.closed) return;
    const server = servers.get(key) ?? createWatchedServer(options.callUpstream);
    servers.set(key, server);
    const { observed, changes } = await server.look(api);
    if (poll.closed || !apis.has(key)) return;
    report(api, changes, options);
    if (isDeepStrictEqual(lastObserved.get(key), observed)) return;
    lastObserved.set(key, observed);
    options.observe(key, observed);
  }

  let known: ReadonlyMap<ResourceKey, Resource> = new Map();

  return {
    update(state) {
      const changedKeys = differingKeys(known, state.resources);
      known = state.resources;
      // No server is watched, and nothing that changed names one.
      if (apis.size === 0 && ![...changedKeys].some(mayNameServer)) return;
      const before = apis;
      apis = watchedApis(state);
      for (const key of before.keys()) {
        if (apis.has(key)) continue;
        servers.delete(key);
        if (lastObserved.delete(key)) queueMicrotask(() => options.observe(key, undefined));
      }
      const changed = [...apis].filter(([key, api]) => !isDeepStrictEqual(before.get(key), api));
      if (changed.length > 0) void poll.start(changed.map(([key]) => key));
    },
    look: () => poll.start(apis.keys()),
    close: poll.close,
  };
}

function mayNameServer(key: ResourceKey): boolean {
  return key.startsWith('GraphQLApi/') || key.startsWith('Upstream/');
}

/** Returns the configured remote APIs whose upstream exists. */
function watchedApis({ resources, snapshots }: Parameters<SchemaWatch['update']>[0]): Map<ResourceKey, WatchedApi> {
  const policy = changePolicyOf(settingsOf(resources));
  let routed: ReadonlyMap<string, string> | undefined;
  const apis = new Map<ResourceKey, WatchedApi>();
  for (const [key, resource] of resources) {
    if (resource.kind !== 'GraphQLApi' || resource.origin.file.startsWith('memory:discovery/')) continue;
    const api = resource as Resource<GraphQLApiSpec>;
    const upstream = serverOf(api);
    const server = upstream && (resources.get(keyOf('Upstream', upstream)) as Resource<UpstreamSpec> | undefined);
    if (!server) continue;
    routed ??= routedPaths({ snapshots });
    const path = namedPath(server.spec) ?? routed.get(clusterName(api.metadata)) ?? SERVER_PATH;
    apis.set(key, { resource: api, server, upstream, path, policy });
  }
  return apis;
}

function report(
  { resource, upstream }: WatchedApi,
  changes: readonly SchemaChange[],
  { log, metrics }: SchemaWatchOptions,
): void {
  const { name, namespace } = resource.metadata;
  const prefix = resource.spec.statPrefix || `${namespace}_${name}`;
  for (const { level } of changes) {
    const path = `${prefix}.graphql.schema_changes_${level}`;
    metrics.counter({ path, metric: `envoy_${path}`.replaceAll(/[^a-zA-Z0-9_]/g, '_') }).value++;
  }
  const shown = { api: `${namespace}.${name}`, upstream: upstream.name };
  for (const { level, path, message } of changes.slice(0, MAX_LINES)) {
    const line = { ...shown, severity: level, path, change: message };
    if (level === 'safe') log.info(line, 'schema of remote server changed');
    else log.warn(line, 'schema of remote server changed');
  }
}
