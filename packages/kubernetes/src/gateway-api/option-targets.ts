import { GATEWAY_GROUP, type OptionResource } from './gateway-objects.ts';

/** What options are looked up for. */
export interface OptionTarget {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly sectionName?: string;
}

/** Options by the objects that they target. */
export interface OptionTargets {
  /** Returns the names of the options that target an object. Those for a section of it come first, then those that come first by name. */
  of(kind: OptionResource['kind'], target: OptionTarget): readonly string[];
}

interface Targeting {
  readonly name: string;
  readonly sections: readonly (string | undefined)[];
}

const NONE: readonly Targeting[] = [];

const keyOf = (kind: OptionResource['kind'], target: OptionTarget): string =>
  `${kind} ${target.kind} ${target.namespace}/${target.name}`;

/** Creates the lookup. Options target objects of their own namespace only. */
export function createOptionTargets(options: Iterable<OptionResource>): OptionTargets {
  const byTarget = new Map<string, Targeting[]>();
  for (const { kind, name, namespace, targetRefs } of options) {
    const refs = targetRefs.filter(({ group = GATEWAY_GROUP }) => group === GATEWAY_GROUP);
    const groups = Map.groupBy(refs, (ref) => keyOf(kind, { kind: ref.kind ?? '', name: ref.name, namespace }));
    for (const [key, own] of groups) {
      const sections = own.map(({ sectionName }) => sectionName);
      byTarget.set(key, [...(byTarget.get(key) ?? []), { name, sections }]);
    }
  }
  return {
    of(kind, target) {
      const found = (byTarget.get(keyOf(kind, target)) ?? NONE).flatMap(({ name, sections }) => {
        const own = sections.filter((section) => section === undefined || section === target.sectionName);
        return own.length > 0 ? [{ name, isOfSection: own.some((section) => section !== undefined) }] : [];
      });
      return found
        .sort((a, b) => Number(b.isOfSection) - Number(a.isOfSection) || (a.name < b.name ? -1 : 1))
        .map(({ name }) => name);
    },
  };
}
