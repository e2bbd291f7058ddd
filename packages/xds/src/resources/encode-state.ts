import {
  contentText,
  difference,
  withChanges,
  type Listener,
  type SecretValue,
  type Snapshot,
  type SnapshotUpstream,
  type UnservedListener,
  type VirtualHost,
} from '@edge-gateway/core';
import { encodeStrings } from '../protocol/wire.ts';
import {
  resourceOf,
  typedResources,
  type EncodedResource,
  type ResourceSet,
  type TypedResources,
} from './resource-set.ts';
import { RESOURCE_TYPES, TYPE, type ResourceType } from './resource-type.ts';

/** What a proxy serves. */
export interface ProxyState {
  readonly snapshot: Snapshot;
  /** Listeners that the resources declare but the snapshot does not contain. */
  readonly unserved: readonly UnservedListener[];
  /** By `<namespace>/<name>`, or by the JSON of a reference to files or a discovered secret; see `secretsOf`. */
  readonly secrets: ReadonlyMap<string, SecretValue>;
}

/** Encodes states of one proxy. */
export interface StateEncoder {
  /** Returns the resources of a state; unchanged ones are the same objects as before, and so is the set if none changed. */
  encode(state: ProxyState): ResourceSet;
  /** Encodes the parts of a state one by one, so that `encode` need not. Missing if `encode` is quick with any state. */
  prepare?(state: ProxyState): Iterable<void>;
}

/** The parts of a virtual host that are resources of their own. */
const NESTED = {
  authConfigs: TYPE.authConfig,
  rateLimitConfigs: TYPE.rateLimitConfig,
  graphqlApis: TYPE.graphqlApi,
} as const;

type NestedPart = VirtualHost[keyof typeof NESTED][number];

interface EncodedHost {
  readonly listener: string;
  /** Empty for most virtual hosts. */
  readonly nested: NestedNames;
  readonly resource: EncodedResource;
}

/** The names of the nested parts of a virtual host. */
interface NestedNames {
  /** All of them in one text. */
  readonly key: string;
  readonly names: Readonly<Record<string, readonly string[]>>;
}

/** A state that was encoded. */
interface EncodedState {
  readonly state: ProxyState;
  readonly set: ResourceSet;
  /** True if each virtual host is in one listener, in the order of the names: then a changed one affects no other resource. */
  readonly isPlain: boolean;
}

const hasNested = ({ authConfigs, rateLimitConfigs, graphqlApis }: VirtualHost): boolean =>
  authConfigs.length + rateLimitConfigs.length + graphqlApis.length > 0;

/**
 * Creates an encoder. Each part of a snapshot that can change independently is a resource: a listener without its virtual hosts, a virtual
 * host without its AuthConfigs, an upstream without its endpoints. The content is JSON with sorted keys, so that equal parts have equal
 * versions everywhere.
 */
