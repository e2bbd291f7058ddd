import { hash } from 'node:crypto';

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

/** How the resources of a type differ. */
export interface ResourceDifference {
  readonly changed: readonly EncodedResource[];
  /** Names. */
  readonly removed: readonly string[];
}

export const NO_RESOURCES: TypedResources = Object.freeze({ version: '0', byName: new Map() });

/** Creates a resource with the version of its content. */
export function resourceOf(type: string, name: string, value: Uint8Array): EncodedResource {
  const content = Buffer.concat([Buffer.from(`${type}\0${name}\0`, 'utf8'), value]);
  return Object.freeze({ name, version: hash('sha256', content, 'hex').slice(0, 20), value });
}

/** Returns the resources as a set; `before` if it has the same ones. */
export function typedResources(
  byName: ReadonlyMap<string, EncodedResource>,
  before: TypedResources | undefined,
): TypedResources {
  if (before && isSame(byName, before.byName)) return before;
  return Object.freeze({ version: versionOfAll(byName), byName });
}

/** Returns the version of resources of a type: the sum of theirs. `0` for none. */
export function versionOfAll(byName: ReadonlyMap<string, Pick<EncodedResource, 'version'>>): string {
  let sum = 0n;
  for (const { version } of byName.values()) sum += BigInt(`0x${version}`);
  return sum.toString(16);
}

function isSame(now: ReadonlyMap<string, EncodedResource>, before: ReadonlyMap<string, EncodedResource>): boolean {
  if (now.size !== before.size) return false;
  for (const [name, resource] of now) if (before.get(name) !== resource) return false;
  return true;
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

const differences = new WeakMap<TypedResources, WeakMap<TypedResources, ResourceDifference>>();

/** Returns how two sets differ; computed once for all nodes. */
export function differenceOf(before: TypedResources, after: TypedResources): ResourceDifference {
  let known = differences.get(before);
  if (!known) differences.set(before, (known = new WeakMap()));
  let found = known.get(after);
  if (!found) {
    const changed = [...after.byName.values()].filter((each) => before.byName.get(each.name) !== each);
    const removed = [...before.byName.keys()].filter((name) => !after.byName.has(name));
    known.set(after, (found = { changed, removed }));
  }
  return found;
}
