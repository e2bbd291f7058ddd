import '@edge-gateway/core/supported-node';
export {
  createDiscoveryClient,
  type ClientTls,
  type DiscoveryClient,
  type DiscoveryClientOptions,
} from './client/discovery-client.ts';
export { formatAddress, readServerAddresses, type ServerAddress } from './client/server-address.ts';
export { createEnvoyTranslation } from './envoy/envoy-translation.ts';
export type { EnvoyProblem } from './envoy/encode-envoy.ts';
export { ERROR_CODES } from './error-codes.ts';
export { parseClientNames, type ClientName } from './server/client-names.ts';
export {
  createDiscoveryServer,
  type DiscoveryAddress,
  type DiscoveryServer,
  type DiscoveryServerOptions,
  type NodeRejection,
} from './server/discovery-server.ts';
export { NODE_TRANSLATION, type Translation } from './server/translation.ts';
export { readSnapshotFile, readSnapshotKey, type SavedState } from './snapshot-file/snapshot-file.ts';
export {
  createSnapshotWriter,
  type SnapshotWriter,
  type SnapshotWriterOptions,
} from './snapshot-file/snapshot-writer.ts';
