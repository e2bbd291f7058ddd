import { DEFAULT_NAMESPACE, type Counter, type Logger, type Metrics } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import { createBackoff, type Backoff } from '../watch/backoff.ts';
import { typeOfKind } from '../source/cluster-kinds.ts';
import { pathOf, type ClusterObject } from '../watch/cluster-object.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';
import type { WatchedServices } from './cluster-services.ts';
import {
  FIELD_MANAGER,
  planUpstreams,
  readUpstream,
  type DiscoveryProblem,
  type ExistingUpstream,
  type UpstreamDiscoverySettings,
  type UpstreamDraft,
} from './upstream-plan.ts';

export interface UpstreamDiscoveryOptions {
  readonly client: ClusterClient;
  readonly services: WatchedServices;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly timing?: Partial<ReflectorTiming>;
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
/** Requests at a time. */
const CONCURRENCY = 8;
/** Between attempts after the API server did not respond, or rejected an upstream. */
const BACKOFF = { firstMs: 1_000, maxMs: 60_000, resetMs: 120_000 };

/** One request. */
type Write =
  | { readonly type: 'apply'; readonly name: string; readonly draft: UpstreamDraft }
  | { readonly type: 'delete'; readonly name: string; readonly upstream: ExistingUpstream };

/** Returns the settings of discovery. */
export function upstreamDiscoverySettings({
  discoveryNamespace,
  discovery,
  upstreamOptions,
}: SettingsSpec): UpstreamDiscoverySettings {
  const { enabled = true, watchLabels = {} } = discovery?.udsOptions ?? {};
  const globalAnnotations = upstreamOptions?.globalAnnotations ?? {};
  return { namespace: discoveryNamespace || DEFAULT_NAMESPACE, enabled, watchLabels, globalAnnotations };
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
}: UpstreamDiscoveryOptions): UpstreamDiscovery {
  const closing = new AbortController();
  const { signal } = closing;
  const backoff = createBackoff(BACKOFF);
  const stat = (name: string) => ({ path: `discovery.${name}`, metric: `api_gw_vendor_io_discovery_${name}` });
  const stats = { written: metrics.counter(stat('written')), failed: metrics.counter(stat('failed')) };
  metrics.computed(stat('problems'), () => problems.length);
  /** Reasons by Service and upstream, each of which is logged once. */
  let reported = new Set<string>();
  let problems: readonly DiscoveryProblem[] = [];
  let settings: UpstreamDiscoverySettings | undefined;
  let isLeading = false;
  let upstreams: FollowedUpstreams | undefined;
  const plans = createScheduledWork({ collectMs: COLLECT_MS, work });
  const schedule = (): void => plans.schedule();

  async function work(): Promise<void> {
    if (!isLeading || !settings || !services.services || !upstreams?.isComplete) return;
    const plan = planUpstreams({ services: services.services.values(), existing: upstreams.byName, settings });
    problems = plan.problems;
    report();
    const pending: Write[] = [
      ...plan.apply.map((draft) => ({ type: 'apply', name: draft.metadata.name, draft }) as const),
      ...plan.remove.map((upstream) => ({ type: 'delete', name: upstream.name, upstream }) as const),
    ];
    if (pending.length === 0) return;
    const failures = await writeAll(pending, { client, upstreams, stats, signal, isWanted: () => isLeading });
    if (failures.length === 0 || signal.aborted) return;
    const [first] = failures;
    log.warn(
      { count: failures.length, upstream: first!.name, reason: first!.reason },
      'failed to write discovered upstreams',
    );
    await retryLater(backoff, signal);
    schedule();
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

async function retryLater(backoff: Backoff, signal: AbortSignal): Promise<void> {
  try {
    await backoff.pause(signal);
  } catch {
    // Closed.
  }
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

interface WriteContext {
  readonly client: ClusterClient;
  readonly upstreams: FollowedUpstreams;
  readonly stats: { readonly written: Counter; readonly failed: Counter };
  readonly signal: AbortSignal;
  /** False as soon as another process leads. */
  isWanted(): boolean;
}

interface Failure {
  readonly name: string;
  readonly reason: string;
}

/** Sends the requests, a few at a time; stops when the API server does not respond. */
async function writeAll(pending: readonly Write[], context: WriteContext): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  let next = 0;
  let isUnreachable = false;
  async function send(): Promise<void> {
    while (next < pending.length && !isUnreachable && context.isWanted() && !context.signal.aborted) {
      const write = pending[next++]!;
      try {
        await sendWrite(write, context);
        context.stats.written.value += 1;
      } catch (error) {
        context.stats.failed.value += 1;
        failures.push({ name: write.name, reason: connectionProblem(error) });
        isUnreachable ||= !isApiError(error);
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, pending.length) }, send));
  return failures;
}

async function sendWrite(write: Write, { client, upstreams, signal }: WriteContext): Promise<void> {
  const path = pathOf(UPSTREAMS, upstreams.namespace, write.name);
  if (write.type === 'apply') {
    const object = await client.send<ClusterObject>({
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: 'application/apply-patch+yaml',
      body: write.draft,
      signal,
    });
    return upstreams.note(write.name, object);
  }
  const { uid, resourceVersion } = write.upstream;
  try {
    await client.send({ method: 'DELETE', path, body: { preconditions: { uid, resourceVersion } }, signal });
  } catch (error) {
    // It is gone, or was changed in between: the watch tells.
    if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
    return;
  }
  upstreams.note(write.name, undefined);
}
