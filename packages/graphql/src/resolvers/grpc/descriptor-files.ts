import { resolve } from 'node:path';
import type { Resource, ResourceFiles } from '@edge-gateway/core';
import { readDescriptorFile } from '@edge-gateway/core/descriptors';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { methodTypes, readDescriptorSet } from './descriptors.ts';

const PATH = ['spec', 'executableSchema', 'grpcDescriptorRegistry', 'protoDescriptor'];

/** A descriptor file, and the methods that it must contain. */
interface DescriptorFile {
  readonly path: string;
  readonly methods: readonly (readonly [service: string, method: string])[];
}

/**
 * The descriptor files that GraphQLApis name, all below a directory. A file is valid if it contains the methods of the API that
 * names it.
 *
 * @example
 * createControlPlane({ source: directorySource('resources'), files: [descriptorFiles('resources')] });
 */
export function descriptorFiles(directory: string): ResourceFiles<DescriptorFile, string> {
  return {
    name: 'descriptor',
    logger: 'graphql',
    kinds: ['GraphQLApi'],
    filesOf: (resource) => {
      const files = fileOf((resource as Resource<GraphQLApiSpec>).spec);
      return files ? [{ files, at: PATH }] : [];
    },
    keyOf: (file) => JSON.stringify([file.path, file.methods]),
    pathsOf: ({ path }) => [resolve(directory, path)],
    read({ path, methods }) {
      try {
        const bytes = readDescriptorFile(path, directory);
        const types = readDescriptorSet(bytes);
        for (const [service, method] of methods) methodTypes([types], service, method);
        return { content: bytes.toString('base64') };
      } catch (error) {
        return { problem: { severity: 'error', path: [], message: (error as Error).message } };
      }
    },
    observedOf: (descriptorSet) => ({ descriptorSet }),
  };
}

function fileOf({ executableSchema }: GraphQLApiSpec): DescriptorFile | undefined {
  const path = executableSchema?.grpcDescriptorRegistry?.protoDescriptor;
  if (!path) return undefined;
  const methods = Object.values(executableSchema.executor?.local?.resolutions ?? {}).flatMap(({ grpcResolver }) => {
    const { serviceName, methodName } = grpcResolver?.requestTransform ?? {};
    return serviceName && methodName ? [[serviceName, methodName] as const] : [];
  });
  return { path, methods };
}
