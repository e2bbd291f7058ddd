import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import protobuf from 'protobufjs';
import { readDescriptorFile } from './descriptor-file.ts';
import { rootOfDescriptorSet } from '../discover/descriptor-set.ts';

export type Registry = NonNullable<GraphQLApiSpec['executableSchema']>['grpcDescriptorRegistry'];

/** Message types of one method. */
export interface MethodTypes {
  readonly request: protobuf.Type;
  readonly response: protobuf.Type;
}

/** Descriptor sets beside those that the registry holds. */
export interface DescriptorSources {
  /** As base64. */
  readonly descriptorSets: readonly string[];
  /** Directory of files that the registry may name. */
  readonly filesRoot: string | undefined;
}

/** Reads descriptor sets. Returns `undefined` when there are none. Throws an `Error`. */
export function readDescriptors(
  registry: Registry,
  { descriptorSets, filesRoot }: DescriptorSources,
): readonly protobuf.Root[] | undefined {
  const sets: Uint8Array[] = descriptorSets.map((text) => Buffer.from(text, 'base64'));
  if (registry?.protoDescriptorBin) sets.push(Buffer.from(registry.protoDescriptorBin, 'base64'));
  if (registry?.protoDescriptor) sets.push(readDescriptorFile(registry.protoDescriptor, filesRoot));
  if (sets.length === 0) return undefined;
  return sets.map((bytes) => {
    try {
      return rootOfDescriptorSet(bytes);
    } catch (cause) {
      throw new Error('grpcDescriptorRegistry: a descriptor set cannot be read', { cause });
    }
  });
}

/** The types of a unary method. Throws an `Error` when there is none. */
export function methodTypes(roots: readonly protobuf.Root[], service: string, method: string): MethodTypes {
  for (const root of roots) {
    const found = root.lookup(service, [protobuf.Service]);
    const own = found instanceof protobuf.Service ? found.methods[method] : undefined;
    if (!own) continue;
    if (own.requestStream || own.responseStream) throw new Error(`${service}/${method} streams`);
    own.resolve();
    return { request: own.resolvedRequestType!, response: own.resolvedResponseType! };
  }
  throw new Error(`the descriptors have no method ${service}/${method}`);
}
