import type { ResourceRef } from '../resource/resource.ts';
import type { AuthConfigSpec } from '../schema/kind/auth-config.ts';
import type { ExtAuthServer } from '../schema/auth/extauth.ts';
import type { GraphQLApiSpec } from '../schema/kind/graphql-api.ts';
import type { HttpListenerOptions, ListenerOptions, RouteConfigOptions } from '../schema/listener/gateway-options.ts';
import type { Matcher } from '../schema/route/matcher.ts';
import type { RedirectAction } from '../schema/route/route.ts';
import type { RouteOptions, VirtualHostOptions, WeightedDestinationOptions } from '../schema/route/route-options.ts';
import type { SslConfig, SslFiles } from '../schema/listener/ssl-config.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';

/**
 * The border between the planes: all that one proxy serves. Plain, frozen, sorted, without secret values.
 * Parts that did not change are the same objects as in the snapshot before, so that a reader can compare by identity.
 */
export interface Snapshot {
  /** Name of the proxy, e.g. `gateway-proxy`. */
  readonly proxy: string;
  /** Changes when, and only when, the content does: a hash of it. */
  readonly version: string;
  /** Sorted by name. */
  readonly listeners: readonly Listener[];
  /** Every upstream known, referenced or not; sorted by name. */
  readonly upstreams: readonly SnapshotUpstream[];
  readonly settings: SnapshotSettings;
}

/** What of the Settings the data plane needs. The same object as long as its content is. */
export interface SnapshotSettings {
  /** How external auth behaves where no listener says otherwise. */
  readonly extauth?: ExtAuthServer;
  /** True: virtual hosts without `rbac` deny everything. */
  readonly requireRbac: boolean;
  /** Default of `escapeCharacters` in transformations. Default false. */
  readonly escapeCharacters?: boolean;
}

/** The settings where nothing is set. */
export const DEFAULT_SNAPSHOT_SETTINGS: SnapshotSettings = Object.freeze({ requireRbac: false });

/** An AuthConfig with every reference resolved: namespaces filled, label selectors turned into sorted references. */
export interface SnapshotAuthConfig {
  readonly ref: ResourceRef;
  readonly spec: AuthConfigSpec;
}

/** A GraphQLApi with the APIs it is joined from. */
export interface SnapshotGraphQLApi {
  readonly ref: ResourceRef;
  /** References without a namespace mean that of `ref`. */
  readonly spec: GraphQLApiSpec;
  /** In the order of `stitchedSchema.subschemas`; empty for an API of its own. */
  readonly subschemas: readonly SnapshotGraphQLApi[];
  /** Descriptor sets from ConfigMaps and files, as base64. */
  readonly descriptorSets?: readonly string[];
  /** Schema definition that the server told, where the spec has none. */
  readonly serverSchema?: string;
}

/** One address the proxy listens on (reference: routing 5). */
export interface Listener {
  /** `listener-<bindAddress>-<bindPort>`. */
  readonly name: string;
  readonly bindAddress: string;
  readonly bindPort: number;
  /** The Gateway it was made from. */
  readonly gateway: ResourceRef;
  readonly ssl: boolean;
  readonly options: ListenerOptions;
  readonly httpOptions: HttpListenerOptions;
  readonly routeOptions: RouteConfigOptions;
  /** Certificates by SNI; empty on a plain listener. */
  readonly sslConfigurations: readonly TlsConfiguration[];
  /** Sorted by name. */
  readonly virtualHosts: readonly VirtualHost[];
}

/** One certificate of a listener. The certificate itself travels as a secret, see {@link Secrets}. */
export interface TlsConfiguration {
  readonly sslConfig: SslConfig;
  /** Lower case; empty answers every name. */
  readonly sniDomains: readonly string[];
}

/** Routes of a set of domains, with all options merged in. */
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
  /** The GraphQLApis that its routes answer with, sorted by namespace and name. */
  readonly graphqlApis: readonly SnapshotGraphQLApi[];
}

/** One route with delegation expanded and options merged: own, referenced, inherited. */
export interface Route {
  /** `<virtual host>-route-<i>[-<route name>]`; each of its matchers is `<name>-matcher-<j>` in dumps. */
  readonly name: string;
  /** Name for logs: `vs:…_route:…`, or empty when no route on the branch is named. */
  readonly logName: string;
  /** At least one; any of them. */
  readonly matchers: readonly Matcher[];
  readonly action: RouteAction;
  readonly options: RouteOptions;
  /** The resource it is written in: the virtual service or the last route table. */
  readonly source: ResourceRef & { readonly kind: 'VirtualService' | 'RouteTable' };
}

/** What a route does with a request. */
export type RouteAction =
  | { readonly type: 'forward'; readonly destinations: readonly Destination[] }
  | { readonly type: 'redirect'; readonly redirect: RedirectAction }
  | { readonly type: 'direct'; readonly status: number; readonly body: string }
  /** A GraphQLApi of the virtual host answers. */
  | { readonly type: 'graphql'; readonly api: ResourceRef }
  /** The replacement of a route whose reference is broken (Settings `invalidConfigPolicy`). */
  | { readonly type: 'replacement'; readonly status: number; readonly body: string; readonly reason?: string };

/** One weighted destination; `weight` is 1 for a single one. A share of 0 is never chosen. */
export interface Destination {
  /** Cluster name, see `clusterName`. */
  readonly upstream: string;
  readonly weight: number;
  readonly options: WeightedDestinationOptions;
  /** Set when the upstream does not exist or is rejected: this share answers the replacement (default 503). */
  readonly broken?: { readonly status: number; readonly body: string; readonly reason: string };
}

/** An upstream as the data plane needs it. */
export interface SnapshotUpstream {
  /** Cluster name `<name>_<namespace>`. */
  readonly name: string;
  readonly ref: ResourceRef;
  readonly spec: UpstreamSpec;
  /** Hosts of a static upstream. */
  readonly endpoints: readonly Endpoint[];
  /** True when connections to it are TLS (`sslConfig`, `useTls`, or a port 443 with `useTls` unset). */
  readonly tls: boolean;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly weight: number;
  /** Server name for TLS when it differs from the address. */
  readonly sni?: string;
}

/** Secret values by reference. They never enter a snapshot; both planes get this beside it. */
export interface Secrets {
  /** The same object as long as the secret does not change; `undefined` when there is none. */
  get(ref: ResourceRef): SecretValue | undefined;
  /**
   * Returns the last valid content of certificate files as a TLS secret, the same object until it changes; `undefined` when
   * there never was any. Missing if no certificate files are read.
   */
  files?(files: SslFiles): SecretValue | undefined;
}

/** `data` holds base64, as in Kubernetes (`stringData` is folded in). Read with `secretText`. */
export interface SecretValue {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** One key of a secret as text; `undefined` when the secret or the key is missing. */
export function secretText(secret: SecretValue | undefined, key: string): string | undefined {
  const value = secret && Object.hasOwn(secret.data, key) ? secret.data[key] : undefined;
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}
