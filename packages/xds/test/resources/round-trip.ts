import { createStateDecoder, differenceFrom, RESOURCE_TYPES, type ResourceSet } from '../../src/resources/index.ts';

/** Gives a decoder everything that it does not have of a set. Returns the names of the resources that were passed on, by type. */
export function transfer(
  set: ResourceSet,
  decoder: ReturnType<typeof createStateDecoder>,
): { readonly changed: readonly string[]; readonly removed: readonly string[] } {
  const [changed, removed]: [string[], string[]] = [[], []];
  for (const type of RESOURCE_TYPES) {
    const known = new Map(Object.entries(decoder.versions(type)));
    const difference = differenceFrom(known, set.types.get(type)!);
    for (const { name, version, value } of difference.changed) {
      decoder.receive({ type, name, version, value });
      changed.push(name);
    }
    for (const name of difference.removed) {
      decoder.remove(type, name);
      removed.push(name);
    }
  }
  return { changed, removed };
}
