import type { Derived } from '../derived.ts';
import type { ResourceKey } from '../../resource/resource.ts';
import { lowerBound } from '../lists.ts';
import type { ListenerBuild } from '../listener/listeners.ts';
import { mayLack, type MissingOptions } from '../listener/missing-options.ts';
import { NO_PROBLEMS, Report, type Problems } from './report.ts';
import type { VirtualServiceBuild } from '../virtual-host/virtual-hosts.ts';

/** The problems of all listeners. */
interface ListenerProblems {
  readonly listeners: Iterable<ListenerBuild>;
  readonly missing: MissingOptions;
}

/** The problems of one resource from the listeners, and the proxies with it. */
export interface FoundProblems {
  readonly problems: Problems[];
  readonly proxies: string[];
  /** Problems of the listener that this resource causes; they do not affect its state. */
  readonly notes: string[];
}

/** Returns problems by gateway, virtual service and route table, in the order of the listeners; only of `wanted`, if given. */
export function collectProblems(
  { listeners, missing }: ListenerProblems,
  wanted: ReadonlySet<ResourceKey> | undefined,
): ReadonlyMap<ResourceKey, FoundProblems> {
  const found = new Map<ResourceKey, FoundProblems>();
  const add = (key: ResourceKey, problems: Problems, proxy: string) => {
    if (wanted && !wanted.has(key)) return;
    const known = found.get(key);
    if (!known) found.set(key, { problems: problems === NO_PROBLEMS ? [] : [problems], proxies: [proxy], notes: [] });
    else {
      if (problems !== NO_PROBLEMS) known.problems.push(problems);
      if (!known.proxies.includes(proxy)) known.proxies.push(proxy);
    }
  };
  for (const { owner, proxy, problems, services, builds, tls } of listeners) {
    add(owner, problems, proxy);
    for (const i of placesOf(builds, wanted)) {
      const { stored, tables } = builds[i]!;
      add(stored.key, services[i]!, proxy);
      if (tables.size > 0) for (const [key, own] of tables) add(key, own, proxy);
    }
    for (const { key, problem } of tls?.located ?? []) found.get(key)?.notes.push(problem.message);
  }
  for (const [key, problems] of missing) found.get(key)?.problems.push(problems);
  return found;
}

/** Returns the indexes of the builds that may have problems of the wanted resources. */
function placesOf(
  builds: readonly VirtualServiceBuild[],
  wanted: ReadonlySet<ResourceKey> | undefined,
): Iterable<number> {
  if (!wanted || [...wanted].some((key) => key.startsWith('RouteTable/'))) return builds.keys();
  const places: number[] = [];
  for (const key of [...wanted].sort()) {
    const at = lowerBound(builds, key, ({ stored }) => stored.key);
    if (builds[at]?.stored.key === key) places.push(at);
  }
  return places;
}

/** Returns all problems of a proxy: of its listeners and of the virtual services on them. */
export function proxyProblems(
  proxy: string,
  { listeners, missing }: ListenerProblems,
  derived: Derived,
): readonly Problems[] {
  const all: Problems[] = [];
  for (const listener of listeners) {
    if (listener.proxy !== proxy) continue;
    if (listener.problems !== NO_PROBLEMS) all.push(listener.problems);
    // An index instead of entries: there may be many.
    for (let i = 0; i < listener.services.length; i++) {
      const problems = listener.services[i]!;
      if (problems === NO_PROBLEMS && missing.size === 0) continue;
      const build = listener.builds[i]!;
      const lack = mayLack(listener, build) ? missing.get(build.stored.key) : undefined;
      for (const each of [problems, lack ?? NO_PROBLEMS]) {
        if (each !== NO_PROBLEMS) all.push(derived.of(named, each, build.virtualHost.name));
      }
    }
  }
  return all;
}

function named(problems: Problems, name: string): Problems {
  const report = new Report();
  report.repeat(problems, `${name}: `);
  return report.problems();
}
