import { keyOf, type ResourceKey } from '../resource/resource.ts';
import type { Snapshot, SnapshotUpstream } from '../contract/snapshot.ts';
import { authConfigEntry, type AuthConfigEntry, type AuthConfigTable } from './reference/auth-configs.ts';
import { changesBetween, isAffected, type Changes } from './changes.ts';
import { contestedPorts, usedGateways, type UsedGateway } from './listener/gateways.ts';
import type { GoodParts } from './virtual-host/last-good.ts';
import { buildListener, type ListenerBuild } from './listener/listeners.ts';
import { listsOf } from './lists.ts';
import { recall, remember, type Memory } from './memory.ts';
import { proxyResource } from './snapshot/proxy-resource.ts';
import { readSettings } from './settings.ts';
import { snapshotOf, type SharedParts } from './snapshot/snapshots.ts';
import { statusTable } from './status/status-table.ts';
import { sameList } from './tls/listener-tls.ts';
import type { Translate, Translation } from './translation.ts';
import { upstreamEntry, type UpstreamEntry, type UpstreamTable } from './reference/upstreams.ts';
import type { World } from './world.ts';

/**
 * Returns the snapshot of each proxy and the status of every resource. Pure: see {@link Translate}. With `previous`,
 * rejected parts keep their last good version, and only affected parts are rebuilt.
 *
 * @example
 * const first = translate(store.state, {});
 * const second = translate(store.state, {}, first); // the same objects if nothing changed
 */
export const translate: Translate = (state, options, previous) => {
  const memory = recall(previous);
  const changes = memory && changesBetween(memory.stored, state.stored);
  const lists = listsOf(state.stored, memory?.lists, changes);
  const upstreams = upstreamTable(state.stored, lists.get('Upstream') ?? [], memory, changes);
  const settings = readSettings(state.stored);
  const list: World['list'] = (kind) => lists.get(kind) ?? [];
  const authConfigs = authConfigTable(state.stored, list, memory, changes);
  const world: World = { stored: state.stored, settings, upstreams, authConfigs, list };
  const outdated = outdatedBy(world, memory, changes);
  const gateways = usedGateways(world.list('Gateway'), settings, options.defaultGateways);
  const secretsChanged = changes?.kinds.has('Secret') ?? true;
  const listeners = buildListeners(gateways, {
    world,
    memory,
    previous,
    outdated,
    secretsChanged,
    lastGoodOf: lastGoodIn(memory),
  });
  const served = servedUpstreams(upstreams, memory);
  const snapshots = snapshotsOf(gateways, listeners, { served, settings: settings.served }, previous);
  const proxies = [...snapshots.values()]
    .filter((snapshot) => snapshot.listeners.length > 0)
    .map((snapshot) => proxyOf(snapshot, settings.writeNamespace, previous));
  const statuses = statusTable({ world, listeners, proxies, changes }, memory);
  const translation: Translation = Object.freeze({
    proxies: sameList(proxies, previous?.proxies),
    snapshots,
    statuses: statuses.statuses,
  });
  return remember(translation, {
    stored: state.stored,
    settings,
    lists,
    upstreams,
    authConfigs,
    served,
    listeners,
    statuses,
  });
};

function upstreamTable(
  stored: World['stored'],
  list: readonly UpstreamEntry['stored'][],
  memory: Memory | undefined,
  changes: Changes | undefined,
): UpstreamTable {
  if (memory && changes && !changes.kinds.has('Upstream') && !changes.kinds.has('Secret')) return memory.upstreams;
  const table = new Map<ResourceKey, UpstreamEntry>();
  for (const one of list) table.set(one.key, upstreamEntry(one, stored, memory?.upstreams.get(one.key)));
  return table;
}

function authConfigTable(
  stored: World['stored'],
  list: World['list'],
  memory: Memory | undefined,
  changes: Changes | undefined,
): AuthConfigTable {
  if (memory && changes && !changes.kinds.has('AuthConfig') && !changes.kinds.has('Secret')) return memory.authConfigs;
  const table = new Map<ResourceKey, AuthConfigEntry>();
  const sources = { stored, secrets: list('Secret') };
  for (const one of list('AuthConfig')) {
    table.set(one.key, authConfigEntry(one, sources, memory?.authConfigs.get(one.key)));
  }
  return table;
}

function servedUpstreams(table: UpstreamTable, memory: Memory | undefined): readonly SnapshotUpstream[] {
  if (memory?.upstreams === table) return memory.served;
  const served = [...table.values()].flatMap(({ upstream }) => upstream ?? []);
  return sameList(
    served.sort((a, b) => (a.name < b.name ? -1 : 1)),
    memory?.served,
  );
}

/** Kinds whose changes are compared in more detail than by resource. */
const LOOKED_AT = ['AuthConfig/', 'Upstream/', 'VirtualService/'];

