import { ONE, parsePathTemplate, REST, type PathTemplate, type PathVariable } from './path-template.ts';

/** The text of a variable in a path. */
export interface PathBinding {
  readonly field: readonly string[];
  readonly text: string;
}

export interface PathMatch<T> {
  readonly value: T;
  readonly bindings: readonly PathBinding[];
}

interface Entry<T> {
  readonly value: T;
  readonly template: PathTemplate;
}

type ByMethod<T> = Map<string, Entry<T>>;

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  one: Node<T> | undefined;
  /** Templates with `**` here, by the literals after it, the longest first. */
  readonly rest: { readonly suffix: readonly string[]; readonly byMethod: ByMethod<T> }[];
  readonly byMethod: ByMethod<T>;
}

const EVERY_METHOD = '*';

const newNode = <T>(): Node<T> => ({ literals: new Map(), one: undefined, rest: [], byMethod: new Map() });

/**
 * Finds the rule of a path: literals before `*`, and `*` before `**`. A lookup visits each node of the tree at most once,
 * whatever the path.
 */
export class PathIndex<T> {
  /** By verb. */
  readonly #roots = new Map<string, Node<T>>();

  /** Throws an `Error` for an invalid path, and for one that is the same as another one. */
  add(method: string, path: string, value: T): PathTemplate {
    const template = parsePathTemplate(path);
    const byMethod = this.#placeOf(template);
    if (byMethod.has(method)) throw new Error(`${method} ${path} is bound twice`);
    byMethod.set(method, { value, template });
    return template;
  }

  /** Returns the match of a path without its query. Throws a `URIError` for an escape that is not UTF-8. */
  find(method: string, path: string): PathMatch<T> | undefined {
    const colon = path.lastIndexOf(':');
    if (colon > path.lastIndexOf('/')) {
      const root = this.#roots.get(path.slice(colon + 1));
      const found = root && findIn(root, method, segmentsOf(path.slice(0, colon)));
      if (found) return found;
    }
    const root = this.#roots.get('');
    return root && findIn(root, method, segmentsOf(path));
  }

  #placeOf({ segments, verb }: PathTemplate): ByMethod<T> {
    let node = this.#roots.get(verb);
    if (!node) this.#roots.set(verb, (node = newNode()));
    for (const [i, segment] of segments.entries()) {
      if (segment === REST) return restOf(node, segments.slice(i + 1));
      let next: Node<T> | undefined = segment === ONE ? node.one : node.literals.get(segment);
      if (!next) {
        next = newNode();
        if (segment === ONE) node.one = next;
        else node.literals.set(segment, next);
      }
      node = next;
    }
    return node.byMethod;
  }
}

function restOf<T>({ rest }: Node<T>, suffix: readonly string[]): ByMethod<T> {
  const known = rest.find((each) => each.suffix.join('/') === suffix.join('/'));
  if (known) return known.byMethod;
  const byMethod: ByMethod<T> = new Map();
  rest.push({ suffix, byMethod });
  rest.sort((a, b) => b.suffix.length - a.suffix.length);
  return byMethod;
}

/** Slashes at the end do not count, as in Envoy. */
function segmentsOf(path: string): readonly string[] {
  const segments = path.slice(1).split('/');
  while (segments.length > 0 && segments.at(-1) === '') segments.pop();
  return segments;
}

function findIn<T>(root: Node<T>, method: string, segments: readonly string[]): PathMatch<T> | undefined {
  const entry = entryIn(root, method, segments, 0);
  if (!entry) return undefined;
  const { value, template } = entry;
  // Indexes after `**` shift by the number of segments that it matches beyond one.
  const rest = template.segments.indexOf(REST);
  const shift = segments.length - template.segments.length;
  const place = (index: number): number => (rest >= 0 && index > rest ? index + shift : index);
  return {
    value,
    bindings: template.variables.map(({ field, start, end, isMulti }: PathVariable) => {
      const own = segments.slice(place(start), place(end));
      return { field, text: own.map(isMulti ? decodeUnreserved : decodeURIComponent).join('/') };
    }),
  };
}

function entryIn<T>(node: Node<T>, method: string, segments: readonly string[], at: number): Entry<T> | undefined {
  if (at === segments.length) {
    const own = entryOf(node.byMethod, method);
    if (own) return own;
  } else {
    const segment = segments[at]!;
    const literal = node.literals.get(segment);
    const found = literal && entryIn(literal, method, segments, at + 1);
    if (found) return found;
    // An empty segment is no value.
    const one = segment === '' || !node.one ? undefined : entryIn(node.one, method, segments, at + 1);
    if (one) return one;
  }
  for (const { suffix, byMethod } of node.rest) {
    const from = segments.length - suffix.length;
    if (from < at || !suffix.every((literal, i) => segments[from + i] === literal)) continue;
    const found = entryOf(byMethod, method);
    if (found) return found;
  }
  return undefined;
}

function entryOf<T>(byMethod: ByMethod<T>, method: string): Entry<T> | undefined {
  return byMethod.get(method) ?? byMethod.get(EVERY_METHOD);
}

/** Escapes of the reserved characters of RFC 6570 2.2. */
const RESERVED = /%(2[13467-9ABCF]|3[ABDF]|40|5[BD])/gi;

/** Decodes all escapes but those of reserved characters, which separate parts of a value with several segments. */
function decodeUnreserved(text: string): string {
  return decodeURIComponent(text.replace(RESERVED, '%25$1'));
}
