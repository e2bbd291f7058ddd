import type { Loggers } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { Issue } from './parse/issue.ts';
import type { Resource, ResourceKey, ResourceStatus } from './resource.ts';
import type { Secrets, Snapshot } from './snapshot.ts';
import type { Source } from './source/source.ts';
import type { DefaultGateways } from './translate/translation.ts';

/** All that the control plane knows at one revision. Frozen. */
export interface ControlPlaneState {
  /** Counts the changes taken in, from 1. */
  readonly revision: number;
  /** The resources in use: valid ones, and the last good version of refused ones. */
  readonly resources: ReadonlyMap<ResourceKey, Resource>;
  /** Every problem of every written document, also of those without a readable name. */
  readonly issues: readonly Issue[];
  readonly statuses: ReadonlyMap<ResourceKey, ResourceStatus>;
  /** Proxy resources as the reference shapes them (routing 5.4). */
  readonly proxies: readonly Resource[];
  /** By proxy name. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  readonly secrets: Secrets;
}

export interface ControlPlaneOptions {
  readonly source: Source;
  readonly defaultGateways?: DefaultGateways;
  /** Default: silent. */
  readonly log?: Loggers;
  readonly metrics?: Metrics;
}

/** source → validate → store → translate, kept up to date. */
export interface ControlPlane {
  /** The newest state; `undefined` until `start` resolved. */
  readonly state: ControlPlaneState | undefined;
  /** Resolves when the first complete state is there, however many resources in it are refused. */
  start(): Promise<void>;
  /** Calls back with each new state, and at once with the present one if there is one. Gives the way to unsubscribe. */
  subscribe(listener: (state: ControlPlaneState) => void): () => void;
  close(): Promise<void>;
}
