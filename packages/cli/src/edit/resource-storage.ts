import type { ControlPlaneState, ResourceKey, SourceChange } from '@edge-gateway/core';

/** Which problems a change may add. */
export interface Tolerance {
  /** References to missing resources are only warnings. */
  readonly missingReferences?: boolean;
  /** Those of changed resources are. */
  readonly missingReferencesOfChanged?: boolean;
}

/** A changed unit of a storage. */
export interface ChangedUnit {
  readonly unit: string;
  /** `undefined` if it is removed. */
  readonly text: string | undefined;
  /** As read; `undefined` for a new one. */
  readonly before: string | undefined;
  /** Created for one resource; other users must not read it. */
  readonly isOwn: boolean;
}

/** Where commands read and change resources: a directory, or a cluster. A unit is what is replaced as a whole: a file, or an object. */
export interface ResourceStorage {
  /** Problems that it leaves to the gateway. */
  readonly tolerance: Tolerance;
  /** Returns the documents of all units. */
  read(): Promise<SourceChange>;
  /** Validates and translates documents as a gateway would. */
  translate(written: SourceChange): Promise<ControlPlaneState>;
  /** The text of a unit; `undefined` if it is missing. */
  textOf(unit: string): string | undefined;
  /** The unit of a new resource. */
  sourceKeyOf(key: ResourceKey): string;
  /** Names a unit in messages. */
  shown(unit: string): string;
  /** Describes where a new resource is, after its name. */
  placeOf(unit: string): string;
  /** Writes changes, unless another program has changed the units in the meantime. */
  write(changed: readonly ChangedUnit[]): Promise<void>;
  /** Runs work while no other gatewayctl changes the storage, if that is possible. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}
