import {
  anything,
  block,
  bool,
  enumeration,
  int,
  list,
  map,
  named,
  notYet,
  of,
  ref,
  text,
  type Static,
} from './field.ts';
import { ServiceSpec, SubsetSpec } from './service-spec.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;
const serviceSpec = of(ServiceSpec, 'What the upstream can do.', notYet);
const subsetSpec = of(SubsetSpec, 'Subsets of endpoints by label.', notYet);

const host = block({
  addr: text('DNS name or address.'),
  port: int('Port.', { minimum: 0, maximum: 65535 }),
  sniAddr: text('Server name for TLS. Default: `addr`, see `autoSniRewrite`.'),
  loadBalancingWeight: int('Share among the hosts, at least 1.', { minimum: 1, maximum: 4294967295, default: 1 }),
  healthCheckConfig: of(
    block({ path: text('Path of a check.'), method: text('Method of a check.') }),
    'Health checks of this host.',
    notYet,
  ),
  metadata: map(anything(), 'Metadata of the endpoint, by namespace.', notYet),
});
/** One host of a static upstream. */
export interface StaticHost extends Static<typeof host> {}
export const StaticHost = named<StaticHost>('StaticHost', host);

const staticFields = block({
  hosts: list(StaticHost, 'The hosts; at least one.'),
  useTls: bool('Speaks TLS. Unset: true when a port is 443.'),
  autoSniRewrite: bool('The server name for TLS is the host, when it is a DNS name.', { default: true }),
  serviceSpec,
});
/** Hosts written down. */
export interface StaticUpstream extends Static<typeof staticFields> {}
export const StaticUpstream = named<StaticUpstream>('StaticUpstream', staticFields);

const kube = block({
  serviceName: text('Name of the Service.'),
  serviceNamespace: text('Namespace of the Service.'),
  servicePort: int('Port of the Service.', { minimum: 0, maximum: 65535 }),
  selector: map(text(), 'Labels of the pods. Default: those of the Service.'),
  serviceSpec,
  subsetSpec,
});
/** A Kubernetes Service. */
export interface KubeUpstream extends Static<typeof kube> {}
export const KubeUpstream = named<KubeUpstream>('KubeUpstream', kube);

const consul = block({
  serviceName: text('Name of the service.'),
  serviceTags: list(text(), 'Tags the service has to carry.'),
  instanceTags: list(text(), 'Tags an instance has to carry.'),
  instanceBlacklistTags: list(text(), 'Tags an instance must not carry.'),
  dataCenters: list(text(), 'Data centres. Empty: all.'),
  consistencyMode: enumeration(['ConsistentMode', 'DefaultMode', 'StaleMode'], 'How fresh answers are.', {
    default: 'ConsistentMode',
  }),
  queryOptions: anything('Options of queries.'),
  serviceSpec,
  subsetSpec,
});
/** A service in Consul. */
export interface ConsulUpstream extends Static<typeof consul> {}
export const ConsulUpstream = named<ConsulUpstream>('ConsulUpstream', consul);

const aws = block({
  region: text('Region.'),
  secretRef: ref('Secret with the credentials.'),
  disableRoleChaining: bool('Takes on `roleArn` directly.', { default: false }),
  roleArn: text('Role to take on.'),
  lambdaFunctions: list(
    block({
      logicalName: text('Name that routes use.'),
      lambdaFunctionName: text('Name of the function.'),
      qualifier: text('Version or alias.'),
    }),
    'The functions.',
  ),
  awsAccountId: text('Account of the functions.'),
  destinationOverrides: anything('Defaults of destinations.'),
});
/** Functions at AWS. */
export interface AwsUpstream extends Static<typeof aws> {}
export const AwsUpstream = named<AwsUpstream>('AwsUpstream', aws);

const ec2 = block({
  region: text('Region.'),
  secretRef: ref('Secret with the credentials.'),
  roleArn: text('Role to take on.'),
  filters: list(
    block(
      {
        key: text('Tag that has to be there.'),
        kvPair: of(block({ key: text('Tag.'), value: text('Its value.') }), 'Tag that has to have this value.'),
      },
      { oneOf: [{ members: ['key', 'kvPair'] }] },
    ),
    'Instances that are used; all have to hold.',
  ),
  publicIp: bool('Uses the public address.', { default: false }),
  port: int('Port; 0 means 80.', { minimum: 0, maximum: 65535, default: 80 }),
});
/** Instances at AWS. */
export interface AwsEc2Upstream extends Static<typeof ec2> {}
export const AwsEc2Upstream = named<AwsEc2Upstream>('AwsEc2Upstream', ec2);

const azure = block({
  functionAppName: text('Name of the function app.'),
  secretRef: ref('Secret with the keys.'),
  functions: list(
    block({
      functionName: text('Name of the function.'),
      authLevel: enumeration(['Anonymous', 'Function', 'Admin'], 'Key it needs.', { default: 'Anonymous' }),
    }),
    'The functions.',
  ),
});
/** Functions at Azure. */
export interface AzureUpstream extends Static<typeof azure> {}
export const AzureUpstream = named<AzureUpstream>('AzureUpstream', azure);

/** The types of an upstream, of which it has one. */
export const UPSTREAM_TYPES = {
  static: of(StaticUpstream, 'Hosts written down.'),
  kube: of(KubeUpstream, 'A Kubernetes Service.', notYet),
  consul: of(ConsulUpstream, 'A service in Consul.', notYet),
  aws: of(AwsUpstream, 'Functions at AWS.', notYet),
  awsEc2: of(AwsEc2Upstream, 'Instances at AWS.', notYet),
  azure: of(AzureUpstream, 'Functions at Azure.', notYet),
  pipe: of(block({ path: text('Path of the socket.') }), 'A Unix socket.', notYet),
  gcp: of(
    block({ host: text('Host of the service.'), audience: text('Audience of the token.') }, { required: ['host'] }),
    'A service at Google Cloud, called with an identity token.',
    notYet,
  ),
  ai: anything('Language model providers.', notYet),
} as const;

const failover = block({
  prioritizedLocalities: list(
    block({
      localityEndpoints: list(
        block({
          locality: of(
            block({ region: text('Region.'), zone: text('Zone.'), subZone: text('Part of the zone.') }),
            'Where they are.',
          ),
          lbEndpoints: list(
            block({
              address: text('DNS name or address.'),
              port: int('Port.', { minimum: 0, maximum: 65535 }),
              healthCheckConfig: of(
                block({
                  portValue: int('Port of a check.', { minimum: 0, maximum: 65535 }),
                  hostname: text('Host of a check.'),
                  path: text('Path of a check.'),
                  method: text('Method of a check.'),
                }),
                'Health checks of it.',
              ),
              upstreamSslConfig: anything('TLS towards it.'),
              loadBalancingWeight: int('Share among them.', UINT32),
              metadata: map(anything(), 'Metadata, by namespace.'),
            }),
            'The endpoints.',
          ),
          loadBalancingWeight: int('Share among the localities.', UINT32),
        }),
        'Endpoints by locality.',
      ),
    }),
    'Localities in the order they are used.',
  ),
  policy: of(
    block({ overprovisioningFactor: int('How long one priority is enough, in percent.', { ...UINT32, default: 140 }) }),
    'When the next one is used.',
  ),
});
/** Other endpoints for when these fail. */
export interface Failover extends Static<typeof failover> {}
export const Failover = named<Failover>('Failover', failover);
