import type { FieldPath } from '../resource/problem.ts';
import type { Kind, Resource } from '../resource/resource.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import { httpListenersOf } from '../contract/http-listeners.ts';
import type { GatewaySpec, MatchableHttpGatewaySpec, MatchableTcpGatewaySpec } from '../schema/kind/gateway.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import type { VirtualServiceSpec } from '../schema/kind/virtual-service.ts';
import type { SslConfig, UpstreamSslConfig } from '../schema/listener/ssl-config.ts';

type TlsSettings = SslConfig | UpstreamSslConfig;

/** TLS settings of a resource. */
export interface NamedTls<Settings extends TlsSettings = TlsSettings> {
  readonly settings: Settings;
  /** Path of their field. */
  readonly at: FieldPath;
}

const FINDERS: Partial<Record<Kind, (spec: object) => readonly NamedTls[]>> = {
  VirtualService: (spec) => named((spec as VirtualServiceSpec).sslConfig, ['spec', 'sslConfig']),
  Gateway: gatewayTls,
  MatchableHttpGateway: (spec) => innerTls(spec as MatchableHttpGatewaySpec, ['spec']),
  MatchableTcpGateway: (spec) => innerTls(spec as MatchableTcpGatewaySpec, ['spec']),
  Upstream: upstreamTls,
};

/** The kinds whose TLS settings are in effect. */
export const TLS_KINDS = Object.keys(FINDERS) as readonly Kind[];

/** Returns the TLS settings of a resource that are in effect. */
export function tlsSettingsOf({ kind, spec }: Resource): readonly NamedTls[] {
  return FINDERS[kind]?.(spec as object) ?? [];
}

/** Returns the TLS settings of the endpoints of a failover. */
export function failoverTls({ failover }: UpstreamSpec): NamedTls<UpstreamSslConfig>[] {
  return (failover?.prioritizedLocalities ?? []).flatMap(({ localityEndpoints = [] }, i) =>
    localityEndpoints.flatMap(({ lbEndpoints = [] }, j) =>
      lbEndpoints.flatMap(({ upstreamSslConfig }, k) => {
        const endpoint = ['prioritizedLocalities', i, 'localityEndpoints', j, 'lbEndpoints', k];
        return named(upstreamSslConfig, ['spec', 'failover', ...endpoint, 'upstreamSslConfig']);
      }),
    ),
  );
}

/** Returns all TLS settings that a snapshot serves, which may be those of an earlier version of a resource. */
export function tlsSettingsIn({ listeners, upstreams }: Snapshot): TlsSettings[] {
  const found = [
    ...listeners.flatMap(({ sslConfigurations }) => sslConfigurations.map(({ sslConfig }) => sslConfig)),
    ...httpListenersOf(listeners).map(({ httpOptions }) => httpOptions.dynamicForwardProxy?.sslConfig),
    ...upstreams.flatMap(({ spec, endpoints }) => [
      spec.sslConfig,
      spec.httpConnectSslConfig,
      ...endpoints.map(({ sslConfig }) => sslConfig),
    ]),
  ];
  return found.filter((settings) => settings !== undefined);
}

function gatewayTls(spec: object): NamedTls[] {
  const { httpGateway, tcpGateway, hybridGateway = {} } = spec as GatewaySpec;
  const { matchedGateways = [], delegatedHttpGateways } = hybridGateway;
  const hybrid = ['spec', 'hybridGateway'];
  return [
    ...innerTls({ ...(httpGateway && { httpGateway }), ...(tcpGateway && { tcpGateway }) }, ['spec']),
    ...matchedGateways.flatMap((inner, i) => innerTls(inner, [...hybrid, 'matchedGateways', i])),
    ...named(delegatedHttpGateways?.sslConfig, [...hybrid, 'delegatedHttpGateways', 'sslConfig']),
  ];
}

type InnerGateway = Pick<MatchableHttpGatewaySpec, 'matcher' | 'httpGateway'> &
  Pick<MatchableTcpGatewaySpec, 'tcpGateway'>;

function innerTls({ matcher, httpGateway, tcpGateway }: InnerGateway, at: FieldPath): NamedTls[] {
  const proxy = [...at, 'httpGateway', 'options', 'dynamicForwardProxy', 'sslConfig'];
  return [
    ...named(matcher?.sslConfig, [...at, 'matcher', 'sslConfig']),
    ...named(httpGateway?.options?.dynamicForwardProxy?.sslConfig, proxy),
    ...(tcpGateway?.tcpHosts ?? []).flatMap(({ sslConfig }, i) =>
      named(sslConfig, [...at, 'tcpGateway', 'tcpHosts', i, 'sslConfig']),
    ),
  ];
}

function upstreamTls(written: object): NamedTls[] {
  const spec: UpstreamSpec = written;
  return [
    ...named(spec.sslConfig, ['spec', 'sslConfig']),
    ...named(spec.httpConnectSslConfig, ['spec', 'httpConnectSslConfig']),
    ...failoverTls(spec),
  ];
}

function named<Settings extends TlsSettings>(settings: Settings | undefined, at: FieldPath): NamedTls<Settings>[] {
  return settings ? [{ settings, at }] : [];
}
