/** Defaults of fields that several packages apply: the schema writes them, the data plane and the admin endpoint read them here. */
export const DEFAULTS = {
  /** `timeout` of a route. */
  routeTimeout: '15s',
  /** `connectionConfig.connectTimeout` of an upstream. */
  connectTimeout: '5s',
  /** `tcpProxySettings.idleTimeout` of a TCP gateway. */
  tcpIdleTimeout: '1h',
  /** `ipv6PrefixLength` of `ratelimitServer`. */
  ipv6PrefixLength: 64,
  /** `circuitBreakers.maxConnections` of an upstream. */
  maxConnections: 1024,
  /** `circuitBreakers.maxPendingRequests` of an upstream. */
  maxPendingRequests: 1024,
  /** `circuitBreakers.maxRequests` of an upstream. */
  maxRequests: 1024,
  /** `circuitBreakers.maxRetries` of an upstream. */
  maxRetries: 3,
  /** `targetUri` of `sds`. */
  sdsTargetUri: '127.0.0.1:8234',
  /** `clusterName` of `sds`: the server at `targetUri`. */
  sdsClusterName: 'gateway_proxy_sds',
  /** `fileCredentialSource.header` of the `callCredentials` of `sds`. */
  sdsTokenHeader: 'authorization',
  /** `bindAddress` of a Gateway. */
  bindAddress: '::',
  /** The only one of `proxyNames` of a Gateway. */
  proxyName: 'gateway-proxy',
  /** `routeOptions.maxDirectResponseBodySizeBytes` of a Gateway. */
  directBodyBytes: 4096,
  /** `gateway.validation.validationWebhookTlsCert` of the Settings. */
  validationCert: '/etc/gateway/validation-certs/tls.crt',
  /** `gateway.validation.validationWebhookTlsKey` of the Settings. */
  validationKey: '/etc/gateway/validation-certs/tls.key',
  /** `refreshRate` of the Settings. */
  refreshRate: '60s',
  /** `gw.endpointsWarmingTimeout` of the Settings. */
  endpointsWarmingTimeout: '5m',
  /** `gw.invalidConfigPolicy.invalidRouteResponseCode` of the Settings. */
  invalidRouteStatus: 404,
  /** `gw.regexMaxProgramSize` of the Settings, in instructions. */
  regexMaxProgramSize: 1024,
  /** `passThroughAuth.http.connectionTimeout` and that of `grpc`. */
  passThroughTimeout: '5s',
  /** `oidcAuthorizationCode.discoveryPollInterval`. */
  discoveryPollInterval: '30m',
  /** `extauth.requestTimeout` of the Settings. */
  authTimeout: '200ms',
  /** `extauth.statusOnError` of the Settings. */
  authStatusOnError: 403,
  /** `extauth.requestBody.maxRequestBytes` of the Settings. */
  authBodyBytes: 4096,
  /** `requestTimeout` of `ratelimitServer`. */
  rateLimitTimeout: '100ms',
  /** `extauth.userIdHeader` of the Settings. */
  userIdHeader: 'x-user-id',
  /** `initialStreamWindowSize` of an Upstream, in bytes. */
  http2StreamWindow: 262_144,
  /** `initialConnectionWindowSize` of an Upstream, in bytes. */
  http2ConnectionWindow: 16_777_216,
  /** `connectionKeepalive.timeout` of an Upstream. */
  http2PingTimeout: '10s',
} as const;
