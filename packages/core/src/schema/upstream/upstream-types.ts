import * as f from '../field.ts';
import { UpstreamSslConfig } from '../listener/ssl-config.ts';
import { ServiceSpec, SubsetSpec } from './service-spec.ts';

const serviceSpec = f.of(ServiceSpec, 'Functions of the upstream.');
const subsetSpec = f.of(SubsetSpec, 'Subsets of hosts by label.');

const host = f.block({
  addr: f.text('DNS name or address.'),
  port: f.port('Port.'),
  sniAddr: f.text('Server name (SNI) for TLS. Default: `addr`, see `autoSniRewrite`.'),
  loadBalancingWeight: f.int('Weight of the host, at least 1.', { minimum: 1, maximum: 4294967295, default: 1 }),
  healthCheckConfig: f.group('Health checks of this host, over HTTP.', {
    path: f.text('Path of a check. Default: that of the health check.'),
    method: f.text('Method of a check, e.g. `HEAD`. Default: that of the health check.'),
  }),
  metadata: f.map(
    f.anything(),
    'Metadata of the host, by namespace. The strings in `envoy.lb` are its labels, by which subsets select; its label `hash_key` replaces the address in consistent hashing.',
  ),
});
/** One host of a static upstream. */
export interface StaticHost extends f.Static<typeof host> {}
export const StaticHost = f.named<StaticHost>('StaticHost', host);

const staticFields = f.block({
  hosts: f.list(StaticHost, 'The hosts; at least one.'),
  useTls: f.bool('Uses TLS. Unset: true if a port is 443.'),
  autoSniRewrite: f.bool('Uses the host as server name (SNI), if it is a DNS name.', { default: true }),
  serviceSpec,
  subsetSpec,
});
/** A fixed list of hosts. */
export interface StaticUpstream extends f.Static<typeof staticFields> {}
export const StaticUpstream = f.named<StaticUpstream>('StaticUpstream', staticFields);

const kube = f.block({
  serviceName: f.text('Name of the Service.'),
  serviceNamespace: f.text('Namespace of the Service. Default: that of the upstream.'),
  servicePort: f.port('Port of the Service.'),
  selector: f.map(f.text(), 'Labels that the pods must have, in addition to those that the Service selects.'),
  serviceSpec,
  subsetSpec,
});
/** A Kubernetes Service. */
export interface KubeUpstream extends f.Static<typeof kube> {}
export const KubeUpstream = f.named<KubeUpstream>('KubeUpstream', kube);

const consul = f.block({
  serviceName: f.text('Name of the service.'),
  serviceTags: f.texts('Tags that the service must have.'),
  instanceTags: f.texts('Tags that an instance must have.'),
  instanceBlacklistTags: f.texts('Tags that an instance must not have.'),
  dataCenters: f.texts('Data centers. Empty: all.'),
  consistencyMode: f.choice(['ConsistentMode', 'DefaultMode', 'StaleMode'], 'Consistency of the responses.'),
  queryOptions: f.anything('Options of queries.'),
  serviceSpec,
  subsetSpec,
});
/** A service in Consul. */
export interface ConsulUpstream extends f.Static<typeof consul> {}
export const ConsulUpstream = f.named<ConsulUpstream>('ConsulUpstream', consul);

const aws = f.block({
  region: f.text('Region.'),
  secretRef: f.ref('Secret with the credentials.'),
  disableRoleChaining: f.flag('Assumes `roleArn` directly.'),
  roleArn: f.text('Role to assume.'),
  lambdaFunctions: f.groups('The functions.', {
    logicalName: f.text('Name that routes use.'),
    lambdaFunctionName: f.text('Name of the function.'),
    qualifier: f.text('Version or alias.'),
  }),
  awsAccountId: f.text('Account of the functions.'),
  destinationOverrides: f.anything('Defaults of destinations.'),
});
/** AWS Lambda functions. */
export interface AwsUpstream extends f.Static<typeof aws> {}
export const AwsUpstream = f.named<AwsUpstream>('AwsUpstream', aws);

