import {
  keyOf,
  type ControlPlaneState,
  type Kind,
  type ResourceRef,
  type RouteAction,
  type Snapshot,
} from '@edge-gateway/core';
import { isSameJson, mergeFields, mergeLists, mergeValue, type Sides } from './merge.ts';
import type { Planned } from './load-after.ts';
import { jsonOf } from './comparison.ts';

type Listener = Snapshot['listeners'][number];
type VirtualHost = Listener['virtualHosts'][number];
type Route = VirtualHost['routes'][number];
type Upstream = Snapshot['upstreams'][number];

/** What a gateway would serve. */
export interface PredictedPlan {
  readonly snapshots: readonly Snapshot[];
  /** Virtual hosts with served routes of which it is not known whether the gateway would keep them. */
  readonly uncertain: readonly string[];
}

const NOTHING = { listeners: [], upstreams: [] };

/**
 * Returns what a running gateway would serve with planned resources. It may serve last good parts that its resources do not
 * show any more, so a part that the plan does not change stays as served, as long as its resource exists.
 */
export function predictServed({ state, before }: Planned, served: readonly Snapshot[]): PredictedPlan {
  const uncertain: string[] = [];
  const [old, now] = [before.map(jsonOf), served.map(jsonOf)];
  const snapshots = [...state.snapshots.values()].map(jsonOf).map((after): Snapshot => {
    const { proxy } = after;
    const sides = [old, now].map((side) => side.find((one) => one.proxy === proxy));
    return mergeSnapshots({ before: sides[0], after, served: sides[1] }, state, uncertain);
  });
  return { snapshots, uncertain };
}

function mergeSnapshots(
  {
    before = NOTHING as never,
    after,
    served = NOTHING as never,
  }: { before?: Snapshot; after: Snapshot; served?: Snapshot },
  state: ControlPlaneState,
  uncertain: string[],
): Snapshot {
  const has = (kind: Kind, ref: ResourceRef): boolean => state.resources.has(keyOf(kind, ref));
  const upstreams = mergeLists<Upstream>(
    { before: before.upstreams, after: after.upstreams, served: served.upstreams },
    ({ name }) => name,
    (sides) => mergePart(sides, () => has('Upstream', sides.served!.ref)),
  );
  const context: Context = { has, upstreams: new Set(upstreams.map(({ name }) => name)), uncertain };
  const listeners = mergeLists<Listener>(
    { before: before.listeners, after: after.listeners, served: served.listeners },
    ({ name }) => name,
    (sides) => mergeListener(sides, context),
  );
  return { ...after, upstreams, listeners };
}

interface Context {
  has(kind: Kind, ref: ResourceRef): boolean;
  /** Names of the upstreams that the gateway would have. */
  readonly upstreams: ReadonlySet<string>;
  readonly uncertain: string[];
}

/** Merges parts without parts of their own; one that is only served is kept if `isKept` returns true. */
function mergePart<T extends object>({ before, after, served }: Sides<T>, isKept: () => boolean): T | undefined {
  if (before && after && served) return mergeFields({ before, after, served });
  if (!before && !after) return isKept() ? served : undefined;
  return mergeValue({ before, after, served });
}

function mergeListener({ before, after, served }: Sides<Listener>, context: Context): Listener | undefined {
  if (before && !after) return undefined;
  const hosts = { before: before?.virtualHosts, after: after?.virtualHosts, served: served?.virtualHosts };
  const virtualHosts = mergeLists<VirtualHost>(
    hosts,
    ({ name }) => name,
    (sides) => mergeHost(sides, context),
  );
  if (!after) return virtualHosts.length > 0 ? { ...served!, virtualHosts } : undefined;
  if (!before || !served) return { ...after, virtualHosts };
  const keepsHost = virtualHosts.some(({ name }) => !after.virtualHosts.some((host) => host.name === name));
  const sslConfigurations = mergeLists(
    { before: before.sslConfigurations, after: after.sslConfigurations, served: served.sslConfigurations },
    ({ sslConfig }) => JSON.stringify(sslConfig),
    (sides) => mergePart(sides, () => keepsHost || isSameJson(before.virtualHosts, after.virtualHosts)),
  );
  return mergeFields({ before, after, served }, { virtualHosts, sslConfigurations });
}

function mergeHost({ before, after, served }: Sides<VirtualHost>, context: Context): VirtualHost | undefined {
  if (!served) return mergeValue({ before, after, served });
  const isThere = context.has('VirtualService', served.virtualService);
  if (!isThere || (before && !after)) return undefined;
  if (isSameJson(before, after)) {
    const routes = served.routes.map((route) => ({ ...route, action: withoutDeleted(route.action, context) }));
    return { ...served, routes };
  }
  if (!before || !after) return after;
  const host = mergeFields({ before, after, served });
  const keys = new Set([...before.routes, ...after.routes].map(routeKey));
  if (served.routes.some((route) => !keys.has(routeKey(route)))) context.uncertain.push(served.name);
  const routes = mergeLists<Route>(
    { before: before.routes, after: after.routes, served: served.routes },
    routeKey,
    (sides) => mergeRoute(sides, { ...context, options: [host.options, served.options] }),
  );
  return { ...host, routes };
}

/** Independent of the index of the route. */
export const routeKey = ({ source, matchers }: Route): string => JSON.stringify([source, matchers]);

interface RouteContext extends Context {
  /** Options of the virtual host, merged and served. */
  readonly options: readonly [VirtualHost['options'], VirtualHost['options']];
}

function mergeRoute({ before, after, served }: Sides<Route>, context: RouteContext): Route | undefined {
  if (!before || !after || !served) return after;
  const { name, logName } = after;
  const route = { ...mergeFields({ before, after, served }), name, logName };
  const isSame = isSameJson(before.action, after.action);
  // A new broken reference in place of a broken one: the planned state has no last good action, the gateway may have one.
  if (!isSame && !(isBroken(before.action) && isBroken(after.action) && !isBroken(served.action))) return route;
  const [options, servedOptions] = context.options;
  const isAccessSame = isSameJson(accessOf(options, route.options), accessOf(servedOptions, served.options));
  const isKept = isAccessSame || !isBroken(after.action) || isBroken(served.action);
  return { ...route, action: isKept ? withoutDeleted(served.action, context) : { type: 'replacement', ...GONE } };
}

const ACCESS = ['extauth', 'rbac', 'jwt', 'jwtStaged', 'jwtProvidersStaged'];

/** Returns the options that control access: a route with others does not keep its last good action. */
const accessOf = (...levels: readonly object[]): unknown =>
  levels.map((options) => ACCESS.map((name) => (options as Record<string, unknown>)[name]));

/** Returns true for an action with a reference that cannot be used. */
export function isBroken(action: RouteAction): boolean {
  return action.type === 'replacement' || (action.type === 'forward' && action.destinations.some((one) => one.broken));
}

/** The response for a destination that was good, and cannot be used any more. */
const GONE = { status: 503, body: 'no healthy upstream' };

/** Returns the action without destinations whose upstream is deleted. */
function withoutDeleted(action: RouteAction, { upstreams }: Context): RouteAction {
  if (action.type !== 'forward') return action;
  const gone = (name: string) => ({ ...GONE, reason: `upstream ${name} not found` });
  const destinations = action.destinations.map((one) =>
    one.broken || upstreams.has(one.upstream) ? one : { ...one, broken: gone(one.upstream) },
  );
  const [first] = destinations;
  const isUsable = destinations.some(({ broken, weight }) => !broken && weight > 0);
  return isUsable || !first?.broken ? { ...action, destinations } : { type: 'replacement', ...first.broken };
}
