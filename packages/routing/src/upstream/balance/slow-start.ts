import type { Host } from '../hosts/host.ts';
import type { SlowStart } from './load-settings.ts';

/** Returns the share of its weight that a host receives at `now`, 0 to 1. */
export function slowStartShare(host: Host, { windowMs, aggression, minimum }: SlowStart, now: number): number {
  const passed = now - host.healthySince;
  if (passed >= windowMs) return 1;
  const elapsed = Math.max(passed, 1) / windowMs;
  return Math.max(aggression === 1 ? elapsed : elapsed ** (1 / aggression), minimum);
}

/** Returns when the last of the hosts has its full weight, by `performance.now()`. */
export function slowStartEnd(hosts: readonly { readonly host: Host }[], { windowMs }: SlowStart): number {
  return hosts.reduce((latest, { host }) => Math.max(latest, host.healthySince + windowMs), 0);
}
