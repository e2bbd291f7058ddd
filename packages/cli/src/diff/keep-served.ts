import type { RouteAction, Snapshot } from '@edge-gateway/core';

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

/** Returns true if some route of the first snapshots has another action in those that {@link keepServed} made of them. */
export function isServedKept(planned: readonly Snapshot[], kept: readonly Snapshot[]): boolean {
  const actions = actionsOf(kept);
  return actionsOf(planned).some((action, i) => action !== actions[i]);
}

function actionsOf(snapshots: readonly Snapshot[]): RouteAction[] {
  return snapshots.flatMap(({ listeners }) => listeners.flatMap(routesOf)).map(([, action]) => action);
}
