import type { ClusterService } from '../../contract/cluster-services.ts';
import type { FieldProblem } from '../../resource/problem.ts';
import type { SnapshotAuthConfig, SnapshotUpstream } from '../../contract/snapshot.ts';
import type { StoredResource } from '../../resource/stored.ts';
import type { ResourceKey } from '../../resource/resource.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { Problems } from '../status/report.ts';

/** The translation of one AuthConfig. */
export interface AuthConfigEntry {
  readonly stored: StoredResource;
  /** Missing if it cannot be used. */
  readonly config?: SnapshotAuthConfig;
  readonly problems: Problems;
  /** Why references to it are rejected. */
  readonly fault?: FieldProblem;
  /** Warning for references to it. */
  readonly warning?: string;
}

export type AuthConfigTable = ReadonlyMap<ResourceKey, AuthConfigEntry>;

/** The translation of one upstream. */
export interface UpstreamEntry {
  readonly stored: StoredResource;
  /** The Service that it was made with. */
  readonly service?: ClusterService | undefined;
  /** Missing if it cannot be served. */
  readonly upstream?: SnapshotUpstream;
  readonly problems: Problems;
  /** Why references to it are broken. */
  readonly fault?: FieldProblem;
  /** Warning for references to it. */
  readonly warning?: string;
  /** Version of its functions, which routes contain. */
  readonly functions?: string | undefined;
  /** The `sslConfig` that was last served, if it needs a secret. */
  readonly goodSsl?: SslConfig;
}

export type SslConfig = NonNullable<UpstreamSpec['sslConfig']>;

export type UpstreamTable = ReadonlyMap<ResourceKey, UpstreamEntry>;
