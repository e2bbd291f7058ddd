import type { ServiceSpec } from '@edge-gateway/core/schema';
import type { DiscoveryBounds, Probe } from './discovered-api.ts';
import { discoverFunctions, type DiscoveredFunctions } from './openapi/rest-functions.ts';

interface FunctionsOptions extends Pick<DiscoveryBounds, 'operations'> {
  /** Headers that resources let the gateway set, from `grantedHeaderNames`. Parameters must not set them. */
  readonly grantedHeaders: ReadonlySet<string>;
}

/**
 * Returns the functions of an upstream as its `serviceSpec` contains them: a template for each operation of an OpenAPI document, or the descriptors
 * of gRPC services. Pure. GraphQL servers have no functions. Throws an `Error` for an invalid document.
 */
export function functionsOf(probe: Probe, options: FunctionsOptions): DiscoveredFunctions {
  if (probe.type === 'graphql') return { serviceSpec: undefined, skipped: [] };
  if (probe.type === 'openapi') return discoverFunctions(probe.document, options);
  const protoDescriptorBin = Buffer.from(probe.descriptorSet).toString('base64');
  const serviceSpec: ServiceSpec = { grpcJsonTranscoder: { protoDescriptorBin, services: [...probe.services].sort() } };
  return { serviceSpec, skipped: [] };
}
