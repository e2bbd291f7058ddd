import { ExtAuthServer, OWN_SERVER } from '../auth/extauth.ts';
import { ExtProc } from '../route/ext-proc.ts';
import {
  anything,
  block,
  bool,
  duration,
  enumeration,
  float,
  int,
  list,
  map,
  named,
  notYet,
  of,
  refused,
  text,
  type Static,
} from '../field.ts';
import { RateLimitRules, RateLimitServer } from '../route/rate-limit.ts';
import { ArtifactSources, ConfigSources, SecretOptions, SecretSources } from '../settings/settings-sources.ts';
import { ConsulDiscovery, ConsulSettings } from '../settings/settings-consul.ts';
import { GatewaySettings, GwSettings } from '../settings/settings-gateway.ts';
import { SslParameters } from '../listener/ssl-config.ts';

const discovery = block({
  fdsMode: enumeration(['BLACKLIST', 'WHITELIST', 'DISABLED'], 'Which upstreams are asked for their functions.', {
    default: 'BLACKLIST',
  }),
  udsOptions: of(
    block({
      enabled: bool('Creates upstreams for Services.', { default: true }),
      watchLabels: map(text(), 'Labels that a Service must have. Empty: all.'),
    }),
    'Discovery of upstreams.',
    notYet,
  ),
  fdsOptions: of(
    block({ graphqlEnabled: bool('Creates GraphQLApis for discovered functions.', { default: true }) }),
    'Discovery of functions.',
  ),
});
const observability = block({
  grafanaIntegration: of(
    block({
      defaultDashboardFolderId: int('Folder for new dashboards.', { minimum: 0 }),
      dashboardPrefix: text('Prefix of dashboard names, at most 20 characters.'),
      extraMetricQueryParameters: text('Added to metric queries.'),
    }),
    'Dashboards.',
  ),
  configStatusMetricLabels: map(
    block({ labelToPath: map(text(), 'JSON path of the value by label.') }),
    'Gauges of resource states, by `Kind.version.group`.',
  ),
});

const fields = block(
  {
    discoveryNamespace: text('Namespace that discovery and translation write to.', { default: 'gw-system' }),
    watchNamespaces: list(text(), 'Namespaces to read; the write namespace is always included. Empty: all.', notYet),
    watchNamespaceSelectors: list(
      block({
        matchLabels: map(text(), 'Labels that a namespace must have.'),
        matchExpressions: list(
          block({
            key: text('Label key.'),
            operator: text('`In`, `NotIn`, `Exists` or `DoesNotExist`.'),
            values: list(text(), 'Values to compare with.'),
          }),
          'Expressions that its labels must match.',
        ),
      }),
      'Namespaces to read, by label; only used without `watchNamespaces`.',
      notYet,
    ),
    ...ConfigSources,
    ...SecretSources,
    secretOptions: of(SecretOptions, 'Several sources of secrets; takes precedence over a single one.', notYet),
    ...ArtifactSources,
    refreshRate: duration('Interval between reads of a source that cannot be watched.', { default: '60s', ...notYet }),
    kubernetes: of(
      block({
        rateLimits: of(
          block({
            QPS: float('Calls per second.', { minimum: 0, default: 50 }),
            burst: int('Burst of calls.', { minimum: 0, default: 100 }),
          }),
          'Limits for calls.',
        ),
      }),
      'Client of the Kubernetes API.',
      notYet,
    ),
    devMode: bool('Deprecated; serves the developer API on port 10010.', { default: false }),
    linkerd: bool('Adds the header `l5d-dst-override` for Kubernetes upstreams.', { default: false, ...notYet }),
    knative: anything('Deprecated; serves Knative ingresses.', notYet),
    ipV4Only: bool('Listens on IPv4 only.', { default: false, ...notYet }),
    discovery: of(discovery, 'Discovery.'),
    consul: of(ConsulSettings, 'Connection to Consul.', notYet),
    consulDiscovery: of(ConsulDiscovery, 'Upstreams from Consul.', notYet),
    extensions: of(block({ configs: map(anything(), 'Settings by extension.') }), 'Settings of extensions.', notYet),
    observabilityOptions: of(observability, 'Dashboards and metrics.', notYet),
    upstreamOptions: of(
      block({
        sslParameters: of(SslParameters, 'TLS parameters for upstreams without their own.'),
        globalAnnotations: map(text(), 'Annotations of discovered upstreams.'),
      }),
      'Defaults of upstreams.',
      notYet,
    ),
    rbac: of(
      block({ requireRbac: bool('Virtual hosts without `rbac` deny everything.', { default: false }) }),
      'Access control.',
    ),
    ratelimit: of(RateLimitRules, 'Rules of the rate limit server.', refused),
    ratelimitServer: of(RateLimitServer, 'The rate limit server.', refused),
    extauth: of(ExtAuthServer, 'External auth.'),
    namedExtauth: map(ExtAuthServer, 'More auth servers, by name.', { ...refused, 'x-instead': OWN_SERVER }),
    cachingServer: anything('The response cache.', notYet),
    extProc: of(ExtProc, 'External processing.', notYet),
    extProcEarly: of(ExtProc, 'Early external processing.', notYet),
    extProcLate: of(ExtProc, 'Late external processing.', notYet),
    consoleOptions: of(
      block({
        readOnly: bool('The console is read-only.', { default: true }),
        apiExplorerEnabled: bool('The console shows the explorer.', { default: true }),
      }),
      'The console.',
      notYet,
    ),
    graphqlOptions: of(
      block({
        schemaChangeValidationOptions: of(
          block({
            rejectBreakingChanges: bool('Rejects changes that break clients.', { default: false }),
            processingRules: list(
              enumeration([
                'RULE_DANGEROUS_TO_BREAKING',
                'RULE_DEPRECATED_FIELD_REMOVAL_DANGEROUS',
                'RULE_IGNORE_DESCRIPTION_CHANGES',
                'RULE_IGNORE_UNREACHABLE',
              ]),
              'How changes are evaluated.',
            ),
          }),
          'Checks of changed schemas.',
        ),
      }),
      'GraphQL.',
    ),
    gateway: of(GatewaySettings, 'Gateways and validation.'),
    gw: of(GwSettings, 'The control plane.'),
  },
  {
    oneOf: [
      { members: Object.keys(ConfigSources) },
      { members: Object.keys(SecretSources) },
      { members: Object.keys(ArtifactSources) },
    ],
  },
);
/** `spec` of Settings. */
export interface SettingsSpec extends Static<typeof fields> {}
export const SettingsSpec = named<SettingsSpec>('SettingsSpec', fields);
