import type { Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import type { ClusterClient } from '../client/cluster-client.ts';
import { objectKey, type ClusterObject, type ResourceType } from '../watch/cluster-object.ts';
import { completeOrForbidden, isForbidden } from '../watch/forbidden.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { GATEWAY_GROUP, type GatewayObject, type OptionResource } from './gateway-objects.ts';

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
  namespaces: type('', 'v1', 'namespaces'),
  routeOptions: type('gateway.vendor.io', 'v1', 'routeoptions'),
  virtualHostOptions: type('gateway.vendor.io', 'v1', 'virtualhostoptions'),
  upstreams: type('gw.vendor.io', 'v1', 'upstreams'),
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
      const { targetRefs } = (spec ?? {}) as { targetRefs?: OptionResource['targetRefs'] };
      const { name, namespace = '' } = metadata;
      return targetRefs?.length ? [{ kind, name, namespace, targetRefs }] : [];
    });
  return [...read('RouteOption', routeOptions.values()), ...read('VirtualHostOption', virtualHostOptions.values())];
}

/** Returns the Secrets that the listeners of Gateways refer to, as `<namespace>/<name>`. */
export function certificateKeys(gateways: Iterable<ClusterObject>): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { metadata, spec } of gateways as Iterable<GatewayObject<{ listeners?: readonly ListenerPart[] }>>) {
    for (const { tls } of spec?.listeners ?? [])
      for (const { name, namespace = metadata.namespace ?? '' } of tls?.certificateRefs ?? [])
        keys.add(objectKey({ namespace, name }));
  }
  return keys;
}

interface ListenerPart {
  readonly tls?: { readonly certificateRefs?: readonly { readonly name: string; readonly namespace?: string }[] };
}