export function createStateEncoder(): StateEncoder {
  let before: ReadonlyMap<string, TypedResources> = new Map();
  let last: EncodedState | undefined;
  /** By the object that they contain. */
  const parts = new WeakMap<object, Map<string, EncodedResource>>();
  const hosts = new WeakMap<VirtualHost, EncodedHost>();

  /** Returns the resource of a frozen object; the same one as before for the same object. */
  function partOf(type: ResourceType, name: string, part: object): EncodedResource {
    let known = parts.get(part);
    if (!known) parts.set(part, (known = new Map()));
    const id = `${type} ${name}`;
    let resource = known.get(id);
    if (!resource) known.set(id, (resource = sameAsBefore(type, encodePart(type, name, part))));
    return resource;
  }

  /** Equal content keeps its object even if it was rebuilt. */
  function sameAsBefore(type: ResourceType, resource: EncodedResource): EncodedResource {
    const known = before.get(type)?.byName.get(resource.name);
    return known?.version === resource.version ? known : resource;
  }

  function encode(state: ProxyState): ResourceSet {
    const hostChanges = last?.isPlain ? changedHosts(state, last) : undefined;
    const { types, isPlain } = hostChanges ? { types: withHosts(hostChanges), isPlain: true } : encodeAll(state);
    const { snapshot, unserved } = state;
    const { proxy, version, listeners } = snapshot;
    const versions = Object.fromEntries([...types].map(([type, { version: own }]) => [type, own]));
    delete versions[TYPE.snapshot];
    const manifest = { proxy, version, listeners: listeners.map(({ name }) => name), unserved, versions };
    const resource = sameAsBefore(TYPE.snapshot, encodePart(TYPE.snapshot, proxy, manifest));
    types.set(TYPE.snapshot, typedResources(new Map([[resource.name, resource]]), before.get(TYPE.snapshot)));
    const isSame = last && [...types].every(([type, resources]) => before.get(type) === resources);
    before = types;
    const set = isSame ? last!.set : Object.freeze({ version, types });
    last = { state, set, isPlain };
    return set;
  }

  function withHosts(changes: HostChanges): Map<string, TypedResources> {
    const types = new Map(before);
    const hostsBefore = before.get(TYPE.virtualHost)!;
    types.set(TYPE.virtualHost, typedResources(withChanges(hostsBefore.byName, changes), hostsBefore));
    return types;
  }

  /** Returns the changes of the resources of virtual hosts; `undefined` if other resources may change. */
  function changedHosts(state: ProxyState, { state: old }: EncodedState): HostChanges | undefined {
    const pairs = listenerPairs(state, old);
    if (!pairs) return undefined;
    const changes: HostChanges = new Map();
    for (const [listener, oldListener] of pairs) {
      const { added, removed } = difference(listener.virtualHosts, oldListener.virtualHosts);
      const replaced = new Map(removed.map((host) => [host.name, host]));
      if (!keepsOrder(listener, oldListener, added, replaced)) return undefined;
      for (const host of removed) changes.set(`${listener.name}/${host.name}`, undefined);
      for (const host of added) {
        const name = `${listener.name}/${host.name}`;
        const previous = replaced.get(host.name);
        replaced.delete(host.name);
        const nested = nestedAsBefore(host, previous);
        const isTaken =
          changes.get(name) !== undefined || (!previous && before.get(TYPE.virtualHost)!.byName.has(name));
        if (!nested || isTaken) return undefined;
        const resource = encodeHost(host, { name, listener: listener.name, nested });
        hosts.set(host, { listener: listener.name, nested, resource });
        changes.set(name, resource);
      }
      for (const host of replaced.values()) if (hasNested(host)) return undefined;
    }
    return changes;
  }

  /** Returns the names of the nested parts of a changed virtual host if they are those of the previous one. */
  function nestedAsBefore(host: VirtualHost, previous: VirtualHost | undefined): NestedNames | undefined {
    if (!hasNested(host)) return previous && hasNested(previous) ? undefined : NOTHING_NESTED;
    return previous && hasSameNested(host, previous) ? hosts.get(previous)?.nested : undefined;
  }

  function encodeHost(
    host: VirtualHost,
    { name, listener, nested }: { readonly name: string; readonly listener: string; readonly nested: NestedNames },
  ): EncodedResource {
    const body = { ...host, ...nested.names, listener };
    return sameAsBefore(TYPE.virtualHost, encodePart(TYPE.virtualHost, name, body));
  }

  function encodeAll({ snapshot, secrets }: ProxyState): {
    readonly types: Map<string, TypedResources>;
    readonly isPlain: boolean;
  } {
    const { settings, upstreams, listeners } = snapshot;
    let isPlain = true;
    const found = new Map<ResourceType, Map<string, EncodedResource>>(RESOURCE_TYPES.map((type) => [type, new Map()]));
    const add = (type: ResourceType, resource: EncodedResource): void =>
      void found.get(type)!.set(resource.name, resource);
    /** The name of each nested part, by its digest if the name has several versions. */
    const names = nestedNames(add);
    /** The resource of each virtual host, named after the first listener that has it. */
    const placed = new Map<VirtualHost, string>();

    function addHost(host: VirtualHost, listener: string): string {
      const nested = hasNested(host) ? nestedOf(host) : NOTHING_NESTED;
      let known = hosts.get(host);
      if (
        known?.listener !== listener ||
        known.nested.key !== nested.key ||
        found.get(TYPE.virtualHost)!.has(known.resource.name)
      ) {
        const name = uniqueName(found.get(TYPE.virtualHost)!, `${listener}/${host.name}`);
        if (name !== `${listener}/${host.name}`) isPlain = false;
        hosts.set(host, (known = { listener, nested, resource: encodeHost(host, { name, listener, nested }) }));
      }
      add(TYPE.virtualHost, known.resource);
      placed.set(host, known.resource.name);
      return known.resource.name;
    }

    function nestedOf(host: VirtualHost): NestedNames {
      const nested = (Object.keys(NESTED) as (keyof typeof NESTED)[]).map(
        (field) => [field, host[field].map((part) => names(NESTED[field], part))] as const,
      );
      return { key: nested.map(([, list]) => list.join('\0')).join('\0\0'), names: Object.fromEntries(nested) };
    }

    function addListener({ virtualHosts, parts: inner, ...head }: Listener): void {
      const shown = inner?.map(({ http, ...part }) => {
        if (http) addListener(http);
        return { ...part, ...(http && { http: http.name }) };
      });
      const order = virtualHosts.map((host) => {
        const name = placed.get(host);
        if (name !== undefined) isPlain = false;
        return name ?? addHost(host, head.name);
      });
      const prefix = `${head.name}/`;
      const isImplicit = order.every((name, i) => name.startsWith(prefix) && (i === 0 || order[i - 1]! < name));
      if (!isImplicit) isPlain = false;
      // Otherwise every new virtual host would resend the names of thousands of others.
      const body = { ...head, ...(shown && { parts: shown }), ...(!isImplicit && { virtualHosts: order }) };
      add(TYPE.listener, sameAsBefore(TYPE.listener, encodePart(TYPE.listener, head.name, body)));
    }

    for (const listener of listeners) addListener(listener);
    for (const upstream of upstreams) {
      add(TYPE.upstream, partOf(TYPE.upstream, upstream.name, upstream));
      add(TYPE.endpointSet, partOf(TYPE.endpointSet, upstream.name, upstream));
    }
    for (const [name, secret] of secrets) add(TYPE.secret, partOf(TYPE.secret, name, secret));
    add(TYPE.settings, partOf(TYPE.settings, 'settings', settings));
    const types = new Map<string, TypedResources>();
    for (const [type, byName] of found) types.set(type, typedResources(byName, before.get(type)));
    return { types, isPlain };
  }

  /** Returns a function that adds nested parts and returns their names. */
  function nestedNames(add: (type: ResourceType, resource: EncodedResource) => void) {
    const first = new Map<string, EncodedResource>();
    return (type: ResourceType, part: NestedPart): string => {
      const name = `${part.ref.namespace}.${part.ref.name}`;
      const resource = partOf(type, name, part);
      const id = `${type} ${name}`;
      const known = first.get(id);
      if (!known) first.set(id, resource);
      if (!known || known.version === resource.version) {
        add(type, known ?? resource);
        return name;
      }
      // The last good version of a virtual host may contain an earlier version of the part.
      const other = partOf(type, `${name}@${resource.version}`, part);
      add(type, other);
      return other.name;
    };
  }

  return { encode };
}

