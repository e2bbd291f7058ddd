import type { Secrets, SnapshotSettings } from '@edge-gateway/core';

/** What the dump of a part needs beside the part. */
export interface DumpContext {
  readonly secrets: Secrets;
  readonly settings: SnapshotSettings;
}
