import '@edge-gateway/core/supported-node';
export { ApiError, isApiError } from './client/api-error.ts';
export {
  findClusterAccess,
  type ClusterAccess,
  type ClusterChoice,
  type KubeconfigAccess,
  type ServiceAccountAccess,
} from './client/cluster-access.ts';
export {
  createClusterClient,
  type ClusterClient,
  type ClusterClientOptions,
  type ClusterRequest,
  type ResponseStream,
} from './client/cluster-client.ts';
export { forwardPort, type PodPort, type PortForward } from './client/port-forward.ts';
export type { RequestLimit } from './client/token-bucket.ts';
export { createWriteLimit, type WriteLimit } from './client/write-limit.ts';
export { customResourceDefinitions, type Definition } from './crd/definitions.ts';
export { ERROR_CODES } from './error-codes.ts';
export {
  createLeaderElection,
  type LeaderElection,
  type LeaderElectionOptions,
  type LeaderTiming,
} from './leader/leader-election.ts';
export type { LeaseName } from './leader/lease-record.ts';
export { kubernetesSource, type KubernetesSource, type KubernetesSourceOptions } from './source/kubernetes-source.ts';
export {
  createStatusWriter,
  type StatusTiming,
  type StatusWriter,
  type StatusWriterOptions,
} from './status/status-writer.ts';
export {
  objectKey,
  pathOf,
  typeName,
  type ClusterObject,
  type ObjectMetadata,
  type OwnerReference,
  type ResourceType,
} from './watch/cluster-object.ts';
export { listPages, type ListRequest } from './watch/list-pages.ts';
export {
  createReflector,
  type Reflector,
  type ReflectorChange,
  type ReflectorOptions,
  type ReflectorProblem,
  type ReflectorTiming,
} from './watch/reflector.ts';
export {
  createClusterServices,
  type ClusterServicesOptions,
  type WatchedServices,
} from './discovery/cluster-services.ts';
export {
  createUpstreamDiscovery,
  type UpstreamDiscovery,
  type UpstreamDiscoveryOptions,
} from './discovery/upstream-discovery.ts';
export type { DiscoveryProblem } from './discovery/upstream-plan.ts';
export { createDiscoveredApis, isDiscoveredApi, type DiscoveredApis } from './discovery/discovered-apis.ts';
export { createDiscoveredFunctions, type DiscoveredFunctions } from './discovery/discovered-functions.ts';
export { followNamespaceLabels, type NamespaceLabels, type NamespaceLabelsOptions } from './source/namespace-labels.ts';
export { startAdmissionServer, type AdmissionServerOptions } from './webhook/admission-server.ts';
export { issueCertificate, type IssuedCertificate, type Validity } from './webhook/certificate.ts';
export type { CertificateTiming } from './webhook/certificate-set.ts';
export type { AdmissionTarget } from './webhook/validate-admission.ts';
export {
  createWebhookCertificates,
  type WebhookCertificates,
  type WebhookCertificatesOptions,
} from './webhook/webhook-certificates.ts';
export {
  createProxyWriter,
  type ProxyTiming,
  type ProxyWriter,
  type ProxyWriterOptions,
  type WrittenProxies,
} from './proxies/proxy-writer.ts';
export { gatewayApiSource, type GatewayApiOptions, type GatewayApiSource } from './gateway-api/gateway-api-source.ts';
