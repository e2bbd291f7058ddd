import type { Host } from '../hosts/host.ts';
import type { PickContext } from '../hosts/pick-context.ts';
import { randomBelow, type Algorithm, type PickHost } from './algorithm.ts';
import { algorithmOf } from './algorithms.ts';
import type { LoadSettings } from './load-settings.ts';
import { chooseAmong } from './localities.ts';
import { byPriority, priorityLoads, type PriorityHosts, type PriorityLoad } from './priority-load.ts';

/** Attempts of an algorithm to find a host that was not tried yet, before the hosts are searched. */
const MAX_REPICKS = 3;

/** One group of hosts that receives a share of the requests: those of a priority, by health. */
interface Group {
  readonly hosts: readonly Host[];
  readonly pick: PickHost;
}

/** Creates the choice among these hosts, by their current health, priorities and weights. */
export function createBalancer(hosts: readonly Host[], settings: LoadSettings): PickHost {
  const priorities = byPriority(hosts);
  const algorithm = algorithmOf(settings);
  const normal = pickByLoad(priorities, priorityLoads(priorities, settings), settings, algorithm);
  return (context) => {
    if (context === undefined) return normal(context);
    const { excludedPriorities } = context;
    if (!excludedPriorities || excludedPriorities.size === 0) return normal(context);
    const loads = priorityLoads(priorities, settings, excludedPriorities);
    return pickByLoad(priorities, loads, settings, algorithm)(context);
  };
}

function pickByLoad(
  priorities: readonly PriorityHosts[],
  loads: readonly PriorityLoad[],
  settings: LoadSettings,
  algorithm: Algorithm,
): PickHost {
  const shares = priorities.flatMap(({ all, healthy, degraded }, i) => {
    const load = loads[i]!;
    const group = (usable: readonly Host[]): Group => ({
      hosts: usable,
      pick: chooseAmong(usable, all, settings, algorithm),
    });
    return [
      { load: load.healthy, create: () => group(load.panic ? all : healthy), last: false },
      { load: load.degraded, create: () => group(load.panic ? all : degraded), last: true },
    ];
  });
  // Healthy hosts of all priorities come before degraded ones.
  const used = [...shares.filter(({ last }) => !last), ...shares.filter(({ last }) => last)]
    .filter(({ load }) => load > 0)
    .map(({ load, create }) => ({ load, ...create() }));
  if (used.length === 0) return () => undefined;
  if (used.length === 1) return withRepicks(used[0]!);
  const picks = used.map(withRepicks);
  return (context) => {
    let point = context?.hash === undefined ? randomBelow(100) : Number(context.hash % 100n);
    let i = 0;
    while (i < used.length - 1 && point >= used[i]!.load) point -= used[i++]!.load;
    return picks[i]!(context);
  };
}

function withRepicks({ hosts, pick }: Group): PickHost {
  return (context) => (context?.excluded === undefined ? pick(context) : pickAnother(hosts, pick, context));
}

/** Returns a host that was not tried, the picked one if all were. */
function pickAnother(hosts: readonly Host[], pick: PickHost, context: PickContext): Host | undefined {
  const { excluded, attempt = 1 } = context;
  for (let i = 0; i < MAX_REPICKS; i++) {
    const host = pick({ ...context, attempt: attempt + i });
    if (!host || !excluded!.has(host)) return host;
  }
  const offset = randomBelow(hosts.length);
  for (let i = 0; i < hosts.length; i++) {
    const host = hosts[(offset + i) % hosts.length]!;
    if (host.weight > 0 && !excluded!.has(host)) return host;
  }
  return pick(context);
}
