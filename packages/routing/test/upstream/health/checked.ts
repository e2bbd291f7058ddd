import {
  createContext,
  silentLoggers,
  type Context,
  type Endpoint,
  type HostState,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { createUpstreams } from '../../../src/upstream/upstreams.ts';
import type { Cluster } from '../../../src/upstream/cluster.ts';
import type { HealthCheck } from '../../../src/upstream/health/health-spec.ts';
import { snapshotOf, until, whenDone } from '../../forward/harness.ts';

/** Settings with which a check is soon repeated. */
export const OFTEN: HealthCheck = {
  timeout: '5s',
  interval: '0.01s',
  noTrafficInterval: '0.01s',
  healthyThreshold: 1,
  unhealthyThreshold: 1,
};

export interface CheckedUpstreamOptions {
  readonly endpoints?: readonly Partial<Endpoint>[];
  readonly context?: Context;
  readonly upstream?: Partial<SnapshotUpstream>;
}

/** An upstream with a health check, and its hosts. */
export function checkedUpstream(port: number, check: HealthCheck, options: CheckedUpstreamOptions = {}) {
  const context = options.context ?? createContext({ log: silentLoggers });
  const endpoints = (options.endpoints ?? [{}]).map((each) => ({ address: '127.0.0.1', port, weight: 1, ...each }));
  const snapshot = snapshotOf(port, {
    endpoints,
    spec: { healthChecks: [{ ...OFTEN, ...check }] },
    ...options.upstream,
  });
  const upstreams = createUpstreams(context);
  upstreams.apply([snapshot]);
  whenDone(() => upstreams.close());
  const states = (): readonly HostState[] => upstreams.get(snapshot.name)!.hostStates;
  const stat = (name: string): number => valueOf(context, `cluster.${snapshot.name}.${name}`);
  return {
    context,
    upstreams,
    snapshot,
    states,
    stat,
    cluster: () => upstreams.get(snapshot.name) as Cluster,
    flags: (i = 0) => states()[i]!.healthFlags.join(','),
    /** Waits until the first host is healthy, or is not. */
    async becomes(healthy: boolean): Promise<void> {
      await until(() => states()[0]!.healthFlags.includes('failed_active_hc') !== healthy, `healthy: ${healthy}`);
    },
    /** Waits for the end of `count` more checks. */
    async checks(count: number): Promise<void> {
      const done = (): number => stat('health_check.success') + stat('health_check.failure');
      const end = done() + count;
      await until(() => done() >= end, 'checks');
    },
  };
}

function valueOf({ metrics }: Context, path: string): number {
  const found = metrics.list().find(({ name }) => name.path === path);
  return found && found.type !== 'histogram' ? found.stat.value : 0;
}
