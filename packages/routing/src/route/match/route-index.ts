import { allHold } from './conditions.ts';
import { literalPrefix, type CompiledMatcher } from './matcher.ts';
import type { RequestView } from '../../format/record.ts';

export interface RouteEntry<R> {
  /** Position in the list of all matchers; the lowest matching one wins. */
  readonly order: number;
  readonly matcher: CompiledMatcher;
  readonly route: R;
}

/** Finds the first matching route without testing all routes. */
export interface RouteIndex<R> {
  /** Missing if there are few: then exact paths are among the prefixes. */
  readonly exact: ReadonlyMap<string, readonly RouteEntry<R>[]> | undefined;
  readonly prefixes: PrefixNode<RouteEntry<R>> | undefined;
  /** The index of matchers that ignore case, on the path in lower case; `undefined` if there are none. */
  readonly folded: PrefixNode<RouteEntry<R>> | undefined;
  /** The routes of CONNECT requests, which have no path. */
  readonly connect: readonly RouteEntry<R>[];
}

/** Minimum number of exact paths for a map: for two routes, the map would be larger than the routes. */
const MIN_MAPPED = 8;

export function createRouteIndex<R>(entries: readonly RouteEntry<R>[]): RouteIndex<R> {
  const isExact = ({ matcher }: RouteEntry<R>): boolean => matcher.kind === 'exact' && !matcher.ignoreCase;
  const exact = countOf(entries, isExact) < MIN_MAPPED ? undefined : new Map<string, RouteEntry<R>[]>();
  let prefixes: PrefixNode<RouteEntry<R>> | undefined;
  let folded: PrefixNode<RouteEntry<R>> | undefined;
  let connect: RouteEntry<R>[] | undefined;
  for (const entry of entries) {
    const { kind, text, ignoreCase } = entry.matcher;
    if (kind === 'connect') (connect ??= []).push(entry);
    else if (ignoreCase) folded = withPrefix(folded, text, entry);
    else if (exact && kind === 'exact') {
      const others = exact.get(text);
      if (others) others.push(entry);
      else exact.set(text, [entry]);
    } else prefixes = withPrefix(prefixes, kind === 'regex' ? literalPrefix(text) : text, entry);
  }
  return { exact, prefixes, folded, connect: connect ?? NO_ENTRIES };
}

function countOf<T>(list: readonly T[], test: (item: T) => boolean): number {
  let count = 0;
  for (const item of list) if (test(item)) count++;
  return count;
}

export function findRoute<R>(index: RouteIndex<R>, view: RequestView): RouteEntry<R> | undefined {
  if (view.method === 'CONNECT') return firstFit(index.connect, view, undefined);
  let best: RouteEntry<R> | undefined;
  const exact = index.exact?.get(view.pathname);
  if (exact) best = firstFit(exact, view, best);
  if (index.prefixes) best = walk(index.prefixes, view.pathname, view, best);
  if (index.folded) best = walk(index.folded, view.pathname.toLowerCase(), view, best);
  return best;
}

function walk<R>(
  tree: PrefixNode<RouteEntry<R>>,
  path: string,
  view: RequestView,
  found: RouteEntry<R> | undefined,
): RouteEntry<R> | undefined {
  let best = found;
  let node: PrefixNode<RouteEntry<R>> | undefined = tree;
  let at = 0;
  while (node && path.startsWith(node.label, at)) {
    if (node.entries.length > 0) best = firstFit(node.entries, view, best);
    at += node.label.length;
    node = childOf(node, path.charCodeAt(at));
  }
  return best;
}

function firstFit<R>(
  entries: readonly RouteEntry<R>[],
  view: RequestView,
  best: RouteEntry<R> | undefined,
): RouteEntry<R> | undefined {
  for (const entry of entries) {
    if (best && entry.order >= best.order) return best;
    if (fits(entry.matcher, view)) return entry;
  }
  return best;
}

/** Checks what the position in the index does not imply. */
function fits(matcher: CompiledMatcher, view: RequestView): boolean {
  if (matcher.kind === 'exact' && matcher.text.length !== view.pathname.length) return false;
  if (!allHold(matcher.conditions, view)) return false;
  return matcher.regex === undefined || matcher.regex.fullMatch(view.pathname);
}

/** A node of a radix tree: texts with a common prefix share the path to it. */
interface PrefixNode<T> {
  /** The text that this node adds to that of its parent. */
  label: string;
  /** In the order in which they were added. */
  entries: T[];
  /** A list if they are few, otherwise by first character code of their label. */
  children: readonly PrefixNode<T>[] | Map<number, PrefixNode<T>>;
}

/** A node with more children has a map of them. */
const MAX_LISTED = 4;
const NO_CHILDREN: readonly never[] = Object.freeze([]);
/** The shared, immutable entries of inner nodes. */
const NO_ENTRIES: never[] = [];

function childOf<T>({ children }: PrefixNode<T>, code: number): PrefixNode<T> | undefined {
  if (children instanceof Map) return children.get(code);
  for (const child of children) if (child.label.charCodeAt(0) === code) return child;
  return undefined;
}

function addChild<T>(node: PrefixNode<T>, child: PrefixNode<T>): void {
  const { children } = node;
  if (children instanceof Map) children.set(child.label.charCodeAt(0), child);
  else if (children.length < MAX_LISTED) node.children = children.concat(child);
  else node.children = new Map([...children, child].map((each) => [each.label.charCodeAt(0), each]));
}

/** Returns the tree with a value under a text. */
function withPrefix<T>(root: PrefixNode<T> | undefined, text: string, value: T): PrefixNode<T> {
  if (root) addPrefix(root, text, value);
  return root ?? { label: text, entries: [value], children: NO_CHILDREN };
}

function addPrefix<T>(root: PrefixNode<T>, text: string, value: T): void {
  let node = root;
  let at = 0;
  for (;;) {
    const shared = sharedLength(node.label, text, at);
    if (shared < node.label.length) split(node, shared);
    at += shared;
    if (at === text.length) break;
    const child = childOf(node, text.charCodeAt(at));
    if (!child) {
      addChild(node, { label: text.slice(at), entries: [value], children: NO_CHILDREN });
      return;
    }
    node = child;
  }
  if (node.entries === NO_ENTRIES) node.entries = [value];
  else node.entries.push(value);
}

function sharedLength(label: string, text: string, at: number): number {
  let shared = 0;
  while (shared < label.length && label.charCodeAt(shared) === text.charCodeAt(at + shared)) shared++;
  return shared;
}

/** Moves everything after the first `at` characters of a node to a child. */
function split<T>(node: PrefixNode<T>, at: number): void {
  const lower: PrefixNode<T> = { label: node.label.slice(at), entries: node.entries, children: node.children };
  node.label = node.label.slice(0, at);
  node.entries = NO_ENTRIES;
  node.children = [lower];
}
