import type { Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import type { ClusterClient } from '../client/cluster-client.ts';
import { NAMESPACES, typeOfKind } from '../source/cluster-kinds.ts';
import type { Scope } from '../source/generation.ts';
import { isObjectName, objectKey, type ClusterObject, type ResourceType } from '../watch/cluster-object.ts';
import { completeOrForbidden, isForbidden } from '../watch/forbidden.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { GATEWAY_GROUP, type GatewaySpec, type ObjectReference } from './gateway-objects.ts';
import type { OptionTables } from './option-objects.ts';
import { isGranted } from './reference-grants.ts';
import { ownGateways } from './own-gateways.ts';

const type = (group: string, version: string, plural: string): ResourceType => ({ group, version, plural });

/** The resource types of the Gateway API, by the name of their table. */
export const GATEWAY_TYPES = {
  classes: type(GATEWAY_GROUP, 'v1', 'gatewayclasses'),
  gateways: type(GATEWAY_GROUP, 'v1', 'gateways'),
  httpRoutes: type(GATEWAY_GROUP, 'v1', 'httproutes'),
  grpcRoutes: type(GATEWAY_GROUP, 'v1', 'grpcroutes'),
  grants: type(GATEWAY_GROUP, 'v1beta1', 'referencegrants'),
} as const;

const TYPES = {
  ...GATEWAY_TYPES,
  namespaces: NAMESPACES,
  routeOptions: typeOfKind('RouteOption'),
  virtualHostOptions: typeOfKind('VirtualHostOption'),
  upstreams: typeOfKind('Upstream'),
} as const;

type TableName = keyof typeof TYPES;

/** Types whose objects are in no namespace. */
const CLUSTER_SCOPED: ReadonlySet<string> = new Set<TableName>(['classes', 'namespaces']);
/** Of which only the metadata is read. */
const METADATA_ONLY: ReadonlySet<string> = new Set<TableName>(['namespaces', 'upstreams']);

export type GatewayTables = Readonly<Record<TableName, Map<string, ClusterObject>>>;

export interface GatewayWatchOptions {
  readonly client: ClusterClient;
  /** The namespaces whose objects are read. */
  readonly scope: Scope;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
  onChange(): void;
}

/** Follows the objects of the Gateway API and what they refer to, of one scope. */
export interface GatewayWatch {
  readonly tables: GatewayTables;
  /** Resolves when all tables are complete; that of namespaces may be forbidden. */
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
export function createGatewayWatch({ client, scope, log, timing, onChange }: GatewayWatchOptions): GatewayWatch {
  const names = Object.keys(TYPES) as TableName[];
  const tables = Object.fromEntries(names.map((name) => [name, new Map()])) as unknown as GatewayTables;

  function follow(name: TableName, namespace: string | undefined): Reflector {
    const table = tables[name];
    const used = CLUSTER_SCOPED.has(name) ? undefined : scope.used;
    return createReflector<ClusterObject>({
      client,
      type: TYPES[name],
      ...(namespace !== undefined && { namespace }),
      metadataOnly: METADATA_ONLY.has(name),
      log,
      timing,
      select: ({ metadata, ...rest }) =>
        used?.has(metadata.namespace ?? '') === false
          ? undefined
          : { ...rest, metadata: { ...metadata, managedFields: undefined } },
      onChange({ changed, deleted }) {
        for (const [key, object] of changed) table.set(key, object);
        for (const key of deleted) table.delete(key);
        onChange();
      },
    });
  }

  // Without the labels of namespaces, listeners that select namespaces by label accept no routes.
  const labels = follow('namespaces', undefined);
  const required = names
    .filter((name) => name !== 'namespaces')
    .flatMap((name) =>
      (CLUSTER_SCOPED.has(name) ? [undefined] : (scope.watched ?? [undefined])).map((each) => follow(name, each)),
    );
  const closing = Promise.withResolvers<void>();
  return {
    tables,
    async start() {
      await Promise.all([
        completeOrForbidden(labels, closing.promise),
        ...required.map((reflector) => reflector.start()),
      ]);
    },
    async isForbidden() {
      await Promise.all(required.map((reflector) => completeOrForbidden(reflector, closing.promise)));
      return required.some(isForbidden);
    },
    async close() {
      closing.resolve();
      await Promise.all([labels, ...required].map((reflector) => reflector.close()));
    },
  };
}

/** Returns the tables of shared options. */
export function optionTables({ routeOptions, virtualHostOptions }: GatewayTables): OptionTables {
  return { RouteOption: routeOptions, VirtualHostOption: virtualHostOptions };
}

/** Returns the Secrets that the listeners of our Gateways may use, as `<namespace>/<name>`; no others are read. */
export function certificateKeys({ classes, gateways, grants }: GatewayTables): ReadonlySet<string> {
  const keys = new Set<string>();
  const granted = [...grants.values()];
  for (const { metadata, spec } of ownGateways(classes.values(), gateways.values())) {
    const from = { group: GATEWAY_GROUP, kind: 'Gateway', namespace: metadata.namespace ?? '' };
    for (const { group = '', kind = 'Secret', name, namespace = from.namespace } of certificateRefs(spec)) {
      const isSecret = group === '' && kind === 'Secret' && isObjectName(name);
      if (isSecret && isGranted(granted, from, { group, kind, namespace, name }))
        keys.add(objectKey({ namespace, name }));
    }
  }
  return keys;
}

function certificateRefs(spec: GatewaySpec | undefined): readonly ObjectReference[] {
  return (spec?.listeners ?? []).flatMap(({ tls }) => tls?.certificateRefs ?? []);
}
