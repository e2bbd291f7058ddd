import { createFileRegistry, createRegistry, fromBinary, type DescMessage, type Registry } from '@bufbuild/protobuf';
import {
  EmptySchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  type DescriptorProto,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';

/** Files whose types a message may contain in an `Any` although its own file does not import them. */
const WELL_KNOWN = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];
/** Files that a set may import without containing them. */
const WELL_KNOWN_FILES = new Map(WELL_KNOWN.map(({ proto }) => [proto.name, proto]));

/**
 * Returns the types and services of a serialised `FileDescriptorSet`, and the well-known ones. Throws an `Error` for invalid bytes.
 *
 * @example
 * const types = messageRegistry(readFileSync('shop.pb'));
 * const methods = types.getService('shop.Orders')?.methods;
 */
export function messageRegistry(bytes: Uint8Array): Registry {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  for (const file of set.file) file.messageType.forEach(nameInJson);
  const files = new Map([...WELL_KNOWN_FILES, ...set.file.map((file) => [file.name, file] as const)]);
  const file = filesInImportOrder(set.file, files).map((each) => ({
    ...DEFAULTS,
    ...each,
    dependency: each.dependency.filter((name) => files.has(name)),
    publicDependency: [],
  }));
  return createRegistry(...WELL_KNOWN, createFileRegistry({ ...set, file }));
}

/** Fields that compilers omit; spreading a message does not include defaults. */
const DEFAULTS = { package: '', syntax: 'proto2' };

/** Fills in JSON names, which some compilers leave out. */
function nameInJson({ field, nestedType }: DescriptorProto): void {
  for (const each of field)
    each.jsonName ||= each.name.replaceAll(/_+([a-zA-Z0-9])/g, (_, next: string) => next.toUpperCase());
  nestedType.forEach(nameInJson);
}

/** Sorts files after their imports, because reflection returns them in any order. */
export function filesInImportOrder(
  wanted: Iterable<FileDescriptorProto>,
  files: ReadonlyMap<string, FileDescriptorProto>,
): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const visited = new Set<FileDescriptorProto>();
  const visit = (file: FileDescriptorProto | undefined): void => {
    if (!file || visited.has(file)) return;
    visited.add(file);
    for (const name of file.dependency) visit(files.get(name));
    ordered.add(file);
  };
  for (const file of wanted) visit(file);
  return [...ordered];
}

/** Returns a registry for decoding: an `Any` of an unknown type becomes only its type name, and the rest of the message is decoded. */
export function lenientRegistry(registry: Registry): Registry {
  const unknown = (typeName: string): DescMessage => ({ ...EmptySchema, typeName });
  return { ...registry, getMessage: (name: string) => registry.getMessage(name) ?? unknown(name) };
}
