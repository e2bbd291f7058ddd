import { Kind, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';

export const MAX_OVERLAPS = 2000;
/** Maximum depth: only cycles of fragments go deeper. */
const MAX_LEVELS = 100;
/** Maximum number of fields visited. More than these overlap too often in any case. */
const MAX_VISITS = 20_000;

/** Returns true if fields of one name overlap too often: comparing them is the quadratic part of validation. */
export function overlapsTooOften(document: DocumentNode): boolean {
  const counter = new OverlapCounter(fragmentsOf(document));
  for (const one of document.definitions) {
    if ('selectionSet' in one && one.selectionSet) counter.count([one.selectionSet]);
    if (counter.exceeded) return true;
  }
  return false;
}

/** Returns the fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  return new Map(definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])));
}

class OverlapCounter {
  #overlaps = 0;
  #visits = 0;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  get exceeded(): boolean {
    return this.#overlaps > MAX_OVERLAPS || this.#visits > MAX_VISITS;
  }

  /** Fields with the same response name have merged selections. */
  count(sets: readonly SelectionSetNode[], level = 0): void {
    const groups = new Map<string, SelectionSetNode[]>();
    const sizes = new Map<string, number>();
    const opened = new Set<string>();
    if (level > MAX_LEVELS) this.#visits = MAX_VISITS + 1;
    const collect = (set: SelectionSetNode): void => {
      for (const selection of set.selections) {
        if (++this.#visits > MAX_VISITS) return;
        if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
        else if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const fragment = opened.has(selection.name.value) ? undefined : this.#fragments.get(selection.name.value);
          opened.add(selection.name.value);
          if (fragment) collect(fragment.selectionSet);
        } else {
          const key = (selection.alias ?? selection.name).value;
          const size = sizes.get(key) ?? 0;
          sizes.set(key, size + 1);
          this.#overlaps += size;
          if (!selection.selectionSet) continue;
          const group = groups.get(key);
          if (group) group.push(selection.selectionSet);
          else groups.set(key, [selection.selectionSet]);
        }
      }
    };
    for (const set of sets) collect(set);
    for (const group of groups.values()) {
      if (this.exceeded) return;
      this.count(group, level + 1);
    }
  }
}
