import { constants, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { readRegularFile, UnusableFile, type Resource, type ResourceFiles } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { methodTypes, readDescriptorSet } from './descriptors.ts';

const FIELD = 'protoDescriptor';
const PATH = ['spec', 'executableSchema', 'grpcDescriptorRegistry', FIELD];

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

/** Largest descriptor set in a file, in bytes. */
export const MAX_DESCRIPTOR_BYTES = 10 * 1024 * 1024;

/** Reads a file of at most 10 MiB below a directory. Throws an `Error` for a path that leaves it, also by a symbolic link. */
export function readDescriptorFile(path: string, root: string): Buffer {
  const base = realpathSync(root);
  const wanted = resolve(root, path);
  // Checked before `realpath`, so that the error does not reveal whether a path outside exists.
  if (!isBelow(resolve(root), wanted) && !isBelow(base, wanted)) throw outside(path);
  const real = realPath(wanted, path);
  if (!isBelow(base, real)) throw outside(path);
  try {
    return readRegularFile(real, MAX_DESCRIPTOR_BYTES, constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof UnusableFile) throw new Error(`${FIELD}: '${path}' ${error.message}`, { cause: error });
    throw error;
  }
}

function realPath(wanted: string, path: string): string {
  try {
    return realpathSync(wanted);
  } catch (cause) {
    throw new Error(`${FIELD}: '${path}' does not exist in the configuration directory`, { cause });
  }
}

function isBelow(base: string, path: string): boolean {
  const relativePath = relative(base, path);
  return (
    relativePath !== '' && relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)
  );
}

function outside(path: string): Error {
  return new Error(`${FIELD}: '${path}' is outside the configuration directory`);
}
