import { resolve } from 'node:path';
import type { Resource, ResourceFiles } from '@edge-gateway/core';
import { readDescriptorFile } from '@edge-gateway/core/descriptors';
import type { GrpcJsonTranscoder, UpstreamSpec } from '@edge-gateway/core/schema';
import { transcoderIn } from './placed-transcoder.ts';
import { compileTranscoder, TranscoderProblem } from './transcoder.ts';

const FIELD = 'protoDescriptor';

/**
 * The descriptor files of gRPC-JSON transcoders, all below a directory. A file is valid if the transcoder that names it can be compiled with
 * it; until then the previous content stays in use.
 *
 * @example
 * createControlPlane({ source: directorySource('resources'), files: [transcoderFiles('resources')] });
 */
export function transcoderFiles(directory: string): ResourceFiles<GrpcJsonTranscoder, string> {
  return {
    name: 'transcoder_descriptor',
    logger: 'config',
    kinds: ['Upstream', 'Gateway'],
    filesOf({ kind, spec }: Resource) {
      const found = transcoderIn(kind, spec as UpstreamSpec);
      // The fields before it have priority.
      if (!found?.options.protoDescriptor || found.options.protoDescriptorBin) return [];
      return [{ files: found.options, at: ['spec', ...found.path] }];
    },
    keyOf: (options) => JSON.stringify(options),
    pathsOf: ({ protoDescriptor = '' }) => [resolve(directory, protoDescriptor)],
    read(options) {
      try {
        const bytes = readDescriptorFile(options.protoDescriptor!, directory);
        compileTranscoder(options, bytes, FIELD);
        return { content: bytes.toString('base64') };
      } catch (error) {
        const path = error instanceof TranscoderProblem ? error.field : [FIELD];
        return { problem: { severity: 'error', path, message: (error as Error).message } };
      }
    },
    observedOf: (descriptorSet) => ({ descriptorSet }),
  };
}
