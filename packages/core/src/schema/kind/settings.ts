import { ExtAuthServer } from '../auth/extauth.ts';
import { ExtProc } from '../route/ext-proc.ts';
import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';
import { RATE_LIMIT_SUPPORT, RateLimitRules, RateLimitServer } from '../route/rate-limit.ts';
import { ArtifactSources, ConfigSources, SecretOptions, SecretSources } from '../settings/settings-sources.ts';
import { ConsulDiscovery, ConsulSettings } from '../settings/settings-consul.ts';
import { GatewaySettings, GwSettings } from '../settings/settings-gateway.ts';
import { SslParameters } from '../listener/ssl-config.ts';

const discovery = f.block({
  fdsMode: f.choice(['BLACKLIST', 'WHITELIST', 'DISABLED'], 'Upstreams whose functions are discovered.'),
  udsOptions: f.group('Discovery of upstreams, in a control plane with `--kubernetes`.', f.onKubernetes, {
    enabled: f.bool('Creates upstreams for Services.', { default: true }),
    watchLabels: f.map(f.text(), 'Labels that a Service must have. Empty: all.'),
  }),
  fdsOptions: f.group('Discovery of functions.', {
    graphqlEnabled: f.bool('Creates GraphQLApis for discovered functions.', { default: true }),
  }),
});
const observability = f.block({
  grafanaIntegration: f.group('Dashboards.', f.replacedBy('import the dashboards of `deploy/observability`'), {
    defaultDashboardFolderId: f.count('Folder for new dashboards.'),
    dashboardPrefix: f.text('Prefix of dashboard names, at most 20 characters.'),
    extraMetricQueryParameters: f.text('Added to metric queries.'),
  }),
  configStatusMetricLabels: f.map(
    f.block({ labelToPath: f.map(f.text(), 'JSON path of the value by label.') }),
    'Gauges of resource states, `validation_gateway_vendor_io_*_config_status`, by `Kind.version.group`: 1 with a warning or error, otherwise 0.',
  ),
});

const fields = f.block(f.oneOf(Object.keys(ConfigSources), Object.keys(SecretSources), Object.keys(ArtifactSources)), {
  discoveryNamespace: f.text('Namespace that discovery and translation write to.', { default: 'gw-system' }),
  watchNamespaces: f.texts(
    'Namespaces to read; the write namespace is always included, and the Settings are always read. Empty: all.',
  ),
  watchNamespaceSelectors: f.list(
    f.block({
      matchLabels: f.map(f.text(), 'Labels that a namespace must have.'),
      matchExpressions: f.groups('Expressions that its labels must match.', {
        key: f.text('Label key.'),
        operator: f.enumeration(['In', 'NotIn', 'Exists', 'DoesNotExist'], 'Comparison of the label with the values.'),
        values: f.texts('Values to compare with.'),
      }),
    }),
    'Namespaces to read, by label; only used without `watchNamespaces`. Those of a directory have the label `kubernetes.io/metadata.name` only.',
  ),
  ...ConfigSources,
  ...SecretSources,
  secretOptions: f.of(SecretOptions, 'Several sources of secrets; replaces a single one.'),
  ...ArtifactSources,
  refreshRate: f.duration(
    'Interval between complete reads of directories, at least 1s, for changes that the file system does not report.',
    { default: DEFAULTS.refreshRate },
  ),
  kubernetes: f.group('Client of the Kubernetes API.', f.onKubernetes, {
    rateLimits: f.group(
      'Limits for writes to the cluster: statuses and discovered resources. Unset: only the limits of the API server apply.',
      {
        QPS: f.float('Writes per second.', { minimum: 0, default: 50 }),
        burst: f.count('Burst of writes.', { default: 100 }),
      },
    ),
  }),
  devMode: f.flag('Deprecated; serves the developer API on port 10010.'),
  linkerd: f.flag(
    'Adds the header `l5d-dst-override` with the Service to requests to Kubernetes upstreams.',
    f.onKubernetes,
  ),
  knative: f.anything('Deprecated; serves Knative ingresses.', f.unsupported),
  ipV4Only: f.flag('Uses only the IPv4 addresses of upstreams with DNS names.'),
  discovery: f.of(discovery, 'Discovery.'),
  consul: f.of(ConsulSettings, 'Connection to Consul.', f.unsupported),
  consulDiscovery: f.of(ConsulDiscovery, 'Upstreams from Consul.', f.unsupported),
  extensions: f.group('Settings of extensions.', f.replacedBy('there are no extensions with Settings'), {
    configs: f.map(f.anything(), 'Settings by extension.'),
  }),
  observabilityOptions: f.of(observability, 'Dashboards and metrics.'),
  upstreamOptions: f.group('Defaults of upstreams.', {
    sslParameters: f.of(SslParameters, 'TLS parameters for upstreams without their own.'),
    globalAnnotations: f.map(
      f.text(),
      'Annotations of discovered upstreams, and defaults for the annotations of their Services.',
      f.onKubernetes,
    ),
  }),
  rbac: f.group('Access control.', { requireRbac: f.flag('Virtual hosts without `rbac` deny everything.') }),
  ratelimit: f.of(RateLimitRules, 'Rules of the rate limits of routes.', RATE_LIMIT_SUPPORT.global),
  ratelimitServer: f.of(RateLimitServer, 'How requests are limited, and by which server.', RATE_LIMIT_SUPPORT.global),
  extauth: f.of(ExtAuthServer, 'External auth.'),
  namedExtauth: f.map(ExtAuthServer, 'More auth servers, by the name in `customAuth`.'),
  cachingServer: f.anything('The response cache.', f.unsupported),
  extProc: f.of(ExtProc, 'External processing.'),
  extProcEarly: f.of(ExtProc, 'Early external processing.'),
  extProcLate: f.of(ExtProc, 'Late external processing.'),
  consoleOptions: f.group('The pages of the admin ports.', {
    readOnly: f.bool('The pages do not change resources.', {
      default: true,
      ...f.replacedBy('the status page never changes resources'),
    }),
    apiExplorerEnabled: f.bool('The proxy admin has a page to run queries of GraphQL APIs.', { default: true }),
  }),
  graphqlOptions: f.group('GraphQL.', {
    schemaChangeValidationOptions: f.group('Checks of changed schemas.', {
      rejectBreakingChanges: f.flag('Rejects changes that break clients.'),
      processingRules: f.list(
        f.enumeration([
          'RULE_DANGEROUS_TO_BREAKING',
          'RULE_DEPRECATED_FIELD_REMOVAL_DANGEROUS',
          'RULE_IGNORE_DESCRIPTION_CHANGES',
          'RULE_IGNORE_UNREACHABLE',
        ]),
        'How changes are evaluated.',
      ),
    }),
  }),
  gateway: f.of(GatewaySettings, 'Gateways and validation.'),
  gw: f.of(GwSettings, 'The control plane.'),
});
/** `spec` of Settings. */
export interface SettingsSpec extends f.Static<typeof fields> {}
export const SettingsSpec = f.named<SettingsSpec>('SettingsSpec', fields);
