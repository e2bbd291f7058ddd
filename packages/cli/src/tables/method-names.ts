import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Returns the methods of the services of a descriptor set by the full name of the service; none for invalid bytes. */
export function methodNames(descriptorSet: Uint8Array): Map<string, string[]> {
  // Loaded with the first descriptor set: it needs a large library.
  const { messageRegistry } =
    require('@edge-gateway/core/descriptors') as typeof import('@edge-gateway/core/descriptors');
  const methods = new Map<string, string[]>();
  try {
    for (const type of messageRegistry(descriptorSet)) {
      if (type.kind !== 'service') continue;
      methods.set(
        type.typeName,
        type.methods.map(({ name }) => name),
      );
    }
  } catch {
    return new Map();
  }
  return methods;
}
