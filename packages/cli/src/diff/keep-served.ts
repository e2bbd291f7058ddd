import type { Problem, RouteAction, Snapshot } from '@edge-gateway/core';

type Listener = Snapshot['listeners'][number];
type Route = Listener['virtualHosts'][number]['routes'][number];

/** Planned snapshots, in which some routes are served as before. */
export interface KeptPlan {
  readonly snapshots: readonly Snapshot[];
  /** Returns whether a planned route has the action that is served. */
  isKept(route: Route): boolean;
}

/**
 * Returns planned snapshots in which a route keeps the action that a running gateway serves, where the plan has a broken
 * reference and the served destinations are still there. Such a route may have been good only in an earlier version of
 * its resource, which the gateway does not list.
 */
export function keepServed(planned: readonly Snapshot[], served: readonly Snapshot[]): KeptPlan {
  const kept = new Set<Route>();
  const snapshots = planned.map((snapshot): Snapshot => {
    const before = served.find(({ proxy }) => proxy === snapshot.proxy);
    const actions = new Map(before?.listeners.flatMap(actionsOf));
    const upstreams = new Set(snapshot.upstreams.map(({ name }) => name));
    const keep = (listener: Listener, route: Route): Route => {
      const action = isBroken(route.action) ? actions.get(keyOf(listener, route)) : undefined;
      if (!action || !isUsable(action, upstreams)) return route;
      kept.add(route);
      return { ...route, action };
    };
    const listeners = snapshot.listeners.map((listener) => {
      const hosts = listener.virtualHosts;
      return {
        ...listener,
        virtualHosts: hosts.map((host) => ({ ...host, routes: host.routes.map((route) => keep(listener, route)) })),
      };
    });
    return { ...snapshot, listeners };
  });
  return { snapshots, isKept: (route) => kept.has(route) };
}

function actionsOf(listener: Listener): [string, RouteAction][] {
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
 * Returns the problems, in which each broken reference of a route says whether the route keeps its last good destination:
 * as the plan says, or because every route with this reference has the action that is served.
 */
export function withKept(
  problems: readonly Problem[],
  planned: readonly Snapshot[],
  isKept: KeptPlan['isKept'],
): Problem[] {
  const listeners = planned.flatMap((snapshot) => snapshot.listeners);
  const routes = listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap((host) => host.routes));
  return problems.map((problem) => {
    if (problem.code !== 'MISSING_REFERENCE' || problem.effect === 'keeps-last-good') return problem;
    const own = routes.filter((route) => isBehind(problem, route));
    if (own.length === 0) return problem;
    if (!own.every(isKept)) return { ...problem, hint: 'it has no last good destination' };
    return { ...problem, effect: 'keeps-last-good', hint: 'the route keeps its last good destination' };
  });
}

/** Returns true if the broken reference of a problem is one of a planned route. */
function isBehind({ kind, namespace, name, message }: Problem, { source, action }: Route): boolean {
  const broken = action.type === 'forward' ? action.destinations.map((one) => one.broken) : [action];
  const reasons = broken.flatMap((one) => (one && 'reason' in one && one.reason) || []);
  const isOwn = source.kind === kind && source.namespace === namespace && source.name === name;
  return isOwn && reasons.some((reason) => message.includes(reason));
}
