import type { Derived } from './derived.ts';
import type { Kind, Resource, ResourceKey } from '../resource/resource.ts';
import type { Snapshot, SnapshotUpstream } from '../contract/snapshot.ts';
import type { StoredResource, StoreState } from '../resource/stored.ts';
import type { AuthConfigTable } from './reference/tables.ts';
import type { ListenerBuild } from './listener/listeners.ts';
import type { MissingOptions } from './listener/missing-options.ts';
import type { LocatedProblem, FoundProblem } from './status/report.ts';
import type { TranslationSettings } from './translation-settings.ts';
import type { StatusTable } from './status/statuses.ts';
import type { UpstreamTable } from './reference/tables.ts';

/** The memo of a translation, so that the next one rebuilds only what changed. It never changes a result. */
export interface Memo {
  readonly derived: Derived;
  readonly stored: StoreState['stored'];
  readonly services: StoreState['services'];
  readonly settings: TranslationSettings;
  readonly lists: ReadonlyMap<Kind, readonly StoredResource[]>;
  /** Virtual services without a version in use, sorted by key. */
  readonly rejected: readonly StoredResource[];
  readonly upstreams: UpstreamTable;
  readonly serviceUpstreams: UpstreamTable;
  readonly authConfigs: AuthConfigTable;
  readonly served: readonly SnapshotUpstream[];
  /** By proxy and gateway. */
  readonly listeners: ReadonlyMap<string, ListenerBuild>;
  readonly missing: MissingOptions;
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  readonly proxies: readonly Resource[];
  readonly statuses: StatusTable;
}

/** Returns every problem of the translation once, at the resource where it can be fixed. */
export function problemsOf({ stored, statuses, listeners }: Omit<Memo, 'proxies'>): readonly LocatedProblem[] {
  const found = new Map<string, LocatedProblem>();
  const add = (key: ResourceKey, problem: FoundProblem): void => {
    if (problem.repeated || problem.unread) return;
    found.set(`${key} ${problem.severity} ${problem.message} ${JSON.stringify(problem.path)}`, { key, problem });
  };
  for (const [key, { problems }] of statuses.faulty) {
    if (key.startsWith('Proxy/') && !stored.has(key)) continue;
    for (const problem of problems.flat()) add(key, problem);
  }
  for (const { owner, gateway, problems, tls } of listeners.values()) {
    if (!gateway.stored) for (const problem of problems) add(owner, problem);
    for (const { key, problem } of tls?.located ?? []) add(key, problem);
  }
  return [...found.values()];
}
