import { daysUntilFirstExpiry } from './certificates.ts';
import type { ProxyAdminOptions, Readiness } from './proxy-options.ts';

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
    'server.days_until_first_cert_expiring': daysUntilFirstExpiry(options) ?? 2 ** 32 - 1,
    'listener_manager.total_listeners_active': listeners().length,
    'cluster_manager.active_clusters': current?.upstreams.length ?? 0,
    'control_plane.connected_state': (options.isConnected?.() ?? current) ? 1 : 0,
  };
}
