import {
  DEFAULT_SNAPSHOT_SETTINGS,
  differingKeys,
  freezeDeep,
  hasSameItems,
  lowerBound,
  sameList,
  withChanges,
  type Endpoint,
  type Listener,
  type ListenerPart,
  type ProxyRejection,
  type SecretValue,
  type Snapshot,
  type SnapshotSettings,
  type SnapshotUpstream,
  type UnservedListener,
  type VirtualHost,
} from '@edge-gateway/core';
import type { Body } from './resource-body.ts';
import type { SavedResource } from './resource-set.ts';
import { TYPE } from './resource-type.ts';

/** A resource with its content. */
export interface HeldResource extends SavedResource {
  readonly body: Body;
}

export type HeldByType = ReadonlyMap<string, ReadonlyMap<string, HeldResource>>;

/** A state, and the objects in it by the name of their resource. */
export interface Built {
  readonly snapshot: Snapshot;
  readonly unserved: readonly UnservedListener[];
  readonly secrets: ReadonlyMap<string, SecretValue>;
  /** `undefined` before any could be read. */
  readonly settings: SnapshotSettings | undefined;
  /** The resources that it consists of. */
  readonly held: HeldByType;
  readonly hosts: ReadonlyMap<string, BuiltHost>;
  /** The names of those that have a rejection. */
  readonly failedHosts: ReadonlySet<string>;
  /** True if an upstream has a rejection. */
  readonly hasFailedUpstreams: boolean;
  /** The names of the virtual hosts, sorted. */
  readonly byListener: ReadonlyMap<string, readonly string[]>;
  readonly upstreams: ReadonlyMap<string, BuiltUpstream>;
  readonly listeners: ReadonlyMap<string, BuiltListener>;
}

interface BuiltHost {
  readonly listener: string;
  readonly body: Body;
  /** The nested parts, in the order of their names. */
  readonly nested: readonly Body[];
  readonly host: VirtualHost;
}

interface BuiltUpstream {
  readonly sources: readonly unknown[];
  readonly upstream: SnapshotUpstream;
}

interface BuiltListener {
  /** Besides the virtual hosts. */
  readonly sources: readonly unknown[];
  /** The names of its virtual hosts, of which some may be missing. */
  readonly names: readonly string[];
  readonly listener: Listener;
}

const NESTED = [
  ['authConfigs', TYPE.authConfig],
  ['rateLimitConfigs', TYPE.rateLimitConfig],
  ['graphqlApis', TYPE.graphqlApi],
] as const;

/**
 * Builds a state from resources. Objects whose parts did not change are those of `before`. For `rejected` resources, the object of `before`
 * is used, if any. The same applies to resources with a missing reference, which are returned as further rejections.
 */
