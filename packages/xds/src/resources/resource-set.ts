import { hash } from 'node:crypto';
import { differingKeys } from '@edge-gateway/core';
import { unpooled } from '../protocol/wire.ts';

/** A resource as it is sent. The same object while its content does not change. */
export interface EncodedResource {
  readonly name: string;
  /** Digest of type, name and content. */
  readonly version: string;
  /** The message in its `Any`. */
  readonly value: Uint8Array;
}

/** A resource of an update, as a proxy receives it. */
export interface ReceivedResource extends EncodedResource {
  readonly type: string;
}

/** A resource as a proxy keeps it. */
export interface SavedResource {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  /** The JSON in its message. The bytes of the message are not kept: they are a part of a whole response, which would stay in memory with them. */
  readonly content: string;
}

/** All resources of one type. The same object while none of them changes. */
export interface TypedResources {
  /** Depends on the content only, not on the order or on earlier versions. */
  readonly version: string;
  readonly byName: ReadonlyMap<string, EncodedResource>;
}

/** All resources of a proxy, by type URL. */
export interface ResourceSet {
  /** Of the snapshot. */
  readonly version: string;
  readonly types: ReadonlyMap<string, TypedResources>;
}

/** The difference between two resource sets of a type. */
export interface ResourceDifference {
  readonly changed: readonly EncodedResource[];
  /** Names. */
  readonly removed: readonly string[];
}

export const NO_RESOURCES: TypedResources = Object.freeze({ version: '0', byName: new Map() });

const differences = new WeakMap<TypedResources, WeakMap<TypedResources, ResourceDifference>>();

/** A resource whose message is assembled when it is first sent. */
class AssembledResource implements EncodedResource {
  readonly name: string;
  readonly version: string;
  #value: Uint8Array | undefined;
  #assemble: (() => Uint8Array) | undefined;

  constructor(name: string, version: string, assemble: () => Uint8Array) {
    this.name = name;
    this.version = version;
    this.#assemble = assemble;
  }

  get value(): Uint8Array {
    if (this.#assemble) {
      this.#value = unpooled(this.#assemble());
      this.#assemble = undefined;
    }
    return this.#value!;
  }
}

/** Creates a resource from a large number of parts, whose versions make up its own: neither all bytes are read for it, nor are they joined before they are sent. */
export function assembledResource(
  type: string,
  name: string,
  { versions, assemble }: { readonly versions: Iterable<string>; readonly assemble: () => Uint8Array },
): EncodedResource {
  const content = `${type}\0${name}\0${[...versions].join(' ')}`;
  return new AssembledResource(name, hash('sha256', content, 'hex').slice(0, 20), assemble);
}

/** Creates a resource with the version of its content. */
export function resourceOf(type: string, name: string, value: Uint8Array): EncodedResource {
  const content = Buffer.concat([Buffer.from(`${type}\0${name}\0`, 'utf8'), value]);
  return Object.freeze({ name, version: hash('sha256', content, 'hex').slice(0, 20), value: unpooled(value) });
}

/** Returns the resources as a set; `before` if it has the same ones. */
export function typedResources(
  byName: ReadonlyMap<string, EncodedResource>,
  before: TypedResources = NO_RESOURCES,
): TypedResources {
  const difference = compare(byName, before.byName);
  const { changed, removed } = difference;
  if (changed.length === 0 && removed.length === 0) return before;
  let sum = valueOf(before.version);
  for (const { name, version } of changed) sum += valueOf(version) - valueOf(before.byName.get(name)?.version);
  for (const name of removed) sum -= valueOf(before.byName.get(name)!.version);
  const resources = Object.freeze({ version: sum.toString(16), byName });
  // All nodes need the difference next.
  differences.set(before, new WeakMap([[resources, difference]]));
  return resources;
}

const valueOf = (version: string | undefined): bigint => (version === undefined ? 0n : BigInt(`0x${version}`));

function compare(
  now: ReadonlyMap<string, EncodedResource>,
  before: ReadonlyMap<string, EncodedResource>,
): ResourceDifference {
  const changed: EncodedResource[] = [];
  const removed: string[] = [];
  for (const name of differingKeys(before, now)) {
    const resource = now.get(name);
    if (resource) changed.push(resource);
    else removed.push(name);
  }
  return { changed, removed };
}

/** Returns what changed since the versions that a node has. */
export function differenceFrom(
  known: ReadonlyMap<string, string>,
  { byName }: TypedResources,
  isWanted: (name: string) => boolean = () => true,
): ResourceDifference {
  const changed: EncodedResource[] = [];
  for (const resource of byName.values())
    if (known.get(resource.name) !== resource.version && isWanted(resource.name)) changed.push(resource);
  const removed = [...known.keys()].filter((name) => !byName.has(name));
  return { changed, removed };
}

/** Returns how two sets differ; computed once for all nodes. */
export function differenceOf(before: TypedResources, after: TypedResources): ResourceDifference {
  let known = differences.get(before);
  if (!known) differences.set(before, (known = new WeakMap()));
  let found = known.get(after);
  if (!found) known.set(after, (found = compare(after.byName, before.byName)));
  return found;
}
