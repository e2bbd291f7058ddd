import type { ResourceRef } from '../resource/resource.ts';
import type { Locality } from './host-state.ts';
import type { AuthConfigSpec } from '../schema/kind/auth-config.ts';
import type { ExtAuthServer } from '../schema/auth/extauth.ts';
import type { ExtProc } from '../schema/route/ext-proc.ts';
import type { GraphQLApiSpec } from '../schema/kind/graphql-api.ts';
import type {
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
  TcpListenerOptions,
} from '../schema/listener/gateway-options.ts';
import type { FunctionParameters, TransformationTemplate } from '../schema/route/transformations.ts';
import type { Matcher } from '../schema/route/matcher.ts';
import type { RedirectAction } from '../schema/route/route.ts';
import type { RouteOptions, VirtualHostOptions, WeightedDestinationOptions } from '../schema/route/route-options.ts';
import type { Sds, SslConfig, SslFiles, UpstreamSslConfig } from '../schema/listener/ssl-config.ts';
import type { RateLimitConfigSpec, RateLimitRules, RateLimitServer } from '../schema/route/rate-limit.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';

/**
 * The boundary between the planes: everything that one proxy serves. Plain, frozen, sorted, without secret values.
 * Unchanged parts are the same objects as in the previous snapshot, so that readers can compare by identity.
 */
export interface Snapshot {
  /** Name of the proxy, e.g. `gateway-proxy`. */
  readonly proxy: string;
  /** Hash of the content. */
  readonly version: string;
  /** Sorted by name. */
  readonly listeners: readonly Listener[];
  /** All known upstreams, referenced or not; sorted by name. */
  readonly upstreams: readonly SnapshotUpstream[];
  readonly settings: SnapshotSettings;
}

/** The part of the Settings that the data plane needs. The same object while its content does not change. */
export interface SnapshotSettings {
  /** External auth of listeners without settings of their own. */
  readonly extauth?: ExtAuthServer;
  /** More auth servers, by the name in `customAuth`. */
  readonly namedExtauth?: Readonly<Record<string, ExtAuthServer>>;
  /** External processing of listeners, which may override its fields. */
  readonly extProc?: ExtProc;
  readonly extProcEarly?: ExtProc;
  readonly extProcLate?: ExtProc;
  /** Rules for the descriptors of `ratelimit` and its early and regular form. */
  readonly ratelimit?: RateLimitRules;
  /** Rate limiting of listeners without settings of their own. */
  readonly ratelimitServer?: RateLimitServer;
  /** Name of the listener; only set where a listener is compiled. */
  readonly listener?: string;
  /** Local limit of the listener; only set where a listener is compiled. */
  readonly httpLocalRatelimit?: NonNullable<HttpListenerOptions['httpLocalRatelimit']>;
  /** True: virtual hosts without `rbac` deny every request. */
  readonly requireRbac: boolean;
  /** Default of `escapeCharacters` in transformations. Default false. */
  readonly escapeCharacters?: boolean;
  /** Does not translate gRPC-Web on listeners without settings of their own. Default false. */
  readonly disableGrpcWeb?: boolean;
  /** Logs the messages before and after transformations at level debug. Default false. */
  readonly logTransformations?: boolean;
  /** The proxy admin has no page to run queries of GraphQL APIs. Default false. */
  readonly hidesApiExplorer?: boolean;
  /** Clients that prefer JSON receive errors as JSON instead of texts too. Default false. */
  readonly jsonErrors?: boolean;
}

/** The default settings. */
export const DEFAULT_SNAPSHOT_SETTINGS: SnapshotSettings = Object.freeze({ requireRbac: false });

/** An AuthConfig with every reference resolved: namespaces filled, label selectors turned into sorted references. */
export interface SnapshotAuthConfig {
  readonly ref: ResourceRef;
  readonly spec: AuthConfigSpec;
}

/** A RateLimitConfig; its rules are those of the domain `vendor.io` that start with its name. */
export interface SnapshotRateLimitConfig {
  readonly ref: ResourceRef;
  readonly spec: RateLimitConfigSpec;
}

/** A value of a ConfigMap with a policy of `opaAuth`. The translation adds them to its steps, as `sources`. */
export interface PolicySource {
  /** `<namespace>.<name>.<key>`. */
  readonly name: string;
  /** A Rego module. */
  readonly text?: string;
  /** A compiled bundle as base64. */
  readonly binary?: string;
}

/** A GraphQLApi with the APIs that it joins. */
export interface SnapshotGraphQLApi {
  readonly ref: ResourceRef;
  /** References without a namespace use that of `ref`. */
  readonly spec: GraphQLApiSpec;
  /** In the order of `stitchedSchema.subschemas`; empty for a single API. */
  readonly subschemas: readonly SnapshotGraphQLApi[];
  /** Descriptor sets from ConfigMaps and files, as base64. */
  readonly descriptorSets?: readonly string[];
  /** Schema definition from the server, if the spec has none. */
  readonly serverSchema?: string;
}

