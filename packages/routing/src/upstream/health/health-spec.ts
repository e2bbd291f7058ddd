import type { SnapshotUpstream } from '@edge-gateway/core';

/** An active health check, as the upstream declares it. */
export type HealthCheck = NonNullable<SnapshotUpstream['spec']['healthChecks']>[number];

/** Outlier detection, as the upstream declares it. */
export type OutlierDetection = NonNullable<SnapshotUpstream['spec']['outlierDetection']>;
