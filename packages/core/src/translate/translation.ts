import type { Resource, ResourceKey, ResourceStatus } from '../resource/resource.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import type { StoreState } from '../control/store.ts';

/** The gateways that exist when no Gateway resource does (reference: routing 5.1). */
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

/** What translation gives: proxies, what each of them serves, and the status of every resource. */
export interface Translation {
  readonly proxies: readonly Resource[];
  /** By proxy name. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  readonly statuses: ReadonlyMap<ResourceKey, ResourceStatus>;
}

/**
 * Pure: the same state, options and previous translation give the same result, whatever the order of the resources.
 * `previous` gives the last good version of refused parts, and lets unchanged parts be taken over as they are.
 */
export type Translate = (state: StoreState, options: TranslateOptions, previous?: Translation) => Translation;
