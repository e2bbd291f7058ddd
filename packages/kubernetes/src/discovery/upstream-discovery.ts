import { gatewayNamespace, type Logger, type Metrics } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import type { ClusterClient } from '../client/cluster-client.ts';
import type { WriteLimit } from '../client/write-limit.ts';
import { typeOfKind } from '../source/cluster-kinds.ts';
import type { ClusterObject } from '../watch/cluster-object.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';
import type { WatchedServices } from './cluster-services.ts';
import {
  planUpstreams,
  readUpstream,
  type DiscoveryProblem,
  type ExistingUpstream,
  type UpstreamDiscoverySettings,
} from './upstream-plan.ts';
import { createUpstreamWrites } from './upstream-writes.ts';

/** Options of {@link createUpstreamDiscovery}. */
export interface UpstreamDiscoveryOptions {
  readonly client: ClusterClient;
  readonly services: WatchedServices;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly timing?: Partial<ReflectorTiming>;
  /** Default: none besides that of the API server. */
  readonly limit?: Pick<WriteLimit, 'acquire'>;
}

/** Writes Upstreams for Services. */
export interface UpstreamDiscovery {
  /** Sets the newest Settings. */
  setSettings(settings: SettingsSpec): void;
  /** Writes only while it leads. */
  setLeading(isLeading: boolean): void;
  /** Ports of Services without an upstream, and annotations without effect. */
  problems(): readonly DiscoveryProblem[];
  close(): Promise<void>;
}

const UPSTREAMS = typeOfKind('Upstream');
/** Changes within this time are one plan. */
const COLLECT_MS = 100;
/** After work that failed as a whole. */
const RETRY_MS = 10_000;

/** Returns the settings of discovery. */
function upstreamDiscoverySettings({
  discoveryNamespace,
  discovery,
  upstreamOptions,
}: SettingsSpec): UpstreamDiscoverySettings {
  const { enabled = true, watchLabels = {} } = discovery?.udsOptions ?? {};
  const globalAnnotations = upstreamOptions?.globalAnnotations ?? {};
  return { namespace: discoveryNamespace || gatewayNamespace(), enabled, watchLabels, globalAnnotations };
}

/**
 * Keeps the Upstreams of all Services up to date by server-side apply under its own field manager, while it leads. It reads what is there
 * first, so that a restart writes nothing; it deletes nothing before all Services and Upstreams are known.
 */
export function createUpstreamDiscovery({
  client,
  services,
  log,
  metrics,
  timing,
  limit,
}: UpstreamDiscoveryOptions): UpstreamDiscovery {
  const closing = new AbortController();
  const { signal } = closing;
  const stat = (name: string) => ({ path: `discovery.${name}`, metric: `api_gw_vendor_io_discovery_${name}` });
  const stats = { written: metrics.counter(stat('written')), failed: metrics.counter(stat('failed')) };
  const writes = createUpstreamWrites({ client, log, stats, signal, limit, isWanted: () => isLeading });
  metrics.computed(stat('problems'), () => problems.length);
  /** Reasons by Service and upstream, each of which is logged once. */
  let reported = new Set<string>();
  let problems: readonly DiscoveryProblem[] = [];
  let settings: UpstreamDiscoverySettings | undefined;
  let isLeading = false;
  let upstreams: FollowedUpstreams | undefined;
  const plans = createScheduledWork({ collectMs: COLLECT_MS, retryMs: RETRY_MS, log, work });
  const schedule = (): void => plans.schedule();

  async function work(): Promise<void> {
    if (!isLeading || !settings || !services.services || !upstreams?.isComplete) return;
    const plan = planUpstreams({ services: services.services.values(), existing: upstreams.byName, settings });
    problems = plan.problems;
    report();
    const nextMs = await writes.send(plan, upstreams);
    if (nextMs !== undefined) plans.schedule(nextMs);
  }

  function report(): void {
    const now = new Set(problems.map((problem) => JSON.stringify(problem)));
    for (const problem of problems)
      if (!reported.has(JSON.stringify(problem))) log.warn({ ...problem }, 'no upstream discovered');
    reported = now;
  }

  const unsubscribe = services.subscribe(schedule);
  return {
    setSettings(spec) {
      const next = upstreamDiscoverySettings(spec);
      services.setDefaults(next.globalAnnotations);
      const isSamePlace = settings?.namespace === next.namespace;
      settings = next;
      if (!isSamePlace) {
        void upstreams?.close();
        upstreams = followUpstreams({ client, namespace: next.namespace, log, timing, onChange: schedule });
      }
      schedule();
    },
    setLeading(leads) {
      if (isLeading === leads) return;
      isLeading = leads;
      schedule();
    },
    problems: () => problems,
    async close() {
      closing.abort();
      unsubscribe();
      await Promise.all([plans.close(), upstreams?.close()]);
    },
  };
}

interface FollowOptions {
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
  onChange(): void;
}

/** The Upstreams of one namespace. */
interface FollowedUpstreams {
  readonly byName: ReadonlyMap<string, ExistingUpstream>;
  readonly isComplete: boolean;
  readonly namespace: string;
  /** Notes what the API server returned after a write, before the watch delivers it. */
  note(name: string, object: ClusterObject | undefined): void;
  close(): Promise<void>;
}

function followUpstreams({ client, namespace, log, timing, onChange }: FollowOptions): FollowedUpstreams {
  const byName = new Map<string, ExistingUpstream>();
  let isComplete = false;
  const reflector: Reflector = createReflector<ExistingUpstream>({
    client,
    type: UPSTREAMS,
    namespace,
    log,
    timing,
    select: readUpstream,
    onChange({ changed, deleted }) {
      for (const upstream of changed.values()) byName.set(upstream.name, upstream);
      for (const key of deleted) byName.delete(key.slice(key.indexOf('/') + 1));
      onChange();
    },
  });
  void reflector.start().then(() => {
    isComplete = true;
    onChange();
  });
  return {
    byName,
    get isComplete() {
      return isComplete;
    },
    namespace,
    note(name, object) {
      if (object) byName.set(name, readUpstream(object));
      else byName.delete(name);
    },
    close: () => reflector.close(),
  };
}
