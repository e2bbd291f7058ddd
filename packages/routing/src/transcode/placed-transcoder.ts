import { serviceSpecOf, typeWithFunctions } from '@edge-gateway/core';
import type { GatewaySpec, GrpcJsonTranscoder, UpstreamSpec } from '@edge-gateway/core/schema';

/** A transcoder in a resource. */
export interface PlacedTranscoder {
  readonly options: GrpcJsonTranscoder;
  /** Path of the block below the spec. */
  readonly path: readonly string[];
}

/** Returns the transcoder of an Upstream, Gateway or MatchableHttpGateway; `undefined` without one. */
export function transcoderIn(kind: string, spec: GatewaySpec | UpstreamSpec): PlacedTranscoder | undefined {
  if (kind !== 'Upstream') {
    const options = (spec as GatewaySpec).httpGateway?.options?.grpcJsonTranscoder;
    return options && { options, path: ['httpGateway', 'options', 'grpcJsonTranscoder'] };
  }
  const upstream = spec as UpstreamSpec;
  const options = serviceSpecOf(upstream)?.grpcJsonTranscoder;
  const type = typeWithFunctions(upstream) ?? 'static';
  return options && { options, path: [type, 'serviceSpec', 'grpcJsonTranscoder'] };
}
