import type { Problem, RouteAction, Snapshot } from '@edge-gateway/core';

type Listener = Snapshot['listeners'][number];
type Route = Listener['virtualHosts'][number]['routes'][number];

/**
 * Returns planned snapshots in which a route keeps the action that a running gateway serves, where the plan has a broken
 * reference and the served destinations are still there. Such a route may have been good only in an earlier version of
 * its resource, which the gateway does not list.
 */
export function keepServed(planned: readonly Snapshot[], served: readonly Snapshot[]): Snapshot[] {
  return planned.map((snapshot) => {
    const before = served.find(({ proxy }) => proxy === snapshot.proxy);
    if (!before) return snapshot;
    const routes = new Map(before.listeners.flatMap((listener) => routesOf(listener)));
    const upstreams = new Set(snapshot.upstreams.map(({ name }) => name));
    return { ...snapshot, listeners: snapshot.listeners.map((listener) => kept(listener, routes, upstreams)) };
  });
}

function kept(listener: Listener, routes: ReadonlyMap<string, RouteAction>, upstreams: ReadonlySet<string>): Listener {
  const virtualHosts = listener.virtualHosts.map((host) => ({
    ...host,
    routes: host.routes.map((route) => {
      const action = isBroken(route.action) ? routes.get(keyOf(listener, route)) : undefined;
      return action && isUsable(action, upstreams) ? { ...route, action } : route;
    }),
  }));
  return { ...listener, virtualHosts };
}

function routesOf(listener: Listener): [string, RouteAction][] {
  return listener.virtualHosts.flatMap(({ routes }) => routes.map((route) => [keyOf(listener, route), route.action]));
}

const keyOf = (listener: Listener, { name, matchers }: Route): string =>
  JSON.stringify([listener.name, name, matchers]);

function isBroken(action: RouteAction): boolean {
  return action.type === 'replacement' || (action.type === 'forward' && action.destinations.some((one) => one.broken));
}

function isUsable(action: RouteAction, upstreams: ReadonlySet<string>): boolean {
  return action.type === 'forward' && action.destinations.every((one) => !one.broken && upstreams.has(one.upstream));
}

/**
 * Returns the problems, in which each broken reference of a route tells whether the route keeps its last good destination:
 * as the plan says, or because {@link keepServed} gave every route with this reference the action that is served.
 */
export function withKept(
  problems: readonly Problem[],
  planned: readonly Snapshot[],
  kept: readonly Snapshot[],
): Problem[] {
  const actions = allRoutes(kept).map(({ action }) => action);
  const broken = allRoutes(planned).flatMap((route, i) =>
    reasonsOf(route.action).map((reason) => ({ source: route.source, reason, isKept: route.action !== actions[i] })),
  );
  return problems.map((problem) => {
    if (problem.code !== 'MISSING_REFERENCE' || problem.effect === 'keeps-last-good') return problem;
    const own = broken.filter(({ source, reason }) => isAt(source, problem) && problem.message.includes(reason));
    if (own.length === 0) return problem;
    if (own.every(({ isKept }) => isKept))
      return { ...problem, effect: 'keeps-last-good', hint: 'the route keeps its last good destination' };
    return { ...problem, hint: 'it has no last good destination' };
  });
}

const isAt = (source: Route['source'], { kind, namespace, name }: Problem): boolean =>
  source.kind === kind && source.namespace === namespace && source.name === name;

function reasonsOf(action: RouteAction): readonly string[] {
  if (action.type === 'replacement') return [action.reason ?? ''];
  return action.type === 'forward' ? action.destinations.flatMap(({ broken }) => broken?.reason ?? []) : [];
}

function allRoutes(snapshots: readonly Snapshot[]): readonly Route[] {
  return snapshots.flatMap(({ listeners }) =>
    listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ routes }) => routes)),
  );
}
