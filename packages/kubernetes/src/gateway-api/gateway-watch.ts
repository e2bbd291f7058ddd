import type { Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import type { ClusterClient } from '../client/cluster-client.ts';
import { NAMESPACES, typeOfKind } from '../source/cluster-kinds.ts';
import { objectKey, type ClusterObject, type ResourceType } from '../watch/cluster-object.ts';
import { completeOrForbidden, isForbidden } from '../watch/forbidden.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { GATEWAY_GROUP, type GatewaySpec, type ObjectReference, type OptionResource } from './gateway-objects.ts';
import { isGranted } from './reference-grants.ts';
import { ownGateways } from './own-gateways.ts';

const type = (group: string, version: string, plural: string): ResourceType => ({ group, version, plural });

/** The resource types that the Gateway API needs, by the name of their table. */
export const GATEWAY_TYPES = {
  classes: type(GATEWAY_GROUP, 'v1', 'gatewayclasses'),
  gateways: type(GATEWAY_GROUP, 'v1', 'gateways'),
  httpRoutes: type(GATEWAY_GROUP, 'v1', 'httproutes'),
  grpcRoutes: type(GATEWAY_GROUP, 'v1', 'grpcroutes'),
  grants: type(GATEWAY_GROUP, 'v1beta1', 'referencegrants'),
} as const;

const OTHER_TYPES = {
  namespaces: NAMESPACES,
  routeOptions: typeOfKind('RouteOption'),
  virtualHostOptions: typeOfKind('VirtualHostOption'),
  upstreams: typeOfKind('Upstream'),
} as const;

/** Of which only the metadata is read. */
const METADATA_ONLY: ReadonlySet<string> = new Set(['namespaces', 'upstreams']);

type TableName = keyof typeof GATEWAY_TYPES | keyof typeof OTHER_TYPES;

export type GatewayTables = Readonly<Record<TableName, Map<string, ClusterObject>>>;

export interface GatewayWatchOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
  onChange(): void;
}

/** Follows the objects of the Gateway API and what they refer to. */
export interface GatewayWatch {
  readonly tables: GatewayTables;
  /** Resolves when all tables are complete. */
  start(): Promise<void>;
  /** Resolves when each table is complete or the API server forbids it, with whether one is forbidden. */
  isForbidden(): Promise<boolean>;
  close(): Promise<void>;
}

/** Returns whether the cluster has the resource types of the Gateway API. */
export async function hasGatewayApi(client: ClusterClient, signal: AbortSignal): Promise<boolean> {
  try {
    const { resources } = await client.send<{ resources: readonly { name: string }[] }>({
      path: `/apis/${GATEWAY_GROUP}/v1`,
      signal,
    });
    return ['gatewayclasses', 'gateways', 'httproutes'].every((name) => resources.some((each) => each.name === name));
  } catch (error) {
    if (isApiError(error, 404) || isApiError(error, 403)) return false;
    throw error;
  }
}

/** Creates a watch, which makes no request before `start`. */
export function createGatewayWatch({ client, log, timing, onChange }: GatewayWatchOptions): GatewayWatch {
  const types = { ...GATEWAY_TYPES, ...OTHER_TYPES };
  const names = Object.keys(types) as TableName[];
  const tables = Object.fromEntries(names.map((name) => [name, new Map()])) as unknown as GatewayTables;
  const reflectors = names.map((name): Reflector => {
    const table = tables[name];
    return createReflector<ClusterObject>({
      client,
      type: types[name],
      metadataOnly: METADATA_ONLY.has(name),
      log,
      timing,
      select: ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, managedFields: undefined } }),
      onChange({ changed, deleted }) {
        for (const [key, object] of changed) table.set(key, object);
        for (const key of deleted) table.delete(key);
        onChange();
      },
    });
  });
  const closing = Promise.withResolvers<void>();
  return {
    tables,
    async start() {
      await Promise.all(reflectors.map((reflector) => reflector.start()));
    },
    async isForbidden() {
      await Promise.all(reflectors.map((reflector) => completeOrForbidden(reflector, closing.promise)));
      return reflectors.some(isForbidden);
    },
    async close() {
      closing.resolve();
      await Promise.all(reflectors.map((reflector) => reflector.close()));
    },
  };
}

/** Returns the options in the tables that target objects. */
export function optionsOf({ routeOptions, virtualHostOptions }: GatewayTables): readonly OptionResource[] {
  const read = (kind: OptionResource['kind'], objects: Iterable<ClusterObject>): OptionResource[] =>
    [...objects].flatMap(({ metadata, spec }) => {
      const { targetRefs } = (spec ?? {}) as { targetRefs?: unknown };
      const { name, namespace = '' } = metadata;
      const valid = Array.isArray(targetRefs) ? targetRefs.filter(isTarget) : [];
      return valid.length > 0 ? [{ kind, name, namespace, targetRefs: valid }] : [];
    });
  return [...read('RouteOption', routeOptions.values()), ...read('VirtualHostOption', virtualHostOptions.values())];
}

/** The API server allows any value here. */
function isTarget(value: unknown): value is OptionResource['targetRefs'][number] {
  return typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string';
}

/** Names of objects. References may contain any text, which must not reach a field selector. */
const OBJECT_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Returns the Secrets that the listeners of our Gateways may use, as `<namespace>/<name>`; no others are read. */
export function certificateKeys({ classes, gateways, grants }: GatewayTables): ReadonlySet<string> {
  const keys = new Set<string>();
  const granted = [...grants.values()];
  for (const { metadata, spec } of ownGateways(classes.values(), gateways.values())) {
    const from = { group: GATEWAY_GROUP, kind: 'Gateway', namespace: metadata.namespace ?? '' };
    for (const { group = '', kind = 'Secret', name, namespace = from.namespace } of certificateRefs(spec)) {
      const isSecret = group === '' && kind === 'Secret' && OBJECT_NAME.test(name);
      if (isSecret && isGranted(granted, from, { group, kind, namespace, name }))
        keys.add(objectKey({ namespace, name }));
    }
  }
  return keys;
}

function certificateRefs(spec: GatewaySpec | undefined): readonly ObjectReference[] {
  return (spec?.listeners ?? []).flatMap(({ tls }) => tls?.certificateRefs ?? []);
}
