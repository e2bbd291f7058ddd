import type { Route, VirtualHost } from '../../contract/snapshot.ts';
import { contentText } from './content.ts';

/** A route on both sides. If its order among the routes of both sides changed, `position` is its index among them. */
export type RoutePair = readonly [before: PositionedRoute | undefined, after: PositionedRoute | undefined];

type PositionedRoute = Route & { readonly position?: number };

/** What identifies a route, except for its index, from the strictest to the loosest. `name` is its own name. */
const IDENTITIES: readonly ((route: Route, name: string) => unknown)[] = [
  ({ source, matchers, action, options }, name) => [name, source, matchers, action, options],
  ({ source, matchers }, name) => name && [name, source, matchers],
  ({ source }, name) => name && [name, source],
  ({ source, matchers }) => [source, matchers],
  ({ source, action, options }) => [source, action, options],
  ({ name }) => name,
];

/** Pairs the routes of a virtual host. Inserted and removed routes renumber those after them, so names do not identify them. */
export function pairRoutes(before: VirtualHost, after: VirtualHost): RoutePair[] {
  const partners = new Map<Route, Route>();
  let [old, now] = [before.routes, after.routes];
  for (const identity of IDENTITIES) {
    const keyOf = (route: Route) => contentText(identity(route, ownName(route, after.name)) || undefined);
    const candidates = Map.groupBy(old, keyOf);
    for (const route of now) {
      const key = keyOf(route);
      const partner = key === contentText(undefined) ? undefined : candidates.get(key)?.shift();
      if (partner) partners.set(route, partner);
    }
    const paired = new Set(partners.values());
    old = old.filter((route) => !paired.has(route));
    now = now.filter((route) => !partners.has(route));
  }
  return [
    ...old.map((route): RoutePair => [route, undefined]),
    ...now.map((route): RoutePair => [undefined, route]),
    ...withPositions(before, after, partners),
  ];
}

/** Returns the name that a route has in its resource; empty if it has none. */
function ownName({ name }: Route, host: string): string {
  return name.replace(`${host}-route-`, '').replace(/^\d+-?/, '');
}

function withPositions(before: VirtualHost, after: VirtualHost, partners: ReadonlyMap<Route, Route>): RoutePair[] {
  const kept = new Set(partners.values());
  const positions = new Map(before.routes.filter((route) => kept.has(route)).map((route, index) => [route, index]));
  const pairs = after.routes.flatMap((route) => {
    const partner = partners.get(route);
    return partner ? [{ route, partner, old: positions.get(partner)! }] : [];
  });
  const inOrder = longestIncreasing(pairs.map(({ old }) => old));
  return pairs.map(({ route, partner, old }, position) =>
    inOrder.has(old)
      ? [partner, route]
      : [
          { ...partner, position: old },
          { ...route, position },
        ],
  );
}

/** Returns the values of a longest increasing subsequence of distinct numbers. */
function longestIncreasing(values: readonly number[]): ReadonlySet<number> {
  // The smallest last value of the subsequences of each length, and the value before each one.
  const lasts: number[] = [];
  const previous = new Map<number, number | undefined>();
  for (const value of values) {
    let [low, high] = [0, lasts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lasts[middle]! < value) low = middle + 1;
      else high = middle;
    }
    previous.set(value, lasts[low - 1]);
    lasts[low] = value;
  }
  const longest = new Set<number>();
  for (let value = lasts.at(-1); value !== undefined; value = previous.get(value)) longest.add(value);
  return longest;
}
