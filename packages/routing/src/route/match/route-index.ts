import { allHold } from './conditions.ts';
import { literalPrefix, type CompiledMatcher } from './matcher.ts';
import { addPrefix, createPrefixTree, type PrefixNode } from './prefix-tree.ts';
import type { RequestView } from '../../format/record.ts';

export interface RouteEntry<R> {
  /** Place in the list of all matchers; the lowest that fits wins. */
  readonly order: number;
  readonly matcher: CompiledMatcher;
  readonly route: R;
}

/** Finds the first route that fits without looking at the others. */
export interface RouteIndex<R> {
  readonly exact: Map<string, RouteEntry<R>[]>;
  readonly prefixes: PrefixNode<RouteEntry<R>>;
  /** The same for matchers that ignore case, on the path in lower case; `undefined` when there is none. */
  readonly folded: PrefixNode<RouteEntry<R>> | undefined;
}

/** Builds the index; `entries` come in order. */
export function createRouteIndex<R>(entries: readonly RouteEntry<R>[]): RouteIndex<R> {
  const exact = new Map<string, RouteEntry<R>[]>();
  const prefixes = createPrefixTree<RouteEntry<R>>();
  let folded: PrefixNode<RouteEntry<R>> | undefined;
  for (const entry of entries) {
    const { kind, text, ignoreCase } = entry.matcher;
    if (ignoreCase) addPrefix((folded ??= createPrefixTree()), text, entry);
    else if (kind === 'regex') addPrefix(prefixes, literalPrefix(text), entry);
    else if (kind === 'exact') exact.set(text, [...(exact.get(text) ?? []), entry]);
    else addPrefix(prefixes, text, entry);
  }
  return { exact, prefixes, folded };
}

export function findRoute<R>(index: RouteIndex<R>, view: RequestView): RouteEntry<R> | undefined {
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

/** What the place in the index does not say already. */
function fits(matcher: CompiledMatcher, view: RequestView): boolean {
  if (matcher.kind === 'connect' && view.method !== 'CONNECT') return false;
  if (matcher.kind === 'exact' && matcher.text.length !== view.pathname.length) return false;
  if (!allHold(matcher.conditions, view)) return false;
  return matcher.regex === undefined || matcher.regex.fullMatch(view.pathname);
}
