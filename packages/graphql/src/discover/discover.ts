import type { ResourceRef } from '@edge-gateway/core';
import { graphqlError } from '../errors/refusal.ts';
import type { Discovery, DiscoveryBounds, Probe } from './discovered-api.ts';
import { schemaOfIntrospection } from '../remote/introspect.ts';
import { discoverGrpc } from './grpc.ts';
import { discoverOpenApi } from './openapi/openapi.ts';

/** Operations that are used of one upstream. */
export const OPERATIONS = 5000;
const BOUNDS: DiscoveryBounds = { operations: OPERATIONS, fields: 50_000 };

interface DiscoverOptions extends Partial<DiscoveryBounds> {
  /** Headers that resources let the gateway set, from `grantedHeaderNames`. Arguments must not set them. Default: none. */
  readonly grantedHeaders?: ReadonlySet<string>;
}

/**
 * Creates the GraphQLApi of an upstream from its introspection, OpenAPI document or reflection. Pure. Unsupported parts are left out and
 * listed in `skipped`, as are parts above the limits. Throws `ERR_GRAPHQL_DISCOVERY` if nothing can be used.
 *
 * @example
 * const { spec, skipped } = discover({ name: 'petstore', namespace: 'gw-system' }, { type: 'openapi', document });
 */
export function discover(upstream: ResourceRef, probe: Probe, options: DiscoverOptions = {}): Discovery {
  const bounds = { ...BOUNDS, ...options };
  try {
    if (probe.type === 'graphql') return discoverServer(upstream, probe.introspection);
    if (probe.type === 'openapi') return discoverOpenApi(upstream, probe.document, bounds);
    return discoverGrpc(upstream, probe, bounds);
  } catch (error) {
    throw graphqlError('ERR_GRAPHQL_DISCOVERY', (error as Error).message, error);
  }
}

/** Creates an API that forwards queries to the GraphQL server. Throws if the result of the introspection is invalid. */
function discoverServer({ name, namespace }: ResourceRef, introspection: unknown): Discovery {
  const schemaDefinition = schemaOfIntrospection(introspection);
  const remote = { upstreamRef: { name, namespace }, enableIntrospection: true };
  return { spec: { executableSchema: { schemaDefinition, executor: { remote } } }, skipped: [] };
}
