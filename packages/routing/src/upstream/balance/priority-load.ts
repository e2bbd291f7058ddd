import type { Host } from '../hosts/host.ts';
import { EXCLUDED, HEALTH_FLAGS } from '../hosts/health-flags.ts';
import type { LoadSettings } from './load-settings.ts';

/** The hosts of one priority by health. */
export interface PriorityHosts {
  readonly priority: number;
  readonly all: readonly Host[];
  readonly healthy: readonly Host[];
  readonly degraded: readonly Host[];
}

/** The share of the requests for one priority, in percent. */
export interface PriorityLoad {
  readonly healthy: number;
  readonly degraded: number;
  /** True: too few hosts are healthy, so that all are used. */
  readonly panic: boolean;
}

/** Groups hosts by priority, the highest (0) first. */
export function byPriority(hosts: readonly Host[]): PriorityHosts[] {
  const priorities = [...new Set(hosts.map(({ priority }) => priority))].sort((a, b) => a - b);
  return priorities.map((priority) => {
    const all = hosts.filter((host) => host.priority === priority);
    const usable = all.filter((host) => host.isHealthy);
    const isDegraded = ({ flags }: Host): boolean => (flags & HEALTH_FLAGS.degraded) !== 0;
    return {
      priority,
      all,
      healthy: usable.filter((host) => !isDegraded(host)),
      degraded: usable.filter(isDegraded),
    };
  });
}

/**
 * Distributes the requests over the priorities, as Envoy does: a priority receives its requests while enough of its hosts are
 * healthy (`overprovisioningFactor` 140: at least 72 %), the rest goes to the next one; degraded hosts come last.
 * `without` names priorities that are not used unless there is no other.
 */
export function priorityLoads(
  priorities: readonly PriorityHosts[],
  settings: Pick<LoadSettings, 'panicThreshold' | 'overprovisioningFactor'>,
  without?: ReadonlySet<number>,
): PriorityLoad[] {
  const { overprovisioningFactor, panicThreshold } = settings;
  const sizes = priorities.map(({ all }) => all.filter(({ flags }) => (flags & EXCLUDED) === 0).length);
  const available = (hosts: readonly Host[], i: number): number => {
    if (sizes[i] === 0 || without?.has(priorities[i]!.priority)) return 0;
    return Math.min(100, Math.floor((overprovisioningFactor * hosts.length) / sizes[i]!));
  };
  const healthy = priorities.map((each, i) => available(each.healthy, i));
  const degraded = priorities.map((each, i) => available(each.degraded, i));
  const total = Math.min(sum(healthy) + sum(degraded), 100);
  if (total === 0 && without && without.size > 0) return priorityLoads(priorities, settings);
  const inPanic = priorities.map((each, i) => {
    const usable = each.healthy.length + each.degraded.length;
    return total < 100 && (usable * 100) / (sizes[i] || 1) < panicThreshold;
  });
  if (total === 0 && panicThreshold === 0) return priorities.map(() => ({ healthy: 0, degraded: 0, panic: false }));
  if (total === 0 || inPanic.every(Boolean)) return bySize(priorities.map(({ all }) => all.length));
  return distribute(healthy, degraded, total).map((load, i) => ({ ...load, panic: inPanic[i]! }));
}

function distribute(healthy: readonly number[], degraded: readonly number[], total: number) {
  let left = 100;
  const shareOf = (each: number): number => {
    const share = Math.min(left, Math.floor((each * 100) / total));
    left -= share;
    return share;
  };
  const ofHealthy = healthy.map(shareOf);
  const ofDegraded = degraded.map(shareOf);
  // The remainder of the rounding goes to the first priority with hosts.
  const list = healthy.some((each) => each > 0) ? ([ofHealthy, healthy] as const) : ([ofDegraded, degraded] as const);
  list[0][list[1].findIndex((each) => each > 0)]! += left;
  return healthy.map((_, i) => ({ healthy: ofHealthy[i]!, degraded: ofDegraded[i]! }));
}

/** Nothing is healthy enough: all hosts of all priorities are used alike. */
function bySize(sizes: readonly number[]): PriorityLoad[] {
  const total = sum(sizes) || 1;
  const loads = sizes.map((size) => Math.floor((size * 100) / total));
  const first = sizes.findIndex((size) => size > 0);
  if (first >= 0) loads[first]! += 100 - sum(loads);
  return loads.map((load) => ({ healthy: load, degraded: 0, panic: true }));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
