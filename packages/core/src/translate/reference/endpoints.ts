import type { Endpoint } from '../../contract/snapshot.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { Failover, StaticHost } from '../../schema/upstream/upstream-types.ts';

/** Namespace of the labels in the metadata of an endpoint. */
const LABELS = 'envoy.lb';

/** Returns the endpoints that a spec declares: its own with priority 0, then those of its failover. */
export function endpointsOf(spec: UpstreamSpec): readonly Endpoint[] {
  return Object.freeze([...ownEndpoints(spec), ...(spec.failover ? failoverEndpoints(spec.failover) : [])]);
}

function ownEndpoints({ pipe, static: hosts }: UpstreamSpec): readonly Endpoint[] {
  if (pipe) return [Object.freeze({ address: pipe.path ?? '', port: 0, weight: 1 })];
  return (hosts?.hosts ?? []).map(staticEndpoint);
}

function staticEndpoint(host: StaticHost): Endpoint {
  const { addr = '', port = 0, loadBalancingWeight, sniAddr, metadata, healthCheckConfig } = host;
  return Object.freeze({
    address: addr,
    port,
    weight: loadBalancingWeight ?? 1,
    ...(sniAddr && sniAddr !== addr && { sni: sniAddr }),
    ...labelsOf(metadata),
    ...checksOf(healthCheckConfig),
  });
}

function failoverEndpoints({ prioritizedLocalities = [] }: Failover): Endpoint[] {
  return prioritizedLocalities.flatMap(({ localityEndpoints = [] }, i) =>
    localityEndpoints.flatMap(({ locality = {}, lbEndpoints = [], loadBalancingWeight: localityWeight }) => {
      const place = Object.freeze({ ...locality });
      return lbEndpoints.map((endpoint) => {
        const { address = '', port = 0, loadBalancingWeight: weight, upstreamSslConfig: sslConfig } = endpoint;
        return Object.freeze({
          address,
          port,
          weight: weight || 1,
          priority: i + 1,
          ...(Object.keys(place).length > 0 && { locality: place }),
          ...(localityWeight !== undefined && { localityWeight }),
          ...labelsOf(endpoint.metadata),
          ...checksOf(endpoint.healthCheckConfig),
          ...(sslConfig && { sslConfig }),
        });
      });
    }),
  );
}

interface HealthCheckConfig {
  readonly portValue?: number;
  readonly hostname?: string;
  readonly path?: string;
  readonly method?: string;
}

/** Returns the settings of the health checks of an endpoint; empty ones are those of the upstream. */
function checksOf({ portValue, ...texts }: HealthCheckConfig = {}): Pick<Endpoint, 'healthCheck'> {
  const written = Object.entries({ port: portValue, ...texts }).filter(([, value]) => value);
  return written.length > 0 ? { healthCheck: Object.freeze(Object.fromEntries(written)) } : {};
}

/** Returns the labels of an endpoint. Like Envoy it compares texts only: other values are no labels. */
function labelsOf(metadata: StaticHost['metadata']): Pick<Endpoint, 'metadata'> {
  const declared: unknown = metadata?.[LABELS];
  if (typeof declared !== 'object' || declared === null) return {};
  const labels = Object.entries(declared).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return labels.length > 0 ? { metadata: Object.freeze(Object.fromEntries(labels)) } : {};
}
