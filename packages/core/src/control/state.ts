import type { Secrets, Snapshot, SnapshotAuthConfig, SnapshotSettings } from '../contract/snapshot.ts';
import type { FieldProblem, Problem } from '../resource/problem.ts';
import type { Resource, ResourceKey, ResourceStatus } from '../resource/resource.ts';
import type { UnservedListener } from '../translate/listener/unserved-listeners.ts';

/** The state of the control plane at one revision. Frozen. */
export interface ControlPlaneState {
  /** Number of applied changes, from 1. */
  readonly revision: number;
  /** Milliseconds that the translation took. */
  readonly translationMs: number;
  /** The resources in use: valid ones, and the last good version of rejected ones. */
  readonly resources: ReadonlyMap<ResourceKey, Resource>;
  /** The documents of rejected resources without a good version, as written but without secret values. */
  readonly rejected: ReadonlyMap<ResourceKey, object>;
  /**
   * Every problem once, sorted by file and line: of all documents, including those without a readable name, and problems
   * between resources. Logs, metrics, admin pages and the CLI list and count these.
   */
  readonly issues: readonly Problem[];
  readonly statuses: ReadonlyMap<ResourceKey, ResourceStatus>;
  /** Proxy resources in the shape of the reference (routing 5.4). */
  readonly proxies: readonly Resource[];
  /** By proxy name. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  /** Required listeners that no snapshot contains, by proxy name. */
  readonly unservedListeners: ReadonlyMap<string, readonly UnservedListener[]>;
  /** Ports of default gateways that are not opened because there are Gateway resources. */
  readonly replacedDefaultPorts: readonly number[];
  readonly secrets: Secrets;
  /** All AuthConfigs, also those that no route refers to. Unchanged ones are the same objects as before. */
  readonly authConfigs: ReadonlyMap<ResourceKey, KnownAuthConfig>;
  /** True if the Services of the cluster could not be listed in time: what depends on them is missing. */
  readonly lacksServices?: true;
  /** The Settings for services. The same object while its content does not change. */
  readonly settings: SnapshotSettings;
}

/** An AuthConfig with its references resolved, or the reason why it cannot be used. */
export interface KnownAuthConfig {
  readonly config?: SnapshotAuthConfig | undefined;
  readonly fault?: FieldProblem | undefined;
}
