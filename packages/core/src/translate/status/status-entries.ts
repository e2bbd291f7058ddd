import type { ResourceKey, ResourceStatus, StatusReport } from '../../resource/resource.ts';
import type { StatusEntry } from './statuses.ts';

/** The status of every resource, and its input. */
export interface StatusTable {
  readonly entries: ReadonlyMap<ResourceKey, StatusEntry>;
  readonly statuses: ReadonlyMap<ResourceKey, ResourceStatus>;
  /** The status of a resource for each of its proxies. */
  readonly reports: ReadonlyMap<string, Subresource>;
}

/** The key of a proxy, and the status of a resource for it. */
export type Subresource = readonly [string, StatusReport];
