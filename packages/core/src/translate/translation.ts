import type { Resource, ResourceKey, ResourceStatus } from '../resource/resource.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import type { StoreState } from '../control/store.ts';
import type { Memo } from './memo.ts';
import type { LocatedProblem } from './status/report.ts';

/** The default gateways, used if there is no Gateway resource (reference: routing 5.1). */
export interface DefaultGateways {
  /** Default `::`. */
  readonly bindAddress?: string;
  /** Default 8080. */
  readonly httpPort?: number;
  /** Default 8443. */
  readonly httpsPort?: number;
  /** Default `gateway-proxy`. */
  readonly proxyName?: string;
}

/** The input of a translation. */
export interface TranslateInput {
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
