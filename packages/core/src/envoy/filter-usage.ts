import type { Destination, Route, VirtualHost } from '../contract/snapshot.ts';
import { stagesOf } from '../validate/transformation/stages.ts';
import { LRUCache } from 'lru-cache';
import type { Level } from './level.ts';
import { limitUsageOf } from './limit-usage.ts';

const known = new WeakMap<VirtualHost, ReadonlySet<string>>();

/**
 * Returns what a virtual host, its routes and destinations use: the names of their options, and of what is not an option of its own:
 * `transformation.early`, `auth.<name>` of auth servers, `localRatelimit`, `graphql`.
 */
export function usageOfHost(host: VirtualHost): ReadonlySet<string> {
  let found = known.get(host);
  if (!found) known.set(host, (found = sharedUsage(collect(host))));
  return found;
}

/** Returns what one of the virtual hosts uses. */
export function usageOf(hosts: readonly VirtualHost[]): ReadonlySet<string> {
  const all = new Set<string>();
  let last: ReadonlySet<string> | undefined;
  for (const host of hosts) {
    const usage = usageOfHost(host);
    // Most hosts use the same.
    if (usage !== last) for (const each of usage) all.add(each);
    last = usage;
  }
  return all;
}

/** The usages of the virtual hosts that were looked at last, by their content: many hosts use the same. */
const shared = new LRUCache<string, ReadonlySet<string>>({ max: 100 });

function sharedUsage(used: ReadonlySet<string>): ReadonlySet<string> {
  const key = [...used].sort().join(' ');
  const found = shared.get(key) ?? used;
  shared.set(key, found);
  return found;
}

function collect(host: VirtualHost): ReadonlySet<string> {
  const used = new Set<string>();
  for (const level of levelsOf(host)) {
    for (const option of Object.keys(level)) used.add(option);
    const { early, regular } = stagesOf(level) ?? {};
    if (early) used.add('transformation.early');
    if (regular) used.add('transformation.regular');
    const { name } = level.extauth?.customAuth ?? {};
    if (name) used.add(`auth.${name}`);
    for (const limit of limitUsageOf(level)) used.add(limit);
  }
  if (host.routes.some(({ action }) => action.type === 'graphql')) used.add('graphql');
  return used;
}

/** Returns the options of a virtual host, its routes and their destinations. */
export function levelsOf({ options, routes }: VirtualHost): Level[] {
  return [options, ...routes.flatMap((route) => [route.options, ...destinationsOf(route).map((each) => each.options)])];
}

function destinationsOf({ action }: Route): readonly Destination[] {
  return action.type === 'forward' ? action.destinations : [];
}