export function buildState(
  received: HeldByType,
  rejected: readonly ProxyRejection[],
  before: Built | undefined,
): { readonly result: Built; readonly rejections: readonly ProxyRejection[] } {
  const isRejected = new Set(rejected.map(({ type, resource }) => `${type} ${resource}`));
  const held = withoutRejected(received, isRejected, before);
  const rejections: ProxyRejection[] = [];
  const failedHosts = new Set<string>();
  const heldOf = (type: string): ReadonlyMap<string, HeldResource> => held.get(type) ?? NOTHING_HELD;
  const isUnchanged = (type: string): boolean =>
    before !== undefined && heldOf(type) === (before.held.get(type) ?? NOTHING_HELD);
  const bodyOf = (type: string, name: string): Body | undefined => held.get(type)?.get(name)?.body;

  /** Missing if they were rejected and have no earlier version: what protects the virtual hosts is then unknown. */
  const settings = (bodyOf(TYPE.settings, 'settings') as SnapshotSettings | undefined) ?? before?.settings;

  function hostOf(name: string, body: Body): BuiltHost {
    const known = before?.hosts.get(name);
    if (isRejected.size > 0 && isRejected.has(`${TYPE.virtualHost} ${name}`) && known) return known;
    if (!body['routes'] || !settings) return replacementOf(name, body);
    const parts: Body[] = [];
    for (const [field, type] of NESTED) {
      for (const part of body[field] as readonly string[]) {
        const found = bodyOf(type, part);
        if (!found) {
          rejections.push({ type: TYPE.virtualHost, resource: name, field, message: `${part} is missing` });
          return known ?? replacementOf(name, body);
        }
        parts.push(found);
      }
    }
    if (known && known.body === body && hasSameItems(parts, known.nested)) return known;
    const { listener, ...rest } = body;
    let next = 0;
    const nested = NESTED.map(([field]) => {
      const { length } = body[field] as readonly string[];
      return [field, parts.slice(next, (next += length))] as const;
    });
    const host = Object.freeze({ ...rest, ...Object.fromEntries(nested) }) as unknown as VirtualHost;
    return { listener: listener as string, body, nested: parts, host };
  }

  function checkedHost(name: string, body: Body): BuiltHost {
    const known = rejections.length;
    const host = hostOf(name, body);
    if (rejections.length > known) failedHosts.add(name);
    return host;
  }

  function hosts(): ReadonlyMap<string, BuiltHost> {
    const all = heldOf(TYPE.virtualHost);
    const isSame = before?.settings !== undefined && isRejected.size === 0;
    if (isSame && NESTED.every(([, type]) => isUnchanged(type))) {
      const changed = differingKeys(before.held.get(TYPE.virtualHost) ?? NOTHING_HELD, all);
      for (const name of before.failedHosts) changed.add(name);
      if (changed.size === 0) return before.hosts;
      return withChanges(
        before.hosts,
        Array.from(changed, (name) => {
          const resource = all.get(name);
          return [name, resource && checkedHost(name, resource.body)] as const;
        }),
      );
    }
    return new Map(Array.from(all, ([name, { body }]) => [name, checkedHost(name, body)]));
  }

  function upstreams(): ReadonlyMap<string, BuiltUpstream> {
    const isSame = before && !before.hasFailedUpstreams && isRejected.size === 0;
    if (isSame && isUnchanged(TYPE.upstream) && isUnchanged(TYPE.endpointSet)) return before.upstreams;
    const found = new Map<string, BuiltUpstream>();
    for (const [name, { body }] of heldOf(TYPE.upstream)) {
      const known = before?.upstreams.get(name);
      const endpoints = bodyOf(TYPE.endpointSet, name);
      if (!endpoints) {
        const message = 'its endpoints are missing';
        hasFailedUpstreams = true;
        rejections.push({ type: TYPE.upstream, resource: name, field: 'endpoints', message });
        if (known) found.set(name, known);
        continue;
      }
      const sources = [body, endpoints];
      const upstream = {
        ...body,
        endpoints: endpoints['endpoints'] as readonly Endpoint[],
      } as unknown as SnapshotUpstream;
      found.set(
        name,
        known && hasSameItems(sources, known.sources) ? known : { sources, upstream: Object.freeze(upstream) },
      );
    }
    return found;
  }

  let hasFailedUpstreams = false;
  const builtHosts = hosts();
  const changedHosts = before && differingKeys(before.hosts, builtHosts);
  const byListener =
    changedHosts && hasSameMembers(changedHosts, builtHosts, before.hosts)
      ? before.byListener
      : namesByListener(builtHosts);
  const builtListeners = new Map<string, BuiltListener>();

  /** Returns the virtual hosts with these names. `known` is the previous listener, of which only changed ones are replaced, if its names are sorted and the same. */
  function hostsNamed(names: readonly string[], known: BuiltListener | undefined): readonly VirtualHost[] {
    if (!changedHosts || known?.names !== names || known.listener.virtualHosts.length !== names.length)
      return names.flatMap((each) => builtHosts.get(each)?.host ?? []);
    const own = [...known.listener.virtualHosts];
    for (const each of changedHosts) {
      const at = lowerBound(names, each, itself);
      if (names[at] === each) own[at] = builtHosts.get(each)!.host;
    }
    return own;
  }

  function listenerOf(name: string): Listener | undefined {
    const body = bodyOf(TYPE.listener, name);
    if (!body) {
      rejections.push({ type: TYPE.listener, resource: name, field: '', message: 'is missing' });
      return undefined;
    }
    const { virtualHosts: listed, parts: inner, ...head } = body;
    const names = (listed as readonly string[] | undefined) ?? byListener.get(name) ?? NO_NAMES;
    const parts = (inner as readonly (Omit<ListenerPart, 'http'> & { readonly http?: string })[] | undefined)?.map(
      (part) => ({ part, http: part.http === undefined ? undefined : listenerOf(part.http) }),
    );
    const sources = [body, ...(parts ?? []).map(({ http }) => http)];
    const known = before?.listeners.get(name);
    const own = hostsNamed(names, listed ? undefined : known);
    const built =
      known && hasSameItems(sources, known.sources) && hasSameItems(own, known.listener.virtualHosts)
        ? known
        : { sources, names, listener: joined(head, own, parts, known?.listener) };
    builtListeners.set(name, built);
    return built.listener;
  }

  const [manifest] = held.get(TYPE.snapshot)?.values() ?? [];
  const { proxy, version, listeners, unserved } = (manifest?.body ?? EMPTY) as unknown as typeof EMPTY;
  const builtUpstreams = upstreams();
  const snapshot: Snapshot = Object.freeze({
    proxy,
    version,
    listeners: sameList(
      listeners.flatMap((name) => listenerOf(name) ?? []),
      before?.snapshot.listeners,
    ),
    upstreams:
      before && builtUpstreams === before.upstreams
        ? before.snapshot.upstreams
        : sameList(
            [...builtUpstreams.values()].map(({ upstream }) => upstream).sort((a, b) => compare(a.name, b.name)),
            before?.snapshot.upstreams,
          ),
    settings: settings ?? DEFAULT_SNAPSHOT_SETTINGS,
  });
  const secrets = new Map([...heldOf(TYPE.secret)].map(([name, { body }]) => [name, body as unknown as SecretValue]));
  return {
    result: {
      snapshot,
      unserved,
      secrets,
      settings,
      held,
      hosts: builtHosts,
      failedHosts,
      hasFailedUpstreams,
      byListener,
      upstreams: builtUpstreams,
      listeners: builtListeners,
    },
    rejections,
  };
}

