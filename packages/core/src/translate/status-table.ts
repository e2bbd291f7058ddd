import { keyOf, type Kind, type Resource, type ResourceKey, type StatusReport } from '../resource.ts';
import type { StoredResource } from '../store.ts';
import { isRead } from './gateways.ts';
import { groupProblems } from './upstream-groups.ts';
import type { ListenerBuild } from './listeners.ts';
import { collectProblems, proxyProblems } from './problems.ts';
import type { Memory } from './memory.ts';
import { subresourceKey } from './names.ts';
import type { Problems } from './report.ts';
import { statusEntry, type StatusEntry, type StatusInput } from './statuses.ts';
import type { World } from './world.ts';

/** What statuses are made of. */
export interface StatusSources {
  readonly world: World;
  readonly listeners: ReadonlyMap<string, ListenerBuild>;
  readonly proxies: readonly Resource[];
}

/** Kinds that get a status only once something is served. */
const NEED_PROXY: ReadonlySet<Kind> = new Set(['Upstream', 'UpstreamGroup']);

/** The status of every resource, with what it was made of. */
export function statusesOf(sources: StatusSources, memory: Memory | undefined): ReadonlyMap<ResourceKey, StatusEntry> {
  const { world, proxies } = sources;
  const found = collectProblems(sources.listeners.values());
  const statuses = new Map<ResourceKey, StatusEntry>();
  const put = (key: ResourceKey, input: StatusInput) =>
    statuses.set(key, statusEntry(key, input, memory?.statuses.get(key)));
  const reports = new Map<string, readonly [string, StatusReport]>();
  for (const { metadata } of proxies) {
    const { name, namespace } = metadata;
    const problems = proxyProblems(name, sources.listeners.values());
    const key = keyOf('Proxy', metadata);
    put(key, { stored: undefined, problems, subresources: [] });
    const report = Object.values(statuses.get(key)!.status.statuses)[0]!;
    reports.set(name, subresource(subresourceKey(name, namespace), report));
  }
  for (const stored of world.stored.values()) {
    const { key } = stored;
    if (statuses.has(key) || isUnborn(stored, proxies.length > 0)) continue;
    const own = found.get(key);
    const subresources = own ? own.proxies.flatMap((proxy) => pair(reports.get(proxy))) : NONE;
    put(key, { stored, problems: own?.problems ?? outside(stored, world), subresources });
  }
  return statuses;
}

const NONE: readonly never[] = [];

const pairs = new WeakMap<StatusReport, readonly [string, StatusReport]>();

function subresource(key: string, report: StatusReport): readonly [string, StatusReport] {
  const known = pairs.get(report);
  if (known?.[0] === key) return known;
  const made = Object.freeze([key, report] as const);
  pairs.set(report, made);
  return made;
}

function pair(report: readonly [string, StatusReport] | undefined): readonly (readonly [string, StatusReport])[] {
  return report ? [report] : NONE;
}

function isUnborn({ key, issues }: StoredResource, hasProxy: boolean): boolean {
  const kind = key.slice(0, key.indexOf('/')) as Kind;
  return !hasProxy && NEED_PROXY.has(kind) && issues.length === 0;
}

/** Of what no listener was made of: route tables and the like have no problem, some kinds are not read at all. */
function outside(stored: StoredResource, world: World): readonly Problems[] {
  const { key } = stored;
  if (key.startsWith('Upstream/')) return [world.upstreams.get(key)!.problems];
  if (key.startsWith('UpstreamGroup/')) return groupProblems(stored, world);
  if (key.startsWith('Gateway/') && !isRead(stored, world.settings)) return [UNREAD_GATEWAY];
  if (key.startsWith('MatchableHttpGateway/') || key.startsWith('MatchableTcpGateway/')) return [UNSERVED_GATEWAY];
  return key.startsWith('Proxy/') ? [WRITTEN_PROXY] : NONE;
}

const UNREAD_GATEWAY = warning(
  'the gateway is not read: gateways are read from the namespace of the gateway only, unless Settings readGatewaysFromAllNamespaces is true',
);
const UNSERVED_GATEWAY = warning('gateways inside of a hybrid gateway are not served yet');
const WRITTEN_PROXY = warning('proxies are written by the gateway and not read');

function warning(message: string): Problems {
  return Object.freeze({ errors: NONE, warnings: Object.freeze([message]) });
}
