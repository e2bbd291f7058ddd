import type { Snapshot } from '../contract/snapshot.ts';
import type { StoredResource, StoreState } from '../resource/stored.ts';
import type { Kind, Resource, ResourceKey, ResourceStatus } from '../resource/resource.ts';
import { authConfigTable } from './reference/auth-configs.ts';
import { changesBetween, type Changes } from './changes.ts';
import { Derived } from './derived.ts';
import { withAttachedOptions } from './listener/attached-options.ts';
import { buildListeners } from './listener/build-listeners.ts';
import { missingOptions } from './listener/missing-options.ts';
import { usedGateways, type DefaultGateways } from './listener/gateways.ts';
import type { LocatedProblem } from './status/report.ts';
import { listsOf, withItems } from './lists.ts';
import { problemsOf, type Memo } from './memo.ts';
import { serviceUpstreamTable, upstreamTable } from './reference/upstreams.ts';
import { servedUpstreams } from './reference/served-upstreams.ts';
import { readSettings } from './translation-settings.ts';
import { proxiesOf } from './snapshot/proxy-resource.ts';
import { snapshotsOf } from './snapshot/snapshots.ts';
import { statusTable } from './status/status-table.ts';
import type { TranslationInput } from './input.ts';
import { runSteps, type Steps } from '../time/slices.ts';

/** The input of a translation. */
export interface TranslateOptions {
  readonly stored: StoreState['stored'];
  /** The Services of a cluster; missing without a cluster. */
  readonly services?: StoreState['services'];
  /** The kinds that are read: references to others are no problem. Default: all. */
  readonly kinds?: ReadonlySet<Kind> | undefined;
  readonly defaultGateways?: DefaultGateways;
  /** True if only `problems` of the result are used: statuses for each proxy may then be those of the memo. */
  readonly problemsOnly?: boolean;
}

/** The result of a translation. */
export interface Translation {
  readonly proxies: readonly Resource[];
  /** By proxy name. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  readonly statuses: ReadonlyMap<ResourceKey, ResourceStatus>;
  /** Every problem once, at the resource where it can be fixed. */
  readonly problems: readonly LocatedProblem[];
  /** For the next translation. */
  readonly memo: Memo;
}

/**
 * Translates resources into what each proxy serves, the status of every resource, and all problems. Pure: the same input
 * and memo give the same result, whatever the order of the resources. With the memo of the translation before, rejected parts
 * keep their last good version, and only what a change touches is built again.
 *
 * @example
 * const first = translate({ stored });
 * const second = translate({ stored: changed }, first.memo); // the same objects where nothing changed
 */
export function translate(options: TranslateOptions, memo?: Memo): Translation {
  return runSteps(translateSteps(options, memo));
}

/** Does the same in steps: one for each virtual service that is built, and one for each status. The memo must not be used by others meanwhile. */
export function* translateSteps(
  { stored, services, kinds, defaultGateways, problemsOnly = false }: TranslateOptions,
  memo?: Memo,
): Steps<Translation> {
  const changes = memo && changesBetween(memo, { stored, services });
  const lists = listsOf(stored, memo?.lists, changes);
  const derived = memo?.derived ?? new Derived();
  const list: TranslationInput['list'] = (kind) => lists.get(kind) ?? [];
  const settings = readSettings({ stored, derived });
  const sources = { stored, services, kinds, derived, settings, list };
  const upstreams = upstreamTable(sources, memo, changes);
  const serviceUpstreams = serviceUpstreamTable(sources, memo, changes);
  const authConfigs = authConfigTable({ stored, derived, kinds, list }, memo, changes);
  const input: TranslationInput = { ...sources, upstreams, serviceUpstreams, authConfigs };
  const gateways = withAttachedOptions(usedGateways(list('Gateway'), input, defaultGateways), input);
  const listeners = yield* buildListeners(gateways, { input, memo, changes });
  const missing = missingOptions([...listeners.values()], memo?.missing);
  const served = servedUpstreams(input, listeners.values(), memo);
  const snapshots = snapshotsOf(
    gateways,
    listeners,
    { served, settings: settings.served, keepsProxies: settings.keepsProxies, derived },
    memo?.snapshots,
  );
  const proxies = proxiesOf(snapshots, input, memo);
  yield;
  const statuses = yield* statusTable({ input, listeners, missing, proxies, changes, problemsOnly }, memo);
  const parts = {
    stored,
    services,
    derived,
    settings,
    lists,
    rejected: rejectedServices(list('VirtualService'), stored, memo, changes),
    upstreams,
    serviceUpstreams,
    authConfigs,
    served,
    listeners,
    missing,
    snapshots,
    proxies,
    statuses,
  };
  yield;
  const problems = problemsOf(parts);
  return Object.freeze({ proxies, snapshots, statuses: statuses.statuses, problems, memo: parts });
}

function rejectedServices(
  all: readonly StoredResource[],
  stored: StoreState['stored'],
  memo: Memo | undefined,
  changes: Changes | undefined,
): readonly StoredResource[] {
  if (!memo || !changes) return all.filter(({ resource }) => !resource);
  const changed = [...changes.keys].filter((key) => key.startsWith('VirtualService/'));
  return withItems(
    memo.rejected,
    changed.map((key) => [key, isRejected(stored.get(key)) ? stored.get(key) : undefined] as const),
    ({ key }) => key,
  );
}

function isRejected(stored: StoredResource | undefined): boolean {
  return stored !== undefined && !stored.resource;
}
