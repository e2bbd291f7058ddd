import type { DescMessage, Registry as Types } from '@bufbuild/protobuf';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { readDescriptorFile } from './descriptor-file.ts';
import { registryOf } from './message-registry.ts';

export type Registry = NonNullable<GraphQLApiSpec['executableSchema']>['grpcDescriptorRegistry'];

/** Message types of one method. */
export interface MethodTypes {
  readonly request: DescMessage;
  readonly response: DescMessage;
  /** Types that messages may contain in an `Any`. */
  readonly types: Types;
}

/** Descriptor sets in addition to those of the registry. */
export interface DescriptorSources {
  /** As base64. */
  readonly descriptorSets: readonly string[];
  /** Directory of files that the registry may refer to. */
  readonly filesRoot: string | undefined;
}

/** Reads descriptor sets. Returns `undefined` when there are none. Throws an `Error`. */
export function readDescriptors(
  registry: Registry,
  { descriptorSets, filesRoot }: DescriptorSources,
): readonly Types[] | undefined {
  const sets: Uint8Array[] = descriptorSets.map((text) => Buffer.from(text, 'base64'));
  if (registry?.protoDescriptorBin) sets.push(Buffer.from(registry.protoDescriptorBin, 'base64'));
  if (registry?.protoDescriptor) sets.push(readDescriptorFile(registry.protoDescriptor, filesRoot));
  if (sets.length === 0) return undefined;
  return sets.map((bytes) => {
    try {
      return registryOf(bytes);
    } catch (cause) {
      throw new Error('grpcDescriptorRegistry: a descriptor set cannot be read', { cause });
    }
  });
}

/** The types of a unary method. Throws an `Error` when there is none. */
export function methodTypes(registries: readonly Types[], service: string, method: string): MethodTypes {
  for (const types of registries) {
    const own = types.getService(service)?.methods.find(({ name }) => name === method);
    if (!own) continue;
    if (own.methodKind !== 'unary') throw new Error(`streaming method ${service}/${method} is not supported`);
    return { request: own.input, response: own.output, types };
  }
  throw new Error(`the descriptors have no method ${service}/${method}`);
}
