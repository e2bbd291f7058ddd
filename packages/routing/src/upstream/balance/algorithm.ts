import type { Host } from '../hosts/host.ts';
import type { PickContext } from '../hosts/pick-context.ts';

/** Returns the host for the next request; `undefined` only if there is no host. */
export type PickHost = (context?: PickContext) => Host | undefined;

/** Hosts to choose from, with their weights: those of a locality are scaled by the weight of the locality. */
export interface WeightedHost {
  readonly host: Host;
  readonly weight: number;
}

/** Creates the function that chooses among these hosts. */
export type Algorithm = (hosts: readonly WeightedHost[]) => PickHost;

/** Returns a random integer below `limit`. */
export function randomBelow(limit: number): number {
  return Math.floor(Math.random() * limit);
}
