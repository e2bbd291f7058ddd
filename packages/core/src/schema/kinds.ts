import type { TSchema } from 'typebox';
import type { Kind } from '../resource.ts';
import { AuthConfigSpec } from './auth-config.ts';
import { GatewaySpec, MatchableHttpGatewaySpec, MatchableTcpGatewaySpec } from './gateway.ts';
import { GraphQLApiSpec } from './graphql-api.ts';
import { ProxySpec } from './proxy.ts';
import { RateLimitConfigSpec } from './rate-limit.ts';
import { RouteOptionSpec } from './route-option.ts';
import { RouteTableSpec } from './route-table.ts';
import { ConfigMapSpec, SecretSpec } from './secret.ts';
import { SettingsSpec } from './settings.ts';
import { UpstreamGroupSpec } from './upstream-group.ts';
import { UpstreamSpec } from './upstream.ts';
import { VirtualHostOptionSpec } from './virtual-host-option.ts';
import { VirtualServiceSpec } from './virtual-service.ts';

/** A kind of resource. */
export interface KindInfo {
  readonly kind: Kind;
  /** Empty for the kinds of Kubernetes' core. */
  readonly group: string;
  /** All that are accepted; the first is the one to write. */
  readonly apiVersions: readonly string[];
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** Of `spec`; of everything beside the metadata where `body` says so. */
  readonly schema: TSchema;
  /** The fields stand beside the metadata instead of under `spec`. */
  readonly body: boolean;
  readonly namespaced: boolean;
  /** What the kind is for, in one sentence. */
  readonly description: string;
}

type Rest = Pick<KindInfo, 'plural' | 'shortNames' | 'schema' | 'description'> & { readonly body?: boolean };

function kind(name: Kind, apiVersions: readonly string[], rest: Rest): KindInfo {
  const slash = apiVersions[0]!.indexOf('/');
  const group = slash < 0 ? '' : apiVersions[0]!.slice(0, slash);
  return { kind: name, group, apiVersions, namespaced: true, body: false, ...rest };
}

const GATEWAY = ['gateway.vendor.io/v1'] as const;
const GW = ['gw.vendor.io/v1'] as const;

const ALL: readonly KindInfo[] = [
  kind('VirtualService', GATEWAY, {
    plural: 'virtualservices',
    shortNames: ['vs', 'gvs'],
    schema: VirtualServiceSpec,
    description: 'Domains and what is done with the requests for them.',
  }),
  kind('RouteTable', GATEWAY, {
    plural: 'routetables',
    shortNames: ['rt', 'grt'],
    schema: RouteTableSpec,
    description: 'Routes that virtual services and other tables delegate to.',
  }),
  kind('Gateway', GATEWAY, {
    plural: 'gateways',
    shortNames: ['gw', 'ggw'],
    schema: GatewaySpec,
    description: 'An address that a proxy listens on, and which virtual services it serves.',
  }),
  kind('MatchableHttpGateway', GATEWAY, {
    plural: 'httpgateways',
    shortNames: ['hgw', 'ghgw'],
    schema: MatchableHttpGatewaySpec,
    description: 'An HTTP gateway that hybrid gateways delegate to.',
  }),
  kind('MatchableTcpGateway', GATEWAY, {
    plural: 'tcpgateways',
    shortNames: ['tgw', 'gtgw'],
    schema: MatchableTcpGatewaySpec,
    description: 'A TCP gateway that hybrid gateways delegate to.',
  }),
  kind('VirtualHostOption', GATEWAY, {
    plural: 'virtualhostoptions',
    shortNames: ['vho', 'vhopts', 'gvho'],
    schema: VirtualHostOptionSpec,
    description: 'Options that several virtual hosts share.',
  }),
  kind('RouteOption', GATEWAY, {
    plural: 'routeoptions',
    shortNames: ['rto', 'rtopts', 'grto'],
    schema: RouteOptionSpec,
    description: 'Options that several routes share.',
  }),
  kind('Upstream', GW, {
    plural: 'upstreams',
    shortNames: ['us', 'gus'],
    schema: UpstreamSpec,
    description: 'A service that requests are sent to.',
  }),
  kind('UpstreamGroup', GW, {
    plural: 'upstreamgroups',
    shortNames: ['ug', 'gug'],
    schema: UpstreamGroupSpec,
    description: 'Weighted destinations that several routes share.',
  }),
  kind('Proxy', GW, {
    plural: 'proxies',
    shortNames: ['px', 'gpx'],
    schema: ProxySpec,
    description: 'What one proxy serves; written by translation.',
  }),
  kind('Settings', ['settings.gw.vendor.io/v1', ...GW], {
    plural: 'settings',
    shortNames: ['st', 'gst'],
    schema: SettingsSpec,
    description: 'Settings of the whole gateway; the one named `default` counts.',
  }),
  kind('AuthConfig', ['enterprise.gw.vendor.io/v1'], {
    plural: 'authconfigs',
    shortNames: ['ac', 'gac'],
    schema: AuthConfigSpec,
    description: 'What a request has to show before it may pass.',
  }),
  kind('RateLimitConfig', ['ratelimit.vendor.io/v1alpha1'], {
    plural: 'ratelimitconfigs',
    shortNames: ['rlc', 'grlc'],
    schema: RateLimitConfigSpec,
    description: 'A rate limit that stands for itself.',
  }),
  kind('GraphQLApi', ['graphql.gw.vendor.io/v1beta1'], {
    plural: 'graphqlapis',
    shortNames: ['gql'],
    schema: GraphQLApiSpec,
    description: 'A GraphQL API that routes can answer with.',
  }),
  kind('Secret', ['v1'], {
    plural: 'secrets',
    shortNames: [],
    schema: SecretSpec,
    body: true,
    description: 'A certificate, a key or another value that is not shown.',
  }),
  kind('ConfigMap', ['v1'], {
    plural: 'configmaps',
    shortNames: ['cm'],
    schema: ConfigMapSpec,
    body: true,
    description: 'Texts that other resources refer to.',
  }),
];

/** Every kind, by name. */
export const KINDS: ReadonlyMap<Kind, KindInfo> = new Map(ALL.map((info) => [info.kind, info]));

/** Finds a kind by its name, plural or short name, in any case. */
export function findKind(word: string): KindInfo | undefined {
  const wanted = word.toLowerCase();
  const called = ({ kind: name, plural, shortNames }: KindInfo) => [name.toLowerCase(), plural, ...shortNames];
  return ALL.find((info) => called(info).includes(wanted));
}
