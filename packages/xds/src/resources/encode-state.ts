import {
  contentText,
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
  /** The names of its nested parts; empty for most virtual hosts. */
  readonly nested: string;
  readonly resource: EncodedResource;
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
  let last: ResourceSet | undefined;
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

  function encode({ snapshot, unserved, secrets }: ProxyState): ResourceSet {
    const { proxy, version, settings, upstreams, listeners } = snapshot;
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
        known.nested !== nested.key ||
        found.get(TYPE.virtualHost)!.has(known.resource.name)
      ) {
        const name = uniqueName(found.get(TYPE.virtualHost)!, `${listener}/${host.name}`);
        const body = { ...host, ...nested.names, listener };
        const resource = sameAsBefore(TYPE.virtualHost, encodePart(TYPE.virtualHost, name, body));
        hosts.set(host, (known = { listener, nested: nested.key, resource }));
      }
      add(TYPE.virtualHost, known.resource);
      placed.set(host, known.resource.name);
      return known.resource.name;
    }

    function nestedOf(host: VirtualHost): typeof NOTHING_NESTED {
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
      const order = virtualHosts.map((host) => placed.get(host) ?? addHost(host, head.name));
      const prefix = `${head.name}/`;
      const isImplicit = order.every((name, i) => name.startsWith(prefix) && (i === 0 || order[i - 1]! < name));
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
    const versions = Object.fromEntries([...types].map(([type, set]) => [type, set.version]));
    delete versions[TYPE.snapshot];
    const manifest = { proxy, version, listeners: listeners.map(({ name }) => name), unserved, versions };
    add(TYPE.snapshot, sameAsBefore(TYPE.snapshot, encodePart(TYPE.snapshot, proxy, manifest)));
    types.set(TYPE.snapshot, typedResources(found.get(TYPE.snapshot)!, before.get(TYPE.snapshot)));
    if (last && [...types].every(([type, resources]) => before.get(type) === resources)) return last;
    before = types;
    last = Object.freeze({ version, types });
    return last;
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

const NOTHING_NESTED: { readonly key: string; readonly names: Readonly<Record<string, readonly string[]>> } = {
  key: '',
  names: {},
};

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