/** An address that the proxy listens on (reference: routing 5). */
export interface Listener {
  /** `listener-<bindAddress>-<bindPort>`. */
  readonly name: string;
  readonly bindAddress: string;
  readonly bindPort: number;
  /** The Gateway that it was built from. */
  readonly gateway: ResourceRef;
  readonly ssl: boolean;
  /** True if connections begin with a PROXY header, also without `options.proxyProtocol`. */
  readonly useProxyProto?: boolean;
  readonly options: ListenerOptions;
  readonly httpOptions: HttpListenerOptions;
  readonly routeOptions: RouteConfigOptions;
  /** Descriptor set of its gRPC-JSON transcoder from a file or a ConfigMap, as base64. */
  readonly descriptorSet?: string;
  /** Certificates by SNI; empty on a plain listener. */
  readonly sslConfigurations: readonly TlsConfiguration[];
  /** Sorted by name. */
  readonly virtualHosts: readonly VirtualHost[];
  /**
   * Parts of which each connection uses one; missing if all connections are served alike. Certificates and virtual hosts of the
   * listener are then those of all parts together.
   */
  readonly parts?: readonly ListenerPart[];
  /** What the parts are, as the Proxy shows them. Missing without parts. */
  readonly type?: 'tcp' | 'hybrid' | 'aggregate';
}

/** A part of a listener: serves HTTP or TCP to the connections that match. */
export interface ListenerPart {
  /** Unique among all listeners and parts; that of `http`. */
  readonly name: string;
  readonly match: ConnectionMatch;
  /** A listener of its own, without address. */
  readonly http?: Listener;
  readonly tcp?: TcpHost;
}

/**
 * The connections of a part. Of several parts the one with the most specific server name is used, of those one for TLS before one
 * for any connection, of those the one with the longest source range.
 */
export interface ConnectionMatch {
  /** True if the connection must use TLS. */
  readonly tls: boolean;
  /** Lower case, exact or `*.b`; empty matches any connection. */
  readonly serverNames: readonly string[];
  /** Addresses of clients; empty matches any. */
  readonly sourceRanges: readonly { readonly addressPrefix: string; readonly prefixLen: number }[];
  /** OpenSSL names; if not empty, the client must offer only these. */
  readonly passthroughCiphers: readonly string[];
}

/** Where TCP connections go. */
export interface TcpHost {
  readonly name: string;
  /** One is chosen by weight for each connection; empty if `forwardsServerName`. */
  readonly destinations: readonly TcpDestination[];
  /** True if the server name (SNI) is the name of the cluster. */
  readonly forwardsServerName: boolean;
  /** Empty if TLS is not terminated. */
  readonly sslConfigurations: readonly TlsConfiguration[];
  readonly options: TcpListenerOptions;
}

/** One weighted destination of TCP connections. */
export interface TcpDestination extends Pick<Destination, 'upstream' | 'weight' | 'subset'> {
  /** Why connections cannot be forwarded; they are closed. */
  readonly broken?: string;
}

/** One certificate of a listener. The certificate itself travels as a secret, see {@link Secrets}. */
export interface TlsConfiguration {
  readonly sslConfig: SslConfig;
  /** Lower case; empty matches every name. */
  readonly sniDomains: readonly string[];
}

/** Routes of a set of domains, with all options merged. */
export interface VirtualHost {
  /** `<namespace>.<name>` of its virtual service. */
  readonly name: string;
  readonly virtualService: ResourceRef;
  /** Lower case; never empty. */
  readonly domains: readonly string[];
  readonly options: VirtualHostOptions;
  /** First match wins. */
  readonly routes: readonly Route[];
  /** The AuthConfigs that its options, routes and destinations refer to, sorted by namespace and name. */
  readonly authConfigs: readonly SnapshotAuthConfig[];
  /** The RateLimitConfigs that its options and routes refer to, sorted by namespace and name. */
  readonly rateLimitConfigs: readonly SnapshotRateLimitConfig[];
  /** The GraphQLApis that its routes serve, sorted by namespace and name. */
  readonly graphqlApis: readonly SnapshotGraphQLApi[];
}

/** One route with delegation expanded and options merged: own, referenced, inherited. */
export interface Route {
  /** `<virtual host>-route-<i>[-<route name>]`; each of its matchers is `<name>-matcher-<j>` in dumps. */
  readonly name: string;
  /** Name for logs: `vs:…_route:…`; empty if no route on the branch has a name. */
  readonly logName: string;
  /** At least one; one must match. */
  readonly matchers: readonly Matcher[];
  readonly action: RouteAction;
  readonly options: RouteOptions;
  /** The resource that contains it: the virtual service or the last route table. */
  readonly source: ResourceRef & { readonly kind: 'VirtualService' | 'RouteTable' };
}

/** The action of a route. */
export type RouteAction =
  | { readonly type: 'forward'; readonly destinations: readonly Destination[] }
  | { readonly type: 'redirect'; readonly redirect: RedirectAction }
  | { readonly type: 'direct'; readonly status: number; readonly body: string }
  /** Serves a GraphQLApi of the virtual host. */
  | { readonly type: 'graphql'; readonly api: ResourceRef }
  /** The replacement of a route whose reference is broken (Settings `invalidConfigPolicy`). */
  | { readonly type: 'replacement'; readonly status: number; readonly body: string; readonly reason?: string };

