import type { Component, Readiness } from '@edge-gateway/admin';
import {
  clusterName,
  DEFAULT_SNAPSHOT_SETTINGS,
  type CallUpstream,
  type Context,
  type HostState,
  type Listener,
  type ProxyRejection,
  type RequestRecordings,
  type ResourceRef,
  type Snapshot,
  type SnapshotGraphQLApi,
  type SnapshotUpstream,
  type Steps,
  type UnservedListener,
} from '@edge-gateway/core';
import type { Explorer, RedisResults } from '@edge-gateway/graphql';
import {
  createListeners,
  createRecordings,
  createRouter,
  type CompileFailure,
  type ListenersOptions,
  type ListenResult,
  type Listeners,
  type Recordings,
  type RecordingsOptions,
  type RouterOptions,
} from '@edge-gateway/routing';
import type { Store } from '@edge-gateway/rate-limit';
import { TYPE, type Applied, type ProxyState } from '@edge-gateway/xds/resources';
import { createConcerns } from '../concerns.ts';
import type { ServingSettings } from '../settings.ts';
import { graphqlPackage, lazyExplorer, lazyGraphQLAction } from './graphql-parts.ts';
import { releaseLoadingMemory } from '../process/loading-memory.ts';
import { rateLimitStore } from './rate-limit-store.ts';
import { createWarmUp } from './warm-up.ts';

/** A state for a data plane. */
export interface ServedState extends Pick<ProxyState, 'snapshot' | 'unserved'> {
  /** Returns the secrets, for other processes; see `secretsOf`. */
  readonly secrets: () => ProxyState['secrets'];
  /** True if some of them have not been received. Default false. */
  readonly lacksSecrets?: boolean | undefined;
}

/** The result of a state that was applied. */
export interface AppliedState extends Applied {
  /** Resolves when the listeners are open, or have failed. */
  readonly listening: Promise<readonly ListenResult[]>;
}

