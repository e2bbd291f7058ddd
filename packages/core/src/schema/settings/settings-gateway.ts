import { CircuitBreakers } from '../upstream/circuit-breakers.ts';
import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';

/** There is no server for validation. */
const IN_PROCESS = f.replacedBy('the control plane validates resources itself');
/** Fields of the admission webhook; a directory has none: a rejected resource keeps its last good version. */
const WEBHOOK = f.onKubernetes;

const validation = f.block({
  alwaysAccept: f.bool(
    'Admits everything that can be read, with warnings. False: changes that cause an error are rejected.',
    {
      default: true,
      ...WEBHOOK,
    },
  ),
  allowWarnings: f.bool('Admits changes that cause warnings.', { default: true, ...WEBHOOK }),
  serverEnabled: f.bool('Validates changes. False: all are admitted.', { default: true, ...WEBHOOK }),
  allowSkipValidation: f.flag(
    'Extension of this gateway. Admits objects with the annotation `gateway.vendor.io/skip_validation` without validation. False ignores the annotation: everybody who may write an object may set it.',
    { ...WEBHOOK, ...f.addition },
  ),
  proxyValidationServerAddr: f.text('Deprecated; address of the server.', IN_PROCESS),
  validationWebhookTlsCert: f.text(
    'File with the certificate of the webhook, as PEM. If it does not exist when the control plane starts, the control plane makes its own.',
    { default: DEFAULTS.validationCert, ...WEBHOOK },
  ),
  validationWebhookTlsKey: f.text('File with its private key, as PEM.', {
    default: DEFAULTS.validationKey,
    ...WEBHOOK,
  }),
  ignoreGwValidationFailure: f.flag('Deprecated; accepts resources while the server is unavailable.', IN_PROCESS),
  validationServerGrpcMaxSizeBytes: f.count('Maximum message size in bytes.', { default: 104857600, ...IN_PROCESS }),
  warnRouteShortCircuiting: f.flag('Warns about routes that an earlier route hides.'),
  disableTransformationValidation: f.flag('Does not validate templates when they are read.'),
  warnMissingTlsSecret: f.bool('A missing TLS secret is a warning instead of an error.', { default: true }),
  fullEnvoyValidation: f.flag(
    'Validates the whole configuration with the data plane.',
    f.replacedBy('proxies report what they reject, in the status of the resources'),
  ),
});
/** Validation before a resource is accepted. */
export interface ValidationSettings extends f.Static<typeof validation> {}
export const ValidationSettings = f.named<ValidationSettings>('ValidationSettings', validation);

const gateway = f.block({
  validationServerAddr: f.text('Address of the validation server.', { default: 'gw:9988', ...IN_PROCESS }),
  validation: f.of(
    ValidationSettings,
    'Validation before a resource is accepted. Unset: changes are not validated before they are stored.',
  ),
  readGatewaysFromAllNamespaces: f.flag('Reads Gateways outside the write namespace too.'),
  enableGatewayController: f.bool('Translates Gateways; false serves nothing.', { default: true }),
  isolateVirtualHostsBySslConfig: f.flag(
    'Serves a virtual host only through its own TLS configuration. The annotation `gateway.vendor.io/isolate_vhost` of a Gateway overrides it.',
  ),
  translateEmptyGateways: f.flag('Listens even if no virtual service is selected.'),
  persistProxySpec: f.flag('Stores Proxies in the cluster, without secret values.', f.onKubernetes),
  compressedProxySpec: f.flag('Writes `compressedSpec` instead of `listeners` in Proxies.'),
  virtualServiceOptions: f.group('Defaults of virtual services.', {
    oneWayTls: f.flag('Default of `sslConfig.oneWayTls`.'),
  }),
  alwaysSortRouteTableRoutes: f.flag('Not used.'),
});
/** Gateways and validation. */
export interface GatewaySettings extends f.Static<typeof gateway> {}
export const GatewaySettings = f.named<GatewaySettings>('GatewaySettings', gateway);

const invalidConfig = f.block({
  replaceInvalidRoutes: f.flag(
    'A broken route returns the replacement; otherwise its whole virtual service keeps its last good version.',
  ),
  invalidRouteResponseCode: f.int('Status of the replacement.', {
    minimum: 200,
    maximum: 599,
    default: DEFAULTS.invalidRouteStatus,
  }),
  invalidRouteResponseBody: f.text(
    'Body of the replacement response. Default: `The requested resource is not available.`.',
  ),
});
/** The response of routes that cannot be served. */
export interface InvalidConfigPolicy extends f.Static<typeof invalidConfig> {}
export const InvalidConfigPolicy = f.named<InvalidConfigPolicy>('InvalidConfigPolicy', invalidConfig);