const NOTHING_NESTED: NestedNames = { key: '', names: {} };

/** New resources of virtual hosts by name; `undefined` for removed ones. */
type HostChanges = Map<string, EncodedResource | undefined>;

/** Returns the listeners whose virtual hosts differ, with the previous ones; `undefined` if anything else differs. */
function listenerPairs(now: ProxyState, before: ProxyState): readonly (readonly [Listener, Listener])[] | undefined {
  const [{ listeners, ...rest }, { listeners: oldListeners, ...oldRest }] = [now.snapshot, before.snapshot];
  const isSame =
    isAlike(rest, oldRest, ['version']) &&
    isSameMap(now.secrets, before.secrets) &&
    listeners.length === oldListeners.length;
  if (!isSame) return undefined;
  const pairs = listeners.map((listener, i) => [listener, oldListeners[i]!] as const);
  if (!pairs.every(([listener, old]) => isAlike(listener, old, ['virtualHosts']))) return undefined;
  return pairs.filter(([listener, old]) => listener.virtualHosts !== old.virtualHosts);
}

/** Returns true if all members are the same objects, except for those of some names. */
function isAlike<T extends object>(now: T, before: T, except: readonly (keyof T)[]): boolean {
  const keys = Object.keys({ ...now, ...before }) as (keyof T)[];
  return keys.every((key) => now[key] === before[key] || except.includes(key));
}

function isSameMap<K, V>(now: ReadonlyMap<K, V>, before: ReadonlyMap<K, V>): boolean {
  return now.size === before.size && [...now].every(([key, value]) => before.get(key) === value);
}

function hasSameNested(host: VirtualHost, before: VirtualHost): boolean {
  return (Object.keys(NESTED) as (keyof typeof NESTED)[]).every(
    (field) => host[field].length === before[field].length && host[field].every((part, i) => part === before[field][i]),
  );
}

/** Returns true if the virtual hosts of a listener are still in the order of their names. */
function keepsOrder(
  { virtualHosts }: Listener,
  before: Listener,
  added: readonly VirtualHost[],
  replaced: ReadonlyMap<string, VirtualHost>,
): boolean {
  const isReplacement =
    virtualHosts.length === before.virtualHosts.length && added.every(({ name }) => replaced.has(name));
  if (!isReplacement) return virtualHosts.every((host, i) => i === 0 || virtualHosts[i - 1]!.name < host.name);
  return virtualHosts.every((host, i) => {
    const old = before.virtualHosts[i]!;
    return host === old || host.name === old.name;
  });
}

function uniqueName(used: ReadonlyMap<string, unknown>, name: string): string {
  if (!used.has(name)) return name;
  for (let i = 2; ; i++) if (!used.has(`${name}#${i}`)) return `${name}#${i}`;
}

function encodePart(type: ResourceType, name: string, part: object): EncodedResource {
  return resourceOf(type, name, encodeStrings([contentText(bodyOf(type, part))]));
}

/** An upstream is two resources: its endpoints change more often than its other fields. */
function bodyOf(type: ResourceType, part: object): unknown {
  if (type === TYPE.endpointSet) return { endpoints: (part as SnapshotUpstream).endpoints };
  if (type !== TYPE.upstream) return part;
  const { endpoints: _, ...rest } = part as SnapshotUpstream;
  return rest;
}