/** What serves one proxy, in this process or in workers, kept at the newest snapshot. */
export interface DataPlane {
  readonly listeners: Pick<Listeners, 'addresses'>;
  readonly snapshot: Snapshot;
  readonly lastUpdated: Date;
  readonly readiness: Readiness;
  /** Listeners that the resources require and that are not served, with the reason. */
  readonly unserved: readonly UnservedListener[];
  /** Applies a state in steps; the previous one is served until the last step. Requests in progress finish on it. */
  apply(state: ServedState): Steps<AppliedState>;
  setHealthy(healthy: boolean): void;
  /** The GraphQL APIs of the newest snapshot, for the explorer. */
  readonly graphqlExplorer: Explorer;
  /** Brings the statistics and hosts of workers up to date. Missing in this process. */
  readonly refresh?: (what: 'stats' | 'hosts') => Promise<void>;
  /** Tells workers that the ports of this process have changed. Missing in this process. */
  readonly ownPortsChanged?: () => void;
  /** Sends a request to an upstream of the newest snapshot. */
  readonly callUpstream: CallUpstream;
  /** Records single requests. */
  readonly recordings: RequestRecordings;
  /** Returns the states of the hosts of an upstream, by its name. */
  hostStates(upstream: string): readonly HostState[] | undefined;
  components(): readonly Component[];
  /** Not ready any more, no new connections, until what is in progress is done or the limit is over. */
  drain(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A data plane in this process. */
export interface LocalDataPlane extends DataPlane {
  readonly listeners: Listeners;
  readonly recordings: Recordings;
  /** Opens listeners that were withheld. */
  listenAgain(): Promise<readonly ListenResult[]>;
}

/** The parts of a data plane that differ in a worker. */
interface DataPlaneParts {
  /** Counters of rate limits. Default: as in the settings. */
  readonly store?: Store;
  readonly terminal?: RouterOptions['terminal'];
  readonly listeners?: Partial<ListenersOptions>;
  /** Receives the recordings of requests. Default: they are kept. */
  readonly onRecorded?: RecordingsOptions['onRecorded'];
  /** Returns true for a listener that must not open yet. */
  isWithheld?(listener: Listener): boolean;
}

/** The settings of a data plane. */
type DataPlaneSettings = Pick<
  ServingSettings,
  | 'proxyName'
  | 'graphqlCache'
  | 'accessLogOverflow'
  | 'http1Parser'
  | 'proxyProtocolFrom'
  | 'http2Client'
  | 'rateLimitRedis'
  | 'rateLimitRedisCerts'
>;

/** Creates a data plane. It opens no port before the first snapshot. */
export function createDataPlane(
  context: Context,
  settings: DataPlaneSettings,
  parts: DataPlaneParts = {},
): LocalDataPlane {
  const { proxyName: proxy, graphqlCache, accessLogOverflow, http1Parser, proxyProtocolFrom, http2Client } = settings;
  let upstreams = new Map<string, SnapshotUpstream>();
  const findUpstream = (ref: ResourceRef) => upstreams.get(clusterName(ref));
  let cache: RedisResults | undefined;
  if (graphqlCache !== undefined) cache = graphqlPackage().redisResults(graphqlCache, context.log.get('graphql'));
  const graphql = lazyGraphQLAction(() => ({ findUpstream, ...(cache && { cache }) }));
  const rateLimits = rateLimitStore(settings, context);
  const warmUp = createWarmUp(context.log.get('conn_handler'));
  const held: Context = { ...context, state: context.state.bind(context), holdListeners: warmUp.hold };
  const recordings = createRecordings({ now: context.now, ...(parts.onRecorded && { onRecorded: parts.onRecorded }) });
  const router = createRouter({
    concerns: createConcerns(parts.store ?? rateLimits),
    actions: [graphql],
    context: held,
    accessLogOverflow,
    http2Client,
    terminal: parts.terminal,
    isHealthy: () => healthy && !draining,
    recordings,
  });
  const listeners = createListeners({
    router,
    context,
    limits: { http1Parser },
    proxyProtocolFrom,
    ...parts.listeners,
  });
  let snapshot: Snapshot = { proxy, version: '', listeners: [], upstreams: [], settings: DEFAULT_SNAPSHOT_SETTINGS };
  const graphqlExplorer = lazyExplorer(
    () => apisOf(snapshot),
    { ...context, state: context.state.bind(context), callUpstream: router.call },
    {
      findUpstream,
      serverPath: (ref) =>
        graphqlPackage()
          .routedPaths({ snapshots: new Map([[proxy, snapshot]]) })
          .get(clusterName(ref)),
    },
  );
  let lastUpdated = new Date(context.now());
  let failures = new Map<string, string>();
  let applying: Promise<readonly ListenResult[]> = Promise.resolve([]);
  let healthy = true;
  let missing: readonly UnservedListener[] = [];
  let started = false;
  let complete = false;
  let draining = false;

  function unserved(): readonly UnservedListener[] {
    const open = new Set(listeners.addresses().map(({ name }) => name));
    const failed = snapshot.listeners.flatMap(({ name }) =>
      open.has(name) ? [] : [{ name, reason: failures.get(name) ?? 'not opened yet' }],
    );
    return [...failed, ...missing];
  }

  /** True once every listener was served for the first time. */
  function isReady(): boolean {
    if (!complete && started && unserved().length === 0) complete = true;
    return complete;
  }

  async function listenTo(next: Snapshot): Promise<readonly ListenResult[]> {
    if (!started) await releaseLoadingMemory();
    if (warmUp.isNeeded) {
      await listeners.apply(openOnes(next));
      await warmUp.over();
      if (draining) return [];
    }
    const results = await listeners.apply(withoutWithheld(snapshot));
    failures = new Map(results.flatMap(({ name, error }) => (error ? [[name, error.message]] : [])));
    started = true;
    isReady();
    return results;
  }

  function withoutWithheld(next: Snapshot): Snapshot {
    const { isWithheld } = parts;
    return isWithheld ? { ...next, listeners: next.listeners.filter((each) => !isWithheld(each)) } : next;
  }

  /** A snapshot with the listeners that are open already, which wait for nothing. */
  function openOnes(next: Snapshot): Snapshot {
    const open = new Set(listeners.addresses().map(({ name }) => name));
    return { ...next, listeners: next.listeners.filter(({ name }) => open.has(name)) };
  }

  function* apply({ snapshot: next, unserved: absent }: ServedState): Steps<AppliedState> {
    const named = new Map(next.upstreams.map((each) => [each.name, each]));
    upstreams = new Map([...upstreams, ...named]);
    const failures = yield* router.applySteps(next);
    isReady();
    missing = absent;
    upstreams = named;
    snapshot = next;
    lastUpdated = new Date(context.now());
    return { failed: failures.map(rejectionOf), listening: listenLater(next) };
  }

  function listenLater(next: Snapshot): Promise<readonly ListenResult[]> {
    applying = applying.catch(() => []).then(() => (next === snapshot ? listenTo(next) : []));
    return applying;
  }

  return {
    listeners,
    get snapshot() {
      return snapshot;
    },
    get lastUpdated() {
      return lastUpdated;
    },
    get readiness() {
      if (draining || !healthy) return 'DRAINING';
      if (isReady()) return 'LIVE';
      return started ? 'INITIALIZING' : 'PRE_INITIALIZING';
    },
    get unserved() {
      return unserved();
    },
    apply,
    listenAgain: () => listenLater(snapshot),
    callUpstream: router.call,
    recordings,
    hostStates: router.hostStates,
    graphqlExplorer,
    setHealthy: (value) => {
      healthy = value;
    },
    components() {
      const failed = unserved().map((one): Component => ({ ...one, kind: 'listener', state: 'failed' }));
      const open = listeners.addresses().map(({ name }): Component => ({ name, kind: 'listener', state: 'ready' }));
      return [...open, ...failed];
    },
    async drain(limitMs) {
      draining = true;
      warmUp.close();
      await applying.catch(() => {});
      await listeners.drain(limitMs);
    },
    async close() {
      await listeners.close();
      await graphqlExplorer.close();
      await router.close();
      cache?.close();
      rateLimits?.close();
    },
  };
}

function rejectionOf({ listener, virtualHost, field, reason }: CompileFailure): ProxyRejection {
  const at = { field, message: reason };
  if (virtualHost === undefined) return { type: TYPE.listener, resource: listener, ...at };
  return { type: TYPE.virtualHost, resource: `${listener}/${virtualHost}`, ...at };
}

function apisOf({ listeners }: Snapshot): SnapshotGraphQLApi[] {
  return listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ graphqlApis }) => graphqlApis));
}
