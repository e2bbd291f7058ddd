import type { Issue } from './parse/issue.ts';
import type { Resource, ResourceKey } from './resource.ts';

/**
 * What is known of one resource. The same object as long as nothing about it changes, so readers compare by identity.
 */
export interface StoredResource {
  readonly key: ResourceKey;
  /** The version in use: the newest when it is valid, else the last one that was; `undefined` if there never was one. */
  readonly resource: Resource | undefined;
  /** True when `resource` is an older version because the newest was refused. */
  readonly stale: boolean;
  /** Problems of the newest version: errors (then it was refused) and warnings (e.g. a field not supported yet). */
  readonly issues: readonly Issue[];
}

/** The resources at one moment. */
export interface StoreState {
  /** Counts the changes taken in, from 1. */
  readonly revision: number;
  readonly stored: ReadonlyMap<ResourceKey, StoredResource>;
  /** Problems of documents that cannot be filed under a key: no kind, no name, unreadable. */
  readonly unfiled: readonly Issue[];
}
