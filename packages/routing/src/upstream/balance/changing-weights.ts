import type { Host } from '../hosts/host.ts';
import type { PickHost, WeightedHost } from './algorithm.ts';

/** Returns the hosts in turn by weights that `weightOf` calculates for each request. */
export function inTurnBy(hosts: readonly WeightedHost[], weightOf: (entry: WeightedHost) => number): PickHost {
  const turns = hosts.map((entry) => ({ entry, current: 0 }));
  return (): Host | undefined => {
    let best = turns[0];
    let total = 0;
    for (const turn of turns) {
      const weight = weightOf(turn.entry);
      total += weight;
      turn.current += weight;
      if (turn.current > best!.current) best = turn;
    }
    if (!best) return undefined;
    best.current -= total;
    return best.entry.host;
  };
}
