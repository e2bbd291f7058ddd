import { CircuitBreakers } from '../upstream/circuit-breakers.ts';
import { block, bool, duration, int, named, notYet, of, text, type Static } from '../field.ts';

const validation = block({
  alwaysAccept: bool('Accepts everything that can be read; problems are only logged and reported.', {
    default: true,
    ...notYet,
  }),
  allowWarnings: bool('Accepts resources with warnings.', { default: true, ...notYet }),
  serverEnabled: bool('Runs the validation server.', { default: true, ...notYet }),
  proxyValidationServerAddr: text('Deprecated; address of the server.', notYet),
  validationWebhookTlsCert: text('File with the certificate of the webhook.', {
    default: '/etc/gateway/validation-certs/tls.crt',
    ...notYet,
  }),
  validationWebhookTlsKey: text('File with its key.', { default: '/etc/gateway/validation-certs/tls.key', ...notYet }),
  ignoreGwValidationFailure: bool('Deprecated; accepts resources while the server is unavailable.', {
    default: false,
    ...notYet,
  }),
  validationServerGrpcMaxSizeBytes: int('Maximum message size in bytes.', {
    minimum: 0,
    default: 104857600,
    ...notYet,
  }),
  warnRouteShortCircuiting: bool('Warns about routes that an earlier route hides.', { default: false }),
  disableTransformationValidation: bool('Does not validate templates when they are read.', { default: false }),
  warnMissingTlsSecret: bool('A missing TLS secret is a warning instead of an error.', { default: true }),
  fullEnvoyValidation: bool('Validates the whole configuration with the data plane.', { default: false, ...notYet }),
});
/** Validation before a resource is accepted. */
export interface ValidationSettings extends Static<typeof validation> {}
export const ValidationSettings = named<ValidationSettings>('ValidationSettings', validation);

const gateway = block({
  validationServerAddr: text('Address of the validation server.', { default: 'gw:9988', ...notYet }),
  validation: of(ValidationSettings, 'Validation before a resource is accepted. Unset: none.'),
  readGatewaysFromAllNamespaces: bool('Reads Gateways outside the write namespace too.', { default: false }),
  enableGatewayController: bool('Translates Gateways.', { default: true, ...notYet }),
  isolateVirtualHostsBySslConfig: bool('Serves a virtual host only through its own certificate.', {
    default: false,
    ...notYet,
  }),
  translateEmptyGateways: bool('Listens even if no virtual service is selected.', { default: false }),
  persistProxySpec: bool('Stores Proxies with the resources.', { default: false, ...notYet }),
  compressedProxySpec: bool('Stores them compressed.', { default: false, ...notYet }),
  virtualServiceOptions: of(
    block({ oneWayTls: bool('Default of `sslConfig.oneWayTls`.', { default: false }) }),
    'Defaults of virtual services.',
  ),
  alwaysSortRouteTableRoutes: bool('Not used.', { default: false }),
});
/** Gateways and validation. */
export interface GatewaySettings extends Static<typeof gateway> {}
export const GatewaySettings = named<GatewaySettings>('GatewaySettings', gateway);

const invalidConfig = block({
  replaceInvalidRoutes: bool(
    'A broken route returns the replacement; otherwise its whole virtual service keeps its last good version.',
    {
      default: false,
    },
  ),
  invalidRouteResponseCode: int('Status of the replacement.', { minimum: 200, maximum: 599, default: 404 }),
  invalidRouteResponseBody: text(
    'Body of the replacement response. Default: `The requested resource is not available.`.',
  ),
});
/** The response of routes that cannot be served. */
export interface InvalidConfigPolicy extends Static<typeof invalidConfig> {}
export const InvalidConfigPolicy = named<InvalidConfigPolicy>('InvalidConfigPolicy', invalidConfig);

const aws = block(
  {
    enableCredentialsDiscovey: bool('Finds credentials on the machine. The spelling of the key is intentional.', {
      default: false,
    }),
    serviceAccountCredentials: of(
      block({
        cluster: text('Cluster of the service.'),
        region: text('Region.'),
        timeout: duration('Timeout of a call.'),
        uri: text('Address of the service.'),
      }),
      'Credentials of a service account.',
    ),
    credentialRefreshDelay: duration('How long before their expiry credentials are renewed.'),
    propagateOriginalRouting: bool('Sends the original path and host to functions.', { default: false }),
    fallbackToFirstFunction: bool('A destination without a function calls the first one.', { default: false }),
  },
  { oneOf: [{ members: ['enableCredentialsDiscovey', 'serviceAccountCredentials'] }] },
);
const istio = block({
  appendXForwardedHost: bool('Default of the route option of the same name.', { default: true }),
  enableAutoMtls: bool('Uses mesh TLS to upstreams.', { default: false, ...notYet }),
  enableIntegration: bool('Joins a mesh.', { default: false, ...notYet }),
});
const gw = block({
  xdsBindAddr: text('Address of the xDS server.', { default: '0.0.0.0:9977', ...notYet }),
  validationBindAddr: text('Address of the validation server.', { default: '0.0.0.0:9988', ...notYet }),
  restXdsBindAddr: text('Address of the REST xDS server.', { default: '0.0.0.0:9976', ...notYet }),
  proxyDebugBindAddr: text('Address of the debug server.', { default: '0.0.0.0:9966', ...notYet }),
  circuitBreakers: of(CircuitBreakers, 'Circuit breakers for upstreams without their own.', notYet),
  endpointsWarmingTimeout: duration('Maximum wait for the first endpoints.', { default: '5m', ...notYet }),
  invalidConfigPolicy: of(InvalidConfigPolicy, 'The response of routes that cannot be served.'),
  disableKubernetesDestinations: bool('Rejects `kube` destinations.', { default: false, ...notYet }),
  disableGrpcWeb: bool('Omits the gRPC-Web translation.', { default: false, ...notYet }),
  disableProxyGarbageCollection: bool('Keeps Proxies of deleted gateways.', { default: false, ...notYet }),
  enableRestEds: bool('Serves endpoints over REST.', { default: false, ...notYet }),
  removeUnusedFilters: bool('Omits unused filters.', { default: false, ...notYet }),
  regexMaxProgramSize: int('Maximum program size of a regular expression, in instructions.', {
    minimum: 1,
    default: 1024,
  }),
  failoverUpstreamDnsPollingInterval: duration('Interval between lookups of failover endpoints.', {
    default: '10s',
    ...notYet,
  }),
  awsOptions: of(aws, 'AWS credentials and functions.', notYet),
  istioOptions: of(istio, 'Service mesh.'),
  logTransformationRequestResponseInfo: bool('Logs the input and output of transformations.', {
    default: false,
    ...notYet,
  }),
  transformationEscapeCharacters: bool('Default of `escapeCharacters`.', { default: false }),
  enableAutoWebsocketTransformationPassthrough: bool('Does not apply templates to WebSocket routes.', {
    default: false,
    ...notYet,
  }),
});
/** The control plane. */
export interface GwSettings extends Static<typeof gw> {}
export const GwSettings = named<GwSettings>('GwSettings', gw);
