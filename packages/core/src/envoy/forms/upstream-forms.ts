import type { HealthCheck } from '../../schema/upstream/health.ts';
import type { UpstreamSslConfig } from '../../schema/listener/ssl-config.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { Forms } from './form.ts';
import { TLS_PARAMETERS } from './tls-forms.ts';

const HEALTH_CHECK: Forms<HealthCheck> = {
  timeout: 'yes',
  interval: 'yes',
  healthyThreshold: 'yes',
  unhealthyThreshold: 'yes',
  initialJitter: 'yes',
  intervalJitter: 'yes',
  intervalJitterPercent: 'yes',
  noTrafficInterval: 'yes',
  unhealthyInterval: 'yes',
  unhealthyEdgeInterval: 'yes',
  healthyEdgeInterval: 'yes',
  reuseConnection: 'yes',
  eventLogPath: 'no',
  alwaysLogHealthCheckFailures: 'yes',
  httpHealthCheck: {
    host: 'yes',
    path: 'yes',
    serviceName: 'yes',
    requestHeadersToAdd: { header: 'yes', headerSecretRef: 'no', append: 'yes' },
    requestHeadersToRemove: 'yes',
    useHttp2: 'yes',
    expectedStatuses: 'yes',
    responseAssertions: 'no',
    method: 'yes',
  },
  tcpHealthCheck: 'yes',
  grpcHealthCheck: {
    serviceName: 'yes',
    authority: 'yes',
    initialMetadata: { header: 'yes', headerSecretRef: 'no', append: 'yes' },
  },
  customHealthCheck: 'no',
};

/** What Envoy expresses of TLS to an upstream. */
export const UPSTREAM_TLS_FORMS: Forms<UpstreamSslConfig> = {
  secretRef: 'yes',
  sslFiles: 'yes',
  sds: 'yes',
  sni: 'yes',
  verifySubjectAltName: 'yes',
  parameters: TLS_PARAMETERS,
  alpnProtocols: 'yes',
  // Ignored by the gateway, too.
  allowRenegotiation: 'yes',
  oneWayTls: 'yes',
};

/** What Envoy expresses of an upstream. */
export const UPSTREAM_FORMS: Forms<UpstreamSpec> = {
  discoveryMetadata: 'yes',
  sslConfig: UPSTREAM_TLS_FORMS,
  circuitBreakers: 'yes',
  loadBalancerConfig: 'yes',
  connectionConfig: 'yes',
  protocolSelection: 'yes',
  useHttp2: 'yes',
  initialStreamWindowSize: 'yes',
  initialConnectionWindowSize: 'yes',
  maxConcurrentStreams: 'yes',
  overrideStreamErrorOnInvalidHttpMessage: 'yes',
  connectionKeepalive: 'yes',
  healthChecks: HEALTH_CHECK,
  outlierDetection: 'yes',
  failover: 'yes',
  httpProxyHostname: 'no',
  httpConnectSslConfig: 'no',
  httpConnectHeaders: 'no',
  ignoreHealthOnHostRemoval: 'yes',
  respectDnsTtl: 'yes',
  dnsRefreshRate: 'yes',
  proxyProtocolVersion: 'yes',
  preconnectPolicy: 'yes',
  disableIstioAutoMtls: 'yes',
  // Functions and transcoders are those of a destination.
  static: 'yes',
  kube: 'yes',
  consul: 'yes',
  aws: 'no',
  awsEc2: 'no',
  azure: 'no',
  pipe: 'yes',
  gcp: 'no',
  ai: 'no',
};