/** Returns which previous builds cannot be reused. */
function outdatedBy(world: World, memory: Memory | undefined, changes: Changes | undefined) {
  const keys = new Set<ResourceKey>();
  const all = !memory || !changes || memory.settings !== world.settings;
  for (const key of changes?.keys ?? []) if (!LOOKED_AT.some((kind) => key.startsWith(kind))) keys.add(key);
  for (const key of changedUpstreams(world.upstreams, memory?.upstreams)) keys.add(key);
  for (const key of changedAuthConfigs(world.authConfigs, memory?.authConfigs)) keys.add(key);
  return ({ touched }: { touched: Parameters<typeof isAffected>[0] }) => all || isAffected(touched, keys, changes);
}

/** Returns the upstreams whose references must be checked again: added, removed, or with another fault or warning. */
function changedUpstreams(now: UpstreamTable, before: UpstreamTable | undefined): ResourceKey[] {
  if (!before || before === now) return [];
  const changed: ResourceKey[] = [];
  for (const [key, entry] of now) {
    const old = before.get(key);
    if (old !== entry && (!old || old.fault?.reason !== entry.fault?.reason || old.warning !== entry.warning))
      changed.push(key);
  }
  for (const key of before.keys()) if (!now.has(key)) changed.push(key);
  return changed;
}

/** Returns the AuthConfigs whose virtual hosts must be rebuilt. */
function changedAuthConfigs(now: AuthConfigTable, before: AuthConfigTable | undefined): ResourceKey[] {
  if (!before || before === now) return [];
  const isSame = (a: AuthConfigEntry, b: AuthConfigEntry | undefined) =>
    a.config === b?.config && a.fault?.reason === b?.fault?.reason && a.warning === b?.warning;
  const changed = [...now].flatMap(([key, entry]) => (isSame(entry, before.get(key)) ? [] : [key]));
  return [...changed, ...[...before.keys()].filter((key) => !now.has(key))];
}

/** Returns the last good parts of a virtual service on any previous listener. */
function lastGoodIn(memory: Memory | undefined): ListenersContext['lastGoodOf'] {
  return (key) => {
    for (const { builds } of memory?.listeners.values() ?? []) {
      const build = builds.find(({ stored }) => stored.key === key);
      if (build) return build.lastGood;
    }
    return undefined;
  };
}

interface ListenersContext {
  readonly world: World;
  readonly memory: Memory | undefined;
  readonly previous: Translation | undefined;
  readonly outdated: ReturnType<typeof outdatedBy>;
  readonly lastGoodOf: (key: ResourceKey) => GoodParts | undefined;
  readonly secretsChanged: boolean;
}

function buildListeners(
  gateways: readonly UsedGateway[],
  context: ListenersContext,
): ReadonlyMap<string, ListenerBuild> {
  const listeners = new Map<string, ListenerBuild>();
  for (const [proxy, members] of byProxy(gateways)) {
    const contested = contestedPorts(members);
    const served = context.previous?.snapshots.get(proxy)?.listeners;
    for (const gateway of members) {
      const { name, namespace } = gateway.ref;
      const key = `${proxy} ${keyOf('Gateway', gateway.ref)}`;
      const previous = served?.find((one) => one.gateway.name === name && one.gateway.namespace === namespace);
      const before = context.memory?.listeners.get(key);
      const { world, outdated, secretsChanged, lastGoodOf } = context;
      const shared = { world, proxy, outdated, secretsChanged, lastGoodOf };
      listeners.set(key, buildListener(gateway, { ...shared, contested: contested.get(gateway), previous, before }));
    }
  }
  return listeners;
}

/** Returns gateways by their proxies, sorted by name. */
function byProxy(gateways: readonly UsedGateway[]): ReadonlyMap<string, readonly UsedGateway[]> {
  const names = [...new Set(gateways.flatMap(({ proxies }) => proxies))].sort();
  return new Map(names.map((name) => [name, gateways.filter(({ proxies }) => proxies.includes(name))]));
}

function snapshotsOf(
  gateways: readonly UsedGateway[],
  listeners: ReadonlyMap<string, ListenerBuild>,
  parts: SharedParts,
  previous: Translation | undefined,
): ReadonlyMap<string, Snapshot> {
  const builds = [...listeners.values()];
  return new Map(
    Array.from(byProxy(gateways).keys(), (proxy) => {
      const own = builds.filter((build) => build.proxy === proxy);
      return [proxy, snapshotOf(proxy, own, parts, previous?.snapshots.get(proxy))] as const;
    }),
  );
}

function proxyOf(snapshot: Snapshot, namespace: string, previous: Translation | undefined) {
  const before = previous?.snapshots.get(snapshot.proxy);
  const known = before?.listeners === snapshot.listeners;
  const old = previous?.proxies.find(({ metadata }) => metadata.name === snapshot.proxy);
  return known && old?.metadata.namespace === namespace ? old : proxyResource(snapshot, namespace);
}
