import type { Registry as Types } from '@bufbuild/protobuf';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { messageRegistry } from '@edge-gateway/core/descriptors';

export type Registry = NonNullable<GraphQLApiSpec['executableSchema']>['grpcDescriptorRegistry'];

export type MethodTypes = ReturnType<typeof methodTypes>;

/** Reads the descriptor sets of a registry, and others as base64. Returns `undefined` if there are none. Throws an `Error`. */
export function readDescriptors(registry: Registry, others: readonly string[]): readonly Types[] | undefined {
  const { protoDescriptorBin, protoDescriptor } = registry ?? {};
  const sets = protoDescriptorBin ? [...others, protoDescriptorBin] : others;
  if (sets.length > 0) return sets.map((text) => readDescriptorSet(Buffer.from(text, 'base64')));
  if (protoDescriptor) throw new Error(`protoDescriptor: '${protoDescriptor}' has never been valid`);
  return undefined;
}

export function readDescriptorSet(bytes: Uint8Array): Types {
  try {
    return messageRegistry(bytes);
  } catch (cause) {
    throw new Error('grpcDescriptorRegistry: a descriptor set cannot be read', { cause });
  }
}

/** Returns the message types of a unary method, and those that messages may contain in an `Any`. Throws an `Error` if there is none. */
export function methodTypes(registries: readonly Types[], service: string, method: string) {
  for (const types of registries) {
    const own = types.getService(service)?.methods.find(({ name }) => name === method);
    if (!own) continue;
    if (own.methodKind !== 'unary') throw new Error(`streaming method ${service}/${method} is not supported`);
    return { request: own.input, response: own.output, types };
  }
  throw new Error(`the descriptors have no method ${service}/${method}`);
}
