import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';

/** The types and services of a serialised `FileDescriptorSet`. Throws an `Error` for bytes that are none. */
export function rootOfDescriptorSet(bytes: Uint8Array): protobuf.Root {
  const set = descriptor.FileDescriptorSet.decode(bytes);
  const fromDescriptor = (protobuf.Root as unknown as { fromDescriptor(set: unknown): protobuf.Root }).fromDescriptor;
  return fromDescriptor(set);
}
