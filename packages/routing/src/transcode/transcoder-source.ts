import { serviceSpecOf, type SnapshotUpstream } from '@edge-gateway/core';
import type { GrpcJsonTranscoder } from '@edge-gateway/core/schema';

/** The options of a transcoder, and its descriptor set as base64. */
export interface TranscoderSource {
  readonly options: GrpcJsonTranscoder;
  /** Missing if its file or its ConfigMap cannot be used. */
  readonly descriptorSet: string | undefined;
}

/** Returns the transcoder of an upstream; `undefined` if it has none. */
export function transcoderSource({ spec, descriptorSet }: SnapshotUpstream): TranscoderSource | undefined {
  const options = serviceSpecOf(spec)?.grpcJsonTranscoder;
  return options && { options, descriptorSet: options.protoDescriptorBin || descriptorSet };
}
