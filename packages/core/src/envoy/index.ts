import '../node-version/supported.ts';
export { reasonsOfKey } from './certificate-keys.ts';
export { envoyBootstrap, type BootstrapOptions } from './bootstrap.ts';
export { cluster, endpointConfig, hasNames, loadAssignment } from './cluster.ts';
export type { TlsFiles } from './file-tls.ts';
export { envoyFormatProblem } from './format.ts';
export { httpFilters } from './http-filters.ts';
export {
  NO_REASONS,
  reasonsOfCertificates,
  reasonsOfListener,
  reasonsOfRoutes,
  reasonsOfTls,
  reasonsOfUpstream,
  wholeListenerReasons,
  type Reasons,
} from './hand-over.ts';
export { listenerMessage } from './listener.ts';
export { message, renamed, routeConfigName, typed, type EnvoyMessage } from './message.ts';
export { grpcCluster, handedOverListener, nodeCluster, nodeClusterName, nodeTcpCluster } from './node-proxies.ts';
export { handedOverHost, routeConfiguration, virtualHost } from './route-config.ts';
export { servedSecrets, tlsSecrets } from './secrets.ts';
export { AUTH_CLUSTER, LIMIT_CLUSTER, XDS_CLUSTER, type EnvoyServices, type HostPort } from './services.ts';
export { certificateOf, requiresClientCertificate, servedSecretName, upstreamSecretRef } from './tls.ts';
export type { MessageContext, TranslationContext } from './translation-context.ts';