/** A host that responds with 500 in place of one that cannot be built: its requests must not get to a host for all domains. */
function replacementOf(name: string, body: Body): BuiltHost {
  const { listener, ...rest } = body;
  const route = {
    name: `${name}-rejected`,
    logName: '',
    matchers: [{ prefix: '/' }],
    options: {},
    action: { type: 'direct', status: 500, body: '' },
    source: { kind: 'VirtualService', ...(body['virtualService'] as object | undefined) },
  };
  const none = { options: {}, authConfigs: [], rateLimitConfigs: [], graphqlApis: [] };
  const host = freezeDeep({ ...rest, ...none, routes: [route] }) as unknown as VirtualHost;
  return { listener: listener as string, body: {}, nested: [], host };
}

const NOTHING_HELD: ReadonlyMap<string, HeldResource> = new Map();
const NO_NAMES: readonly string[] = Object.freeze([]);
const EMPTY = {
  proxy: '',
  version: '',
  listeners: [] as readonly string[],
  unserved: [] as readonly UnservedListener[],
};

/** Returns the received resources, with the versions of `before` for those that are rejected. */
function withoutRejected(received: HeldByType, isRejected: ReadonlySet<string>, before: Built | undefined): HeldByType {
  const changes = new Map<string, Map<string, HeldResource | undefined>>();
  for (const id of isRejected) {
    const [type = '', ...rest] = id.split(' ');
    const name = rest.join(' ');
    const known = before?.held.get(type)?.get(name);
    if (!known && type === TYPE.virtualHost) continue;
    if (!changes.has(type)) changes.set(type, new Map());
    changes.get(type)!.set(name, known);
  }
  const held = new Map(received);
  for (const [type, own] of changes) held.set(type, withChanges(held.get(type) ?? NOTHING_HELD, own));
  return held;
}

type ReadPart = { readonly part: Omit<ListenerPart, 'http'>; readonly http: Listener | undefined };

function joined(
  head: Body,
  virtualHosts: readonly VirtualHost[],
  parts: readonly ReadPart[] | undefined,
  before: Listener | undefined,
): Listener {
  const shown = parts?.map(({ part, http }, i): ListenerPart => {
    const known = before?.parts?.[i];
    const isSame = known && known.http === http && known.match === part.match && known.tcp === part.tcp;
    return isSame && known.name === part.name ? known : Object.freeze({ ...part, ...(http && { http }) });
  });
  return Object.freeze({
    ...head,
    virtualHosts: Object.freeze(virtualHosts),
    ...(shown && { parts: Object.freeze(shown) }),
  }) as unknown as Listener;
}

function namesByListener(hosts: ReadonlyMap<string, BuiltHost>): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy([...hosts.keys()].sort(compare), (name) => hosts.get(name)!.listener);
}

/** Returns true if the changed virtual hosts have the same names and listeners as before. */
function hasSameMembers(
  changed: ReadonlySet<string>,
  now: ReadonlyMap<string, BuiltHost>,
  before: ReadonlyMap<string, BuiltHost>,
): boolean {
  for (const name of changed) if (now.get(name)?.listener !== before.get(name)?.listener) return false;
  return true;
}

const itself = (name: string): string => name;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
