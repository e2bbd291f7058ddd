import type { Resource, ResourceKey, ResourceStatus } from '../resource/resource.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import type { StoreState } from '../control/store.ts';

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

export interface TranslateOptions {
  readonly defaultGateways?: DefaultGateways;
}

/** The result of a translation: proxies, their snapshots, and the status of every resource. */
export interface Translation {
  readonly proxies: readonly Resource[];
  /** By proxy name. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  readonly statuses: ReadonlyMap<ResourceKey, ResourceStatus>;
}

/**
 * Pure: the same state, options and previous translation have the same result, in any order of the resources.
 * `previous` contains the last good version of rejected parts, and lets unchanged parts be reused.
 */
export type Translate = (state: StoreState, options: TranslateOptions, previous?: Translation) => Translation;
