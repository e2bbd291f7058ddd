import type { Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import { objectKey, pathOf, type ClusterObject } from '../watch/cluster-object.ts';
import { differs, timedConditions, type NewCondition } from './conditions.ts';
import { GATEWAY_TYPES } from './gateway-watch.ts';
import { CONTROLLER_NAME } from './own-gateways.ts';
import type { NewStatus } from './translate-gateways.ts';

const TABLES = {
  GatewayClass: GATEWAY_TYPES.classes,
  Gateway: GATEWAY_TYPES.gateways,
  HTTPRoute: GATEWAY_TYPES.httpRoutes,
  GRPCRoute: GATEWAY_TYPES.grpcRoutes,
} as const;

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

interface WriteOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Writes a status if the object has not changed since it was read; its change brings it here again. Returns false after an error. */
export async function writeStatus(
  { kind, object }: NewStatus,
  status: Json,
  { client, log, signal }: WriteOptions,
): Promise<boolean> {
  const { name, namespace, resourceVersion } = object.metadata;
  try {
    await client.send({
      method: 'PATCH',
      path: `${pathOf(TABLES[kind], namespace, name)}/status`,
      query: { fieldManager: 'edge-gateway' },
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion }, status },
      signal,
    });
  } catch (error) {
    if (isApiError(error, 404) || isApiError(error, 409) || signal.aborted) return true;
    log.warn({ kind, namespace, resource: name, reason: connectionProblem(error) }, 'failed to write status');
    return false;
  }
  return true;
}
