import { certificatesOf } from './certificates.ts';
import type { ProxyAdminOptions, Readiness } from './options.ts';

const DAY_MS = 86_400_000;
const STATES: Readonly<Record<Readiness, number>> = { LIVE: 0, DRAINING: 1, PRE_INITIALIZING: 2, INITIALIZING: 3 };

/** Brings the statistics that are not counted but looked up (`server.*` and sizes) up to date. */
export function refreshServerStats(options: ProxyAdminOptions): void {
  const { metrics } = options.context;
  for (const [path, value] of Object.entries(serverStats(options))) {
    metrics.gauge({ path, metric: `envoy_${path.replaceAll('.', '_')}` }).value = value;
  }
}

function serverStats(options: ProxyAdminOptions): Record<string, number> {
  const { context, info, listeners, readiness, snapshot } = options;
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  const current = snapshot();
  const state = readiness();
  return {
    'server.live': state === 'LIVE' ? 1 : 0,
    'server.state': STATES[state],
    'server.uptime': Math.floor((context.now() - info.startedAt) / 1000),
    'server.memory_allocated': heapUsed + external,
    'server.memory_heap_size': heapTotal + external,
    'server.memory_physical_size': rss,
    'server.days_until_first_cert_expiring': daysUntilFirstExpiry(options),
    'listener_manager.total_listeners_active': listeners().length,
    'cluster_manager.active_clusters': current?.upstreams.length ?? 0,
    'control_plane.connected_state': current ? 1 : 0,
  };
}

/** Whole days; the largest unsigned 32-bit number when there is no certificate, and 0 once one has expired. */
function daysUntilFirstExpiry({ context, snapshot }: ProxyAdminOptions): number {
  const ends = certificatesOf(snapshot(), context.secrets).flatMap(({ chain }) =>
    chain.map((each) => each.validToDate),
  );
  if (ends.length === 0) return 2 ** 32 - 1;
  const first = Math.min(...ends.map((date) => date.getTime()));
  return Math.max(0, Math.floor((first - context.now()) / DAY_MS));
}
