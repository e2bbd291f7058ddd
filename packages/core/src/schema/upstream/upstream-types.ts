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
} from '../field.ts';
import { ServiceSpec, SubsetSpec } from './service-spec.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;
const serviceSpec = of(ServiceSpec, 'Functions of the upstream.', notYet);
const subsetSpec = of(SubsetSpec, 'Subsets of endpoints by label.', notYet);

const host = block({
  addr: text('DNS name or address.'),
  port: int('Port.', { minimum: 0, maximum: 65535 }),
  sniAddr: text('Server name (SNI) for TLS. Default: `addr`, see `autoSniRewrite`.'),
  loadBalancingWeight: int('Weight of the host, at least 1.', { minimum: 1, maximum: 4294967295, default: 1 }),
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
  useTls: bool('Uses TLS. Unset: true if a port is 443.'),
  autoSniRewrite: bool('Uses the host as server name (SNI), if it is a DNS name.', { default: true }),
  serviceSpec,
});
/** A fixed list of hosts. */
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
  serviceTags: list(text(), 'Tags that the service must have.'),
  instanceTags: list(text(), 'Tags that an instance must have.'),
  instanceBlacklistTags: list(text(), 'Tags that an instance must not have.'),
  dataCenters: list(text(), 'Data centers. Empty: all.'),
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
  disableRoleChaining: bool('Assumes `roleArn` directly.', { default: false }),
  roleArn: text('Role to assume.'),
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
/** AWS Lambda functions. */
export interface AwsUpstream extends Static<typeof aws> {}
export const AwsUpstream = named<AwsUpstream>('AwsUpstream', aws);

const ec2 = block({
  region: text('Region.'),
  secretRef: ref('Secret with the credentials.'),
  roleArn: text('Role to assume.'),
  filters: list(
    block(
      {
        key: text('Tag that must be present.'),
        kvPair: of(block({ key: text('Tag.'), value: text('Its value.') }), 'Tag that has to have this value.'),
      },
      { oneOf: [{ members: ['key', 'kvPair'] }] },
    ),
    'Filters for the instances; all must match.',
  ),
  publicIp: bool('Uses the public address.', { default: false }),
  port: int('Port; 0 means 80.', { minimum: 0, maximum: 65535, default: 80 }),
});
/** AWS EC2 instances. */
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
/** Azure functions. */
export interface AzureUpstream extends Static<typeof azure> {}
export const AzureUpstream = named<AzureUpstream>('AzureUpstream', azure);

/** The types of an upstream; an upstream has exactly one. */
export const UPSTREAM_TYPES = {
  static: of(StaticUpstream, 'A fixed list of hosts.'),
  kube: of(KubeUpstream, 'A Kubernetes Service.', notYet),
  consul: of(ConsulUpstream, 'A service in Consul.', notYet),
  aws: of(AwsUpstream, 'AWS Lambda functions.', notYet),
  awsEc2: of(AwsEc2Upstream, 'AWS EC2 instances.', notYet),
  azure: of(AzureUpstream, 'Azure functions.', notYet),
  pipe: of(block({ path: text('Path of the socket.') }), 'A Unix socket.', notYet),
  gcp: of(
    block({ host: text('Host of the service.'), audience: text('Audience of the token.') }, { required: ['host'] }),
    'A Google Cloud service, called with an identity token.',
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
            'The locality.',
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
                'Health checks of the endpoint.',
              ),
              upstreamSslConfig: anything('TLS to the endpoint.'),
              loadBalancingWeight: int('Weight of the endpoint.', UINT32),
              metadata: map(anything(), 'Metadata, by namespace.'),
            }),
            'The endpoints.',
          ),
          loadBalancingWeight: int('Weight of the locality.', UINT32),
        }),
        'Endpoints by locality.',
      ),
    }),
    'Localities in order of priority.',
  ),
  policy: of(
    block({ overprovisioningFactor: int('Overprovisioning factor, in percent.', { ...UINT32, default: 140 }) }),
    'Failover policy.',
  ),
});
/** Failover endpoints. */
export interface Failover extends Static<typeof failover> {}
export const Failover = named<Failover>('Failover', failover);
