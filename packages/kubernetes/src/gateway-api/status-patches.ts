import { objectKey, type ClusterObject } from '../watch/cluster-object.ts';
import { differs, timedConditions, type NewCondition } from './conditions.ts';
import { CONTROLLER_NAME } from './own-gateways.ts';
import type { NewStatus } from './translation.ts';

type Json = Record<string, unknown>;

/** Returns the status to write, with the times of unchanged conditions; `undefined` if it is written already. */
export function statusPatch({ kind, object, status }: NewStatus, now: string): Json | undefined {
  const before = (object.status ?? {}) as Json;
  const after =
    kind === 'HTTPRoute' || kind === 'GRPCRoute' ? routeStatus(status, before, now) : plainStatus(status, before, now);
  const shown = Object.fromEntries(Object.keys(after).map((key) => [key, before[key]]));
  return differs(after, shown) ? after : undefined;
}

function plainStatus(status: Readonly<Json>, before: Json, now: string): Json {
  const after: Json = {
    ...status,
    conditions: timedConditions(status['conditions'] as NewCondition[], before['conditions'], now),
  };
  if (status['listeners']) {
    const known = (before['listeners'] ?? []) as Json[];
    after['listeners'] = (status['listeners'] as Json[]).map((listener) => {
      const old = known.find(({ name }) => name === listener['name']);
      return {
        ...listener,
        conditions: timedConditions(listener['conditions'] as NewCondition[], old?.['conditions'], now),
      };
    });
  }
  return after;
}

/** The entries of other controllers stay. */
function routeStatus(status: Readonly<Json>, before: Json, now: string): Json {
  const known = (before['parents'] ?? []) as Json[];
  const others = known.filter((parent) => parent['controllerName'] !== CONTROLLER_NAME);
  const own = (status['parents'] as Json[]).map((parent) => {
    const old = known.find(
      (each) => each['controllerName'] === CONTROLLER_NAME && !differs(each['parentRef'], parent['parentRef']),
    );
    return { ...parent, conditions: timedConditions(parent['conditions'] as NewCondition[], old?.['conditions'], now) };
  });
  return { parents: [...others, ...own] };
}

/** Returns the statuses of routes that no longer have a parent of ours, without our entries. */
export function leftStatuses(
  kind: 'HTTPRoute' | 'GRPCRoute',
  routes: Iterable<ClusterObject>,
  current: ReadonlySet<string>,
): NewStatus[] {
  return [...routes].flatMap((object) => {
    if (current.has(`${kind} ${objectKey(object.metadata)}`)) return [];
    const { parents = [] } = (object['status'] ?? {}) as { parents?: readonly { controllerName?: string }[] };
    const isOurs = parents.some(({ controllerName }) => controllerName === CONTROLLER_NAME);
    return isOurs ? [{ kind, object, status: { parents: [] } }] : [];
  });
}
