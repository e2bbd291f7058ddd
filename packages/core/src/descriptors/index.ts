import '../node-version/supported.ts';
export { MAX_DESCRIPTOR_BYTES, readDescriptorFile } from './descriptor-file.ts';
export { filesInImportOrder, lenientRegistry, messageRegistry } from './message-registry.ts';
