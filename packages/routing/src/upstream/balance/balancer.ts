import { createRoundRobin } from '@edge-gateway/core';
import type { Host } from '../hosts/host.ts';
import type { PickContext } from '../hosts/pick-context.ts';

/** Returns the host for the next request. */
export type Balancer = (context?: PickContext) => Host | undefined;

/** Below this share of healthy hosts all hosts are used, in percent. */
const PANIC_THRESHOLD = 50;

/** Creates the balancer of these hosts, by their current health and weights. */
export function createBalancer(hosts: readonly Host[]): Balancer {
  const healthy = hosts.filter((host) => host.isHealthy);
  const panic = healthy.length * 100 < hosts.length * PANIC_THRESHOLD;
  const usable = panic ? hosts : healthy;
  const next = createRoundRobin(usable);
  return (context) => (context?.excluded ? nextExcept(next, context.excluded, usable.length) : next());
}

/** Returns the next host that was not tried; the next one if all were. */
function nextExcept(next: () => Host | undefined, excluded: ReadonlySet<Host>, tries: number): Host | undefined {
  let host = next();
  for (let i = 1; i < tries && host && excluded.has(host); i++) host = next();
  return host;
}
