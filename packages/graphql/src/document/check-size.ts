import { Kind, type DocumentNode, type FieldNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import type { Limits } from './limits.ts';
import { fragmentsOf, overlapsTooOften } from './overlaps.ts';

/** Upper bound of all counts, so that nested fragments do not overflow. */
const MANY = 1e9;

interface Size {
  readonly fields: number;
  readonly depth: number;
  readonly roots: number;
}

const NOTHING: Size = { fields: 0, depth: 0, roots: 0 };

/** Returns which limit a document exceeds. Each fragment is visited once, so that the cost is linear. */
export function sizeProblem(document: DocumentNode, limits: Limits): string | undefined {
  const sizes = new FragmentSizes(document);
  const { written } = sizes;
  let size = NOTHING;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      count(written, definition);
      size = largest(size, sizes.of(definition.selectionSet));
    } else if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      count(written, definition);
      sizes.fragment(definition.name.value);
    }
  }
  const measured: readonly (readonly [keyof Limits, number, string])[] = [
    ['maxAliases', written.aliases, 'aliases'],
    ['maxDirectives', written.directives, 'directives'],
    ['maxFieldRepeats', written.repeats, 'repetitions of a field in one selection'],
    ['maxRootFields', size.roots, 'fields of the operation itself'],
    ['maxQueryDepth', size.depth, 'levels of fields'],
    ['maxFields', size.fields, 'fields'],
  ];
  const exceeded = measured.find(([name, value]) => limits[name] > 0 && value > limits[name]);
  if (exceeded) return `The document has more than ${limits[exceeded[0]]} ${exceeded[2]}.`;
  return overlapsTooOften(document) ? 'The document repeats the same fields too often.' : undefined;
}

function count(written: FragmentSizes['written'], { directives }: { readonly directives?: readonly unknown[] }): void {
  written.directives += directives?.length ?? 0;
}

function largest(a: Size, b: Size): Size {
  return {
    fields: Math.max(a.fields, b.fields),
    depth: Math.max(a.depth, b.depth),
    roots: Math.max(a.roots, b.roots),
  };
}

class FragmentSizes {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #known = new Map<string, Size>();
  /** Counts of the document as written, without expanding fragments. */
  readonly written = { aliases: 0, directives: 0, repeats: 0 };

  constructor(document: DocumentNode) {
    this.#fragments = fragmentsOf(document);
  }

  fragment(name: string): Size {
    const known = this.#known.get(name);
    if (known) return known;
    this.#known.set(name, NOTHING);
    const fragment = this.#fragments.get(name);
    const size = fragment ? this.of(fragment.selectionSet) : NOTHING;
    this.#known.set(name, size);
    return size;
  }

  of(set: SelectionSetNode): Size {
    let [fields, depth, roots] = [0, 0, 0];
    const names = new Map<string, number>();
    for (const selection of set.selections) {
      count(this.written, selection);
      const size = selection.kind === Kind.FIELD ? this.#field(selection, names) : this.#spread(selection);
      fields = Math.min(MANY, fields + size.fields);
      roots = Math.min(MANY, roots + size.roots);
      depth = Math.max(depth, size.depth);
    }
    return { fields, depth, roots };
  }

  #spread(selection: Exclude<SelectionSetNode['selections'][number], FieldNode>): Size {
    return selection.kind === Kind.FRAGMENT_SPREAD
      ? this.fragment(selection.name.value)
      : this.of(selection.selectionSet);
  }

  #field(field: FieldNode, names: Map<string, number>): Size {
    const repeats = (names.get(field.name.value) ?? 0) + 1;
    names.set(field.name.value, repeats);
    this.written.repeats = Math.max(this.written.repeats, repeats);
    if (field.alias) this.written.aliases++;
    if (!field.selectionSet) return { fields: 1, depth: 1, roots: 1 };
    const inner = this.of(field.selectionSet);
    const schema = field.name.value.startsWith('__');
    return { fields: Math.min(MANY, inner.fields + 1), depth: schema ? 1 : inner.depth + 1, roots: 1 };
  }
}
