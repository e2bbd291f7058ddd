import type { Resource, ResourceKey, ResourceStatus } from '../resource/resource.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import type { StoreState } from '../control/store.ts';
import type { Memo } from './memo.ts';
import type { DefaultGateways } from './listener/default-gateways.ts';
import type { LocatedProblem } from './status/report.ts';

/** The input of a translation. */
export interface TranslateOptions {
  readonly stored: StoreState['stored'];
  readonly defaultGateways?: DefaultGateways;
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