const aws = f.block(f.oneOf(['enableCredentialsDiscovey', 'serviceAccountCredentials']), {
  enableCredentialsDiscovey: f.flag('Finds credentials on the machine. The spelling of the key is intentional.'),
  serviceAccountCredentials: f.group('Credentials of a service account.', {
    cluster: f.text('Cluster of the service.'),
    region: f.text('Region.'),
    timeout: f.duration('Timeout of a call.'),
    uri: f.text('Address of the service.'),
  }),
  credentialRefreshDelay: f.duration('How long before their expiry credentials are renewed.'),
  propagateOriginalRouting: f.flag('Sends the original path and host to functions.'),
  fallbackToFirstFunction: f.flag('A destination without a function calls the first one.'),
});
const istio = f.block({
  appendXForwardedHost: f.bool('Default of the route option of the same name.', { default: true }),
  enableAutoMtls: f.flag('Uses mesh TLS to upstreams.', {
    ...f.notYet,
    'x-instead': 'no mesh issues certificates to the gateway; set `sslConfig` of the upstreams',
  }),
  enableIntegration: f.flag('Joins a mesh.', {
    ...f.notYet,
    'x-instead':
      'the gateway asks no mesh for certificates or endpoints; it forwards to Services like any client of the mesh',
  }),
});
const OVER_GRPC = f.replacedBy('proxies receive everything over gRPC');

const gw = f.block({
  xdsBindAddr: f.text(
    'Address of the xDS server.',
    f.replacedBy('use `--xds-address` and `--xds-port` of the control plane'),
  ),
  validationBindAddr: f.text('Address of the validation server.', { default: '0.0.0.0:9988', ...IN_PROCESS }),
  restXdsBindAddr: f.text('Address of the REST xDS server.', { default: '0.0.0.0:9976', ...OVER_GRPC }),
  proxyDebugBindAddr: f.text('Address of the debug server.', {
    default: '0.0.0.0:9966',
    ...f.replacedBy('`/snapshots/proxies` of the control plane lists the Proxies'),
  }),
  circuitBreakers: f.of(CircuitBreakers, 'Circuit breakers of upstreams, for the fields that they do not set.'),
  endpointsWarmingTimeout: f.duration(
    'Maximum wait of a starting control plane for the endpoints of Services; 0s does not wait. Afterwards new proxies receive a state without these endpoints; the others keep what they serve until Services are listed.',
    { default: DEFAULTS.endpointsWarmingTimeout, ...f.onKubernetes },
  ),
  invalidConfigPolicy: f.of(InvalidConfigPolicy, 'The response of routes that cannot be served.'),
  disableKubernetesDestinations: f.flag('Rejects `kube` destinations.'),
  disableGrpcWeb: f.flag('Disables the translation of gRPC-Web on listeners without `grpcWeb`.'),
  disableProxyGarbageCollection: f.flag(
    'Proxies whose Gateways are deleted keep what they serve, until the control plane restarts.',
  ),
  enableRestEds: f.flag('Serves endpoints over REST.', OVER_GRPC),
  removeUnusedFilters: f.flag('Omits unused filters. They are never part of a route, so this has no effect.'),
  regexMaxProgramSize: f.int('Maximum program size of a regular expression, in instructions.', {
    minimum: 1,
    default: DEFAULTS.regexMaxProgramSize,
  }),
  failoverUpstreamDnsPollingInterval: f.duration('Interval between lookups of failover endpoints, at least 1ms.', {
    default: '10s',
  }),
  awsOptions: f.of(aws, 'AWS credentials and functions.', f.unsupported),
  istioOptions: f.of(istio, 'Service mesh.'),
  logTransformationRequestResponseInfo: f.flag(
    'Logs messages before and after transformations at level debug, without secrets.',
  ),
  transformationEscapeCharacters: f.flag('Default of `escapeCharacters`.'),
  jsonErrors: f.flag(
    'Extension of this gateway. Sends errors to clients whose `accept` prefers JSON as JSON with `code`, `message` and `requestId`, instead of texts such as `RBAC: access denied` or `no healthy upstream`. False: these clients receive the texts, and JSON instead of an empty body.',
    f.addition,
  ),
  enableAutoWebsocketTransformationPassthrough: f.flag(
    'Passes bodies of WebSocket handshakes through. They are never read here, so that it has no effect.',
  ),
});
/** The control plane. */
export interface GwSettings extends f.Static<typeof gw> {}
export const GwSettings = f.named<GwSettings>('GwSettings', gw);
