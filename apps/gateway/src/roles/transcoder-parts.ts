import { createRequire } from 'node:module';
import type { ResourceCheck } from '@edge-gateway/core';
import type { GatewaySpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { transcoderIn } from '@edge-gateway/routing';

type GrpcJson = typeof import('@edge-gateway/routing/grpc-json');
type TranscoderFiles = ReturnType<GrpcJson['transcoderFiles']>;

const require = createRequire(import.meta.url);
/** Loads the modules with the first transcoder of a resource: they need a large library. */
const grpcJson = () => require('@edge-gateway/routing/grpc-json') as GrpcJson;

/** `transcoderChecks`, loaded with the first transcoder. */
export const lazyTranscoderChecks: readonly ResourceCheck[] = (['Upstream', 'Gateway'] as const).map((kind) => ({
  kind,
  check(spec: GatewaySpec | UpstreamSpec, at) {
    if (!transcoderIn(kind, spec)) return [];
    const { transcoderChecks } = grpcJson();
    return transcoderChecks.flatMap((each) => (each.kind === kind ? each.check(spec as never, at) : []));
  },
}));

/** `transcoderFiles`, loaded with the first transcoder. */
export function lazyTranscoderFiles(directory: string): TranscoderFiles {
  let created: TranscoderFiles | undefined;
  const files = (): TranscoderFiles => (created ??= grpcJson().transcoderFiles(directory));
  return {
    name: 'transcoder_descriptor',
    logger: 'config',
    kinds: ['Upstream', 'Gateway'],
    filesOf: (resource) =>
      transcoderIn(resource.kind, resource.spec as UpstreamSpec) ? files().filesOf(resource) : [],
    keyOf: (named) => files().keyOf(named),
    pathsOf: (named) => files().pathsOf(named),
    read: (named) => files().read(named),
    observedOf: (content) => files().observedOf!(content),
  };
}
