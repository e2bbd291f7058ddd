import { CircuitBreakers } from './circuit-breakers.ts';
import { block, bool, duration, int, named, notYet, of, text, type Static } from './field.ts';

const validation = block({
  alwaysAccept: bool('Admits everything that can be read; problems are only logged and reported.', {
    default: true,
    ...notYet,
  }),
  allowWarnings: bool('Warnings never refuse.', { default: true, ...notYet }),
  serverEnabled: bool('Runs the validation server.', { default: true, ...notYet }),
  proxyValidationServerAddr: text('Deprecated; address of the server.', notYet),
  validationWebhookTlsCert: text('File with the certificate of the webhook.', {
    default: '/etc/gateway/validation-certs/tls.crt',
    ...notYet,
  }),
  validationWebhookTlsKey: text('File with its key.', { default: '/etc/gateway/validation-certs/tls.key', ...notYet }),
  ignoreGwValidationFailure: bool('Deprecated; lets resources through when the server is away.', {
    default: false,
    ...notYet,
  }),
  validationServerGrpcMaxSizeBytes: int('Largest message in bytes.', { minimum: 0, default: 104857600, ...notYet }),
  warnRouteShortCircuiting: bool('Warns of routes that an earlier one hides.', { default: false }),
  disableTransformationValidation: bool('Does not try templates when they are read.', { default: false }),
  warnMissingTlsSecret: bool('A missing TLS secret is a warning instead of an error.', { default: true }),
  fullEnvoyValidation: bool('Tries the whole configuration with the data plane.', { default: false, ...notYet }),
});
/** Checks before a resource is admitted. */
export interface ValidationSettings extends Static<typeof validation> {}
export const ValidationSettings = named<ValidationSettings>('ValidationSettings', validation);

const gateway = block({
  validationServerAddr: text('Address of the validation server.', { default: 'gw:9988', ...notYet }),
  validation: of(ValidationSettings, 'Checks before a resource is admitted. Unset: none.'),
  readGatewaysFromAllNamespaces: bool('Reads Gateways outside the write namespace too.', { default: false }),
  enableGatewayController: bool('Translates Gateways at all.', { default: true, ...notYet }),
  isolateVirtualHostsBySslConfig: bool('A virtual host is reached only through its own certificate.', {
    default: false,
    ...notYet,
  }),
  translateEmptyGateways: bool('Listens even when no virtual service is chosen.', { default: false }),
  persistProxySpec: bool('Keeps Proxies where resources are kept.', { default: false, ...notYet }),
  compressedProxySpec: bool('Keeps them compressed.', { default: false, ...notYet }),
  virtualServiceOptions: of(
    block({ oneWayTls: bool('Default of `sslConfig.oneWayTls`.', { default: false }) }),
    'Defaults of virtual services.',
  ),
  alwaysSortRouteTableRoutes: bool('Not heeded.', { default: false }),
});
/** Gateways and validation. */
export interface GatewaySettings extends Static<typeof gateway> {}
export const GatewaySettings = named<GatewaySettings>('GatewaySettings', gateway);

const invalidConfig = block({
  replaceInvalidRoutes: bool(
    'A broken route answers with the replacement instead of holding its virtual service back.',
    {
      default: false,
    },
  ),
  invalidRouteResponseCode: int('Status of the replacement.', { minimum: 200, maximum: 599, default: 404 }),
  invalidRouteResponseBody: text(
    'Body of the replacement response. Default: `The requested resource is not available.`.',
  ),
});
/** What routes that cannot be served answer. */
export interface InvalidConfigPolicy extends Static<typeof invalidConfig> {}
export const InvalidConfigPolicy = named<InvalidConfigPolicy>('InvalidConfigPolicy', invalidConfig);

const aws = block(
  {
    enableCredentialsDiscovey: bool('Looks for credentials on the machine; the key is spelt so.', { default: false }),
    serviceAccountCredentials: of(
      block({
        cluster: text('Cluster that reaches the service.'),
        region: text('Region.'),
        timeout: duration('Longest time for a call.'),
        uri: text('Address of the service.'),
      }),
      'Credentials of a service account.',
    ),
    credentialRefreshDelay: duration('Time before their end at which credentials are renewed.'),
    propagateOriginalRouting: bool('Tells functions the original path and host.', { default: false }),
    fallbackToFirstFunction: bool('A destination without a function calls the first one.', { default: false }),
  },
  { oneOf: [{ members: ['enableCredentialsDiscovey', 'serviceAccountCredentials'] }] },
);
const istio = block({
  appendXForwardedHost: bool('Default of the route option of the same name.', { default: true }),
  enableAutoMtls: bool('Speaks mesh TLS to upstreams.', { default: false, ...notYet }),
  enableIntegration: bool('Takes part in a mesh.', { default: false, ...notYet }),
});
const gw = block({
  xdsBindAddr: text('Address of the xDS server.', { default: '0.0.0.0:9977', ...notYet }),
  validationBindAddr: text('Address of the validation server.', { default: '0.0.0.0:9988', ...notYet }),
  restXdsBindAddr: text('Address of the REST xDS server.', { default: '0.0.0.0:9976', ...notYet }),
  proxyDebugBindAddr: text('Address of the debug server.', { default: '0.0.0.0:9966', ...notYet }),
  circuitBreakers: of(CircuitBreakers, 'Limits of upstreams that have none.', notYet),
  endpointsWarmingTimeout: duration('Longest wait for the first endpoints.', { default: '5m', ...notYet }),
  invalidConfigPolicy: of(InvalidConfigPolicy, 'What routes that cannot be served answer.'),
  disableKubernetesDestinations: bool('Refuses `kube` destinations.', { default: false, ...notYet }),
  disableGrpcWeb: bool('Leaves out the translation of gRPC-Web.', { default: false, ...notYet }),
  disableProxyGarbageCollection: bool('Keeps Proxies of gateways that are gone.', { default: false, ...notYet }),
  enableRestEds: bool('Serves endpoints over REST.', { default: false, ...notYet }),
  removeUnusedFilters: bool('Leaves out filters that nothing uses.', { default: false, ...notYet }),
  regexMaxProgramSize: int('Largest compiled size of a regular expression, in instructions.', {
    minimum: 1,
    default: 1024,
  }),
  failoverUpstreamDnsPollingInterval: duration('Time between look-ups of failover endpoints.', {
    default: '10s',
    ...notYet,
  }),
  awsOptions: of(aws, 'AWS credentials and functions.', notYet),
  istioOptions: of(istio, 'Service mesh.'),
  logTransformationRequestResponseInfo: bool('Logs what goes into and comes out of transformations.', {
    default: false,
    ...notYet,
  }),
  transformationEscapeCharacters: bool('Default of `escapeCharacters`.', { default: false }),
  enableAutoWebsocketTransformationPassthrough: bool('Templates leave WebSocket routes alone.', {
    default: false,
    ...notYet,
  }),
});
/** The control plane. */
export interface GwSettings extends Static<typeof gw> {}
export const GwSettings = named<GwSettings>('GwSettings', gw);
