import type { Secrets, SnapshotSettings } from '@edge-gateway/core';

/** Context for the dump of a part. */
export interface DumpContext {
  readonly secrets: Secrets;
  readonly settings: SnapshotSettings;
}
