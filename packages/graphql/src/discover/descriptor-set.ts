import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';

/** The part of a message descriptor that is read. */
interface MessageDescriptor {
  readonly name: string;
  readonly nestedType: readonly MessageDescriptor[];
  readonly options?: { readonly mapEntry?: boolean } | null;
}

interface FileDescriptorSet {
  readonly file: readonly { readonly package: string; readonly messageType: readonly MessageDescriptor[] }[];
}

/** Returns the types and services of a serialized `FileDescriptorSet`. Throws an `Error` for invalid bytes. */
export function rootOfDescriptorSet(bytes: Uint8Array): protobuf.Root {
  const set = descriptor.FileDescriptorSet.decode(bytes);
  const fromDescriptor = (protobuf.Root as unknown as { fromDescriptor(set: unknown): protobuf.Root }).fromDescriptor;
  const root = fromDescriptor(set);
  for (const file of (set as unknown as FileDescriptorSet).file) {
    const place = file.package === '' ? root : root.lookup(file.package);
    if (place instanceof protobuf.Namespace) restoreMaps(place, file.messageType);
  }
  return root;
}

/** Descriptors represent a map as a list of entries, which the library does not convert. */
function restoreMaps(place: protobuf.Namespace, messages: readonly MessageDescriptor[]): void {
  for (const { name, nestedType } of messages) {
    const type = place.get(name);
    if (!(type instanceof protobuf.Type)) continue;
    for (const { name: nested, options } of nestedType) if (options?.mapEntry) restoreMap(type, nested);
    restoreMaps(type, nestedType);
  }
}

function restoreMap(type: protobuf.Type, name: string): void {
  const entry = type.get(name);
  const field = type.fieldsArray.find((each) => each.repeated && each.type.split('.').at(-1) === name);
  if (!(entry instanceof protobuf.Type) || !field) return;
  const { key, value } = entry.fields;
  if (!key || !value) return;
  type.remove(field);
  type.add(new protobuf.MapField(field.name, field.id, key.type, value.type, field.options));
}
