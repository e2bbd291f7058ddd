import { DEFAULT_SNAPSHOT_SETTINGS, freezeDeep } from '@edge-gateway/core';

import type {
  Endpoint,
  Listener,
  ListenerPart,
  ProxyRejection,
  SecretValue,
  Snapshot,
  SnapshotSettings,
  SnapshotUpstream,
  UnservedListener,
  VirtualHost,
} from '@edge-gateway/core';
import type { Body } from './resource-body.ts';
import type { ReceivedResource } from './resource-set.ts';
import { TYPE } from './resource-type.ts';

/** A resource with its content. */
export interface HeldResource extends ReceivedResource {
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
  readonly sources: readonly unknown[];
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
  const bodyOf = (type: string, name: string): Body | undefined => held.get(type)?.get(name)?.body;

  /** Missing if they were rejected and have no earlier version: what protects the virtual hosts is then unknown. */
  const settings = (bodyOf(TYPE.settings, 'settings') as SnapshotSettings | undefined) ?? before?.settings;

  function hostOf(name: string, body: Body): BuiltHost | undefined {
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
    if (known && known.body === body && isSameList(parts, known.nested)) return known;
    const { listener, ...rest } = body;
    let next = 0;
    const nested = NESTED.map(([field]) => {
      const { length } = body[field] as readonly string[];
      return [field, parts.slice(next, (next += length))] as const;
    });
    const host = Object.freeze({ ...rest, ...Object.fromEntries(nested) }) as unknown as VirtualHost;
    return { listener: listener as string, body, nested: parts, host };
  }

  function hosts(): Map<string, BuiltHost> {
    const found = new Map<string, BuiltHost>();
    for (const [name, { body }] of held.get(TYPE.virtualHost) ?? []) {
      const host = hostOf(name, body);
      if (host) found.set(name, host);
    }
    return found;
  }

  function upstreams(): Map<string, BuiltUpstream> {
    const found = new Map<string, BuiltUpstream>();
    for (const [name, { body }] of held.get(TYPE.upstream) ?? []) {
      const known = before?.upstreams.get(name);
      const endpoints = bodyOf(TYPE.endpointSet, name);
      if (!endpoints) {
        const message = 'its endpoints are missing';
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
        known && isSameList(sources, known.sources) ? known : { sources, upstream: Object.freeze(upstream) },
      );
    }
    return found;
  }

  const builtHosts = hosts();
  const byListener =
    before && hasSameMembers(builtHosts, before.hosts) ? before.byListener : namesByListener(builtHosts);
  const builtListeners = new Map<string, BuiltListener>();

  function listenerOf(name: string): Listener | undefined {
    const body = bodyOf(TYPE.listener, name);
    if (!body) {
      rejections.push({ type: TYPE.listener, resource: name, field: '', message: 'is missing' });
      return undefined;
    }
    const { virtualHosts: listed, parts: inner, ...head } = body;
    const names = (listed as readonly string[] | undefined) ?? byListener.get(name) ?? [];
    const own = names.flatMap((each) => builtHosts.get(each)?.host ?? []);
    const parts = (inner as readonly (Omit<ListenerPart, 'http'> & { readonly http?: string })[] | undefined)?.map(
      (part) => ({ part, http: part.http === undefined ? undefined : listenerOf(part.http) }),
    );
    const sources = [body, ...own, ...(parts ?? []).map(({ http }) => http)];
    const known = before?.listeners.get(name);
    const built =
      known && isSameList(sources, known.sources)
        ? known
        : { sources, listener: joined(head, own, parts, known?.listener) };
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
    upstreams: sameList(
      [...builtUpstreams.values()].map(({ upstream }) => upstream).sort((a, b) => compare(a.name, b.name)),
      before?.snapshot.upstreams,
    ),
    settings: settings ?? DEFAULT_SNAPSHOT_SETTINGS,
  });
  const secrets = new Map(
    [...(held.get(TYPE.secret) ?? [])].map(([name, { body }]) => [name, body as unknown as SecretValue]),
  );
  return {
    result: {
      snapshot,
      unserved,
      secrets,
      settings,
      held,
      hosts: builtHosts,
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

const EMPTY = {
  proxy: '',
  version: '',
  listeners: [] as readonly string[],
  unserved: [] as readonly UnservedListener[],
};

/** Returns the received resources, with the versions of `before` for those that are rejected. */
function withoutRejected(received: HeldByType, isRejected: ReadonlySet<string>, before: Built | undefined): HeldByType {
  const held = new Map([...received].map(([type, resources]) => [type, new Map(resources)]));
  for (const id of isRejected) {
    const [type = '', ...rest] = id.split(' ');
    const name = rest.join(' ');
    const known = before?.held.get(type)?.get(name);
    if (known) held.get(type)?.set(name, known);
    else if (type !== TYPE.virtualHost) held.get(type)?.delete(name);
  }
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

/** Returns true for virtual hosts of the same names and listeners. */
function hasSameMembers(now: ReadonlyMap<string, BuiltHost>, before: ReadonlyMap<string, BuiltHost>): boolean {
  if (now.size !== before.size) return false;
  for (const [name, { listener }] of now) if (before.get(name)?.listener !== listener) return false;
  return true;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function isSameList(now: readonly unknown[], before: readonly unknown[]): boolean {
  return now.length === before.length && now.every((each, i) => each === before[i]);
}

function sameList<T>(now: readonly T[], before: readonly T[] | undefined): readonly T[] {
  return before && isSameList(now, before) ? before : Object.freeze(now);
}