const ec2 = f.block({
  region: f.text('Region.'),
  secretRef: f.ref('Secret with the credentials.'),
  roleArn: f.text('Role to assume.'),
  filters: f.groups('Filters for the instances; all must match.', f.exclusive, {
    key: f.text('Tag that must be present.'),
    kvPair: f.group('Tag that has to have this value.', { key: f.text('Tag.'), value: f.text('Its value.') }),
  }),
  publicIp: f.flag('Uses the public address.'),
  port: f.port('Port; 0 means 80.', { default: 80 }),
});
/** AWS EC2 instances. */
export interface AwsEc2Upstream extends f.Static<typeof ec2> {}
export const AwsEc2Upstream = f.named<AwsEc2Upstream>('AwsEc2Upstream', ec2);

const azure = f.block({
  functionAppName: f.text('Name of the function app.'),
  secretRef: f.ref('Secret with the keys.'),
  functions: f.groups('The functions.', {
    functionName: f.text('Name of the function.'),
    authLevel: f.choice(['Anonymous', 'Function', 'Admin'], 'Key it needs.'),
  }),
});
/** Azure functions. */
export interface AzureUpstream extends f.Static<typeof azure> {}
export const AzureUpstream = f.named<AzureUpstream>('AzureUpstream', azure);

/** The types of an upstream; an upstream has exactly one. */
export const UPSTREAM_TYPES = {
  static: f.of(StaticUpstream, 'A fixed list of hosts.'),
  kube: f.of(KubeUpstream, 'A Kubernetes Service. It has endpoints in a control plane with `--kubernetes`.'),
  consul: f.of(ConsulUpstream, 'A service in Consul.', f.unsupported),
  aws: f.of(AwsUpstream, 'AWS Lambda functions.', f.unsupported),
  awsEc2: f.of(AwsEc2Upstream, 'AWS EC2 instances.', f.unsupported),
  azure: f.of(AzureUpstream, 'Azure functions.', f.unsupported),
  pipe: f.group('A Unix socket.', { path: f.text('Absolute path of the socket; `@name` is an abstract socket.') }),
  gcp: f.group('A Google Cloud service, called with an identity token.', f.unsupported, f.required('host'), {
    host: f.text('Host of the service.'),
    audience: f.text('Audience of the token.'),
  }),
  ai: f.anything('Language model providers.', f.unsupported),
} as const;

const failover = f.block({
  prioritizedLocalities: f.groups('Localities in order of priority, after the hosts of the upstream itself.', {
    localityEndpoints: f.groups('Endpoints by locality.', {
      locality: f.group('The locality.', {
        region: f.text('Region.'),
        zone: f.text('Zone.'),
        subZone: f.text('Part of the zone.'),
      }),
      lbEndpoints: f.groups('The endpoints.', {
        address: f.text('DNS name or address.'),
        port: f.port('Port.'),
        healthCheckConfig: f.group('Health checks of the endpoint.', {
          portValue: f.port('Port of a check. Default: that of the endpoint.'),
          hostname: f.text('`Host` header of a check. Default: that of the health check.'),
          path: f.text('Path of a check. Default: that of the health check.'),
          method: f.text('Method of a check, e.g. `HEAD`. Default: that of the health check.'),
        }),
        upstreamSslConfig: f.of(UpstreamSslConfig, 'TLS to the endpoint. Default: that of the upstream.'),
        loadBalancingWeight: f.uint32('Weight of the endpoint.', { default: 1 }),
        metadata: f.map(f.anything(), 'Metadata, by namespace; labels as those of static hosts.'),
      }),
      loadBalancingWeight: f.uint32('Weight of the locality, with `localityWeightedLbConfig`.'),
    }),
  }),
  policy: f.group('Failover policy.', {
    overprovisioningFactor: f.uint32(
      'Overprovisioning factor, in percent. With 140 a priority receives all its requests while at least 72 % of its hosts are healthy.',
      { default: 140 },
    ),
  }),
});
/** Failover endpoints. */
export interface Failover extends f.Static<typeof failover> {}
export const Failover = f.named<Failover>('Failover', failover);
