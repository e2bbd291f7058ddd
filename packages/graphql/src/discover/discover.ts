import { graphqlError } from '../api/refusal.ts';
import { DISCOVERY_BOUNDS, type DiscoveryBounds } from './bounds.ts';
import type { Discovery, Probe, UpstreamName } from './discovered-api.ts';
import { discoverGrpc } from './grpc.ts';
import { discoverServer } from './introspection.ts';
import { discoverOpenApi } from './openapi/openapi.ts';

/** What an API is made with. */
export interface DiscoverOptions extends Partial<DiscoveryBounds> {
  /** Headers that resources make the gateway set, from `grantedHeaderNames`. Arguments must not set them. Default: none. */
  readonly grantedHeaders?: ReadonlySet<string>;
}

/**
 * Makes the GraphQLApi of an upstream from what it said of itself. Pure. Parts that cannot be offered are left out and
 * listed in `skipped`, as what is above the bounds. Throws `ERR_GRAPHQL_DISCOVERY` where nothing of it can be used.
 *
 * @example
 * const { spec, skipped } = discover({ name: 'petstore', namespace: 'gw-system' }, { type: 'openapi', document });
 */
export function discover(upstream: UpstreamName, probe: Probe, options: DiscoverOptions = {}): Discovery {
  const bounds = { ...DISCOVERY_BOUNDS, ...options };
  try {
    if (probe.type === 'graphql') return discoverServer(upstream, probe.introspection);
    if (probe.type === 'openapi') return discoverOpenApi(upstream, probe.document, bounds);
    return discoverGrpc(upstream, probe, bounds);
  } catch (error) {
    throw graphqlError('ERR_GRAPHQL_DISCOVERY', (error as Error).message, error);
  }
}
