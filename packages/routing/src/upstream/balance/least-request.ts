import { randomBelow, type Algorithm, type PickHost, type WeightedHost } from './algorithm.ts';
import { inTurnBy } from './changing-weights.ts';
import type { LoadSettings } from './load-settings.ts';
import { slowStartEnd, slowStartShare } from './slow-start.ts';

/**
 * With equal weights the host with the fewest active requests among `choiceCount` random ones. With different weights, or in slow
 * start, the hosts in turn by their weight divided by their active requests plus one.
 */
export function leastRequest({ choiceCount, slowStart }: LoadSettings): Algorithm {
  return (hosts) => {
    const steady = isEven(hosts) ? leastOf(hosts, choiceCount) : inTurnBy(hosts, shareOf);
    if (!slowStart) return steady;
    const end = slowStartEnd(hosts, slowStart);
    const slow = inTurnBy(hosts, (entry) => shareOf(entry) * slowStartShare(entry.host, slowStart, performance.now()));
    return () => (performance.now() < end ? slow() : steady());
  };
}

function isEven(hosts: readonly WeightedHost[]): boolean {
  return hosts.every(({ weight }) => weight === hosts[0]!.weight);
}

function shareOf({ host, weight }: WeightedHost): number {
  return weight / (host.active + 1);
}

function leastOf(hosts: readonly WeightedHost[], choiceCount: number): PickHost {
  return () => {
    let least = hosts[randomBelow(hosts.length)]?.host;
    for (let i = 1; i < choiceCount && least; i++) {
      const { host } = hosts[randomBelow(hosts.length)]!;
      if (host.active < least.active) least = host;
    }
    return least;
  };
}