/** How a request chooses its upstream. */
export type DynamicDestination =
  /** By the cluster name in a header, in lower case. */
  | { readonly type: 'clusterHeader'; readonly header: string }
  /** By a host that is resolved for it: this one, or that of a header. */
  | { readonly type: 'host'; readonly hostRewrite?: string; readonly hostRewriteHeader?: string };

/** One weighted destination; `weight` is 1 for a single one. Weight 0 is never selected. */
export interface Destination {
  /** Cluster name, see `clusterName`; a description if it is `dynamic`. */
  readonly upstream: string;
  /** Set if each request chooses the upstream. */
  readonly dynamic?: DynamicDestination;
  readonly weight: number;
  readonly options: WeightedDestinationOptions;
  /** Labels that the host must have. */
  readonly subset?: Readonly<Record<string, string>>;
  /** The function of the upstream that is called. */
  readonly rest?: RestCall;
  /** Set if the upstream has a gRPC-JSON transcoder. */
  readonly transcoder?: TranscoderRef;
  /** Set if the upstream is missing or rejected: this share returns the replacement (default 503). */
  readonly broken?: { readonly status: number; readonly body: string; readonly reason: string };
}

/** A reference to the gRPC-JSON transcoder of an upstream. */
export interface TranscoderRef {
  /** Cluster name. */
  readonly upstream: string;
  /** Hash of its options and descriptors, so that its virtual hosts change with it. */
  readonly version: string;
}

/** A call of a function of a REST service. */
export interface RestCall {
  readonly functionName: string;
  /** Missing if the upstream has no such function: the route then responds with 500. */
  readonly template?: TransformationTemplate;
  readonly parameters?: FunctionParameters;
  readonly responseTransformation?: TransformationTemplate;
}

/** An upstream for the data plane. */
export interface SnapshotUpstream {
  /** Cluster name `<name>_<namespace>`. */
  readonly name: string;
  readonly ref: ResourceRef;
  readonly spec: UpstreamSpec;
  /** Hosts of a static upstream. */
  readonly endpoints: readonly Endpoint[];
  /** How the names of its endpoints are resolved, as far as the Settings say so. */
  readonly dns?: {
    /** Only IPv4 addresses are used. */
    readonly ipV4Only?: boolean;
    /** Interval between lookups of failover endpoints. Default: `10s`. */
    readonly failoverRate?: string;
  };
  /** Descriptor set of its gRPC-JSON transcoder from a file or a ConfigMap, as base64. */
  readonly descriptorSet?: string;
  /** True if connections to it use TLS (`sslConfig`, `useTls`, or a port 443 with `useTls` unset). */
  readonly tls: boolean;
}

/** One server of an upstream. */
export interface Endpoint {
  /** IP address, DNS name, or the path of a Unix socket (`/…`, or `@name` for an abstract one). */
  readonly address: string;
  /** 0 for a Unix socket. */
  readonly port: number;
  /** Other addresses of the same server, tried if `address` does not accept the connection in time. */
  readonly alternatives?: readonly string[];
  readonly weight: number;
  /** Server name for TLS if it differs from the address. */
  readonly sni?: string;
  /** The DNS name that the address was resolved from. */
  readonly hostname?: string;
  /** Default 0, the highest. */
  readonly priority?: number;
  readonly locality?: Locality;
  /** Weight of its locality among those of the same priority. */
  readonly localityWeight?: number;
  /** Labels, by which subsets select. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** What its health checks do differently from those of the upstream. */
  readonly healthCheck?: EndpointHealthCheck;
  /** Its own TLS, instead of that of the upstream. */
  readonly sslConfig?: UpstreamSslConfig;
}

/** Settings of the health checks of one endpoint. */
export interface EndpointHealthCheck {
  /** Port of a check. Default: that of the endpoint. */
  readonly port?: number;
  /** Host of a check, without changing the address. */
  readonly hostname?: string;
  readonly path?: string;
  readonly method?: string;
}

/** Secret values by reference. They are never part of a snapshot; both planes receive them separately. */
export interface Secrets {
  /** Returns the same object while the secret does not change; `undefined` if there is none. */
  get(ref: ResourceRef): SecretValue | undefined;
  /**
   * Returns the last valid content of certificate files as a TLS secret, the same object until it changes; `undefined` when
   * there was none. Missing if no certificate files are read.
   */
  files?(files: SslFiles): SecretValue | undefined;
  /** Returns the last valid certificate of a secret discovery file in the same form. Missing if no certificate files are read. */
  sds?(sds: Sds): SecretValue | undefined;
  /** True while secrets of the served snapshot have not been received: one that is missing may exist. Default false. */
  readonly isPending?: boolean;
}

/** `data` contains base64, as in Kubernetes (`stringData` is merged into it). Read it with `secretText`. */
export interface SecretValue {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** Returns one key of a secret as text; `undefined` if the secret or the key is missing. */
export function secretText(secret: SecretValue | undefined, key: string): string | undefined {
  const value = secret && Object.hasOwn(secret.data, key) ? secret.data[key] : undefined;
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}
