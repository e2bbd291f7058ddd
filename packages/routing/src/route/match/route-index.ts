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
  readonly exact: Map<string, RouteEntry<R>[]>;
  readonly prefixes: PrefixNode<RouteEntry<R>>;
  /** The index of matchers that ignore case, on the path in lower case; `undefined` if there are none. */
  readonly folded: PrefixNode<RouteEntry<R>> | undefined;
  /** The routes of CONNECT requests, which have no path. */
  readonly connect: readonly RouteEntry<R>[];
}

export function createRouteIndex<R>(entries: readonly RouteEntry<R>[]): RouteIndex<R> {
  const exact = new Map<string, RouteEntry<R>[]>();
  const prefixes: PrefixNode<RouteEntry<R>> = { label: '', entries: [], children: undefined };
  let folded: PrefixNode<RouteEntry<R>> | undefined;
  const connect: RouteEntry<R>[] = [];
  for (const entry of entries) {
    const { kind, text, ignoreCase } = entry.matcher;
    if (kind === 'connect') connect.push(entry);
    else if (ignoreCase) addPrefix((folded ??= { label: '', entries: [], children: undefined }), text, entry);
    else if (kind === 'regex') addPrefix(prefixes, literalPrefix(text), entry);
    else if (kind === 'exact') exact.set(text, [...(exact.get(text) ?? []), entry]);
    else addPrefix(prefixes, text, entry);
  }
  return { exact, prefixes, folded, connect };
}

export function findRoute<R>(index: RouteIndex<R>, view: RequestView): RouteEntry<R> | undefined {
  if (view.method === 'CONNECT') return firstFit(index.connect, view, undefined);
  let best: RouteEntry<R> | undefined;
  const exact = index.exact.get(view.pathname);
  if (exact) best = firstFit(exact, view, best);
  best = walk(index.prefixes, view.pathname, view, best);
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
  while (node) {
    if (node.entries.length > 0) best = firstFit(node.entries, view, best);
    const child: PrefixNode<RouteEntry<R>> | undefined = node.children?.get(path.charCodeAt(at));
    if (!child || !path.startsWith(child.label, at)) break;
    at += child.label.length;
    node = child;
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
  /** By first character code of their label. */
  children: Map<number, PrefixNode<T>> | undefined;
}

/** Adds a value under a text; the empty text is at the root. */
function addPrefix<T>(root: PrefixNode<T>, text: string, value: T): void {
  let node = root;
  let at = 0;
  while (at < text.length) {
    node.children ??= new Map();
    const code = text.charCodeAt(at);
    const child = node.children.get(code);
    if (!child) {
      const leaf: PrefixNode<T> = { label: text.slice(at), entries: [value], children: undefined };
      node.children.set(code, leaf);
      return;
    }
    const shared = sharedLength(child.label, text, at);
    node = shared === child.label.length ? child : split(node.children, child, shared);
    at += shared;
  }
  node.entries.push(value);
}

function sharedLength(label: string, text: string, at: number): number {
  let shared = 0;
  while (shared < label.length && label.charCodeAt(shared) === text.charCodeAt(at + shared)) shared++;
  return shared;
}

function split<T>(siblings: Map<number, PrefixNode<T>>, child: PrefixNode<T>, at: number): PrefixNode<T> {
  const upper: PrefixNode<T> = { label: child.label.slice(0, at), entries: [], children: new Map() };
  siblings.set(upper.label.charCodeAt(0), upper);
  child.label = child.label.slice(at);
  upper.children!.set(child.label.charCodeAt(0), child);
  return upper;
}
