import type { SnapshotUpstream } from '../../contract/snapshot.ts';
import type { SslParameters } from '../../schema/listener/ssl-config.ts';
import type { CircuitBreakers } from '../../schema/upstream/circuit-breakers.ts';
import type { SettingsSpec } from '../../schema/kind/settings.ts';

interface Defaults {
  readonly sslParameters?: SslParameters | undefined;
  readonly dns?: SnapshotUpstream['dns'] | undefined;
  readonly circuitBreakers?: CircuitBreakers | undefined;
}

/** Returns what the Settings say about upstreams as JSON, so that other changes of the Settings do not replace any upstream. */
export function upstreamDefaults({ upstreamOptions, ipV4Only, gw }: SettingsSpec): string {
  const failoverRate = gw?.failoverUpstreamDnsPollingInterval;
  const dns = (ipV4Only || failoverRate) && { ...(ipV4Only && { ipV4Only }), ...(failoverRate && { failoverRate }) };
  const defaults: Defaults = {
    sslParameters: upstreamOptions?.sslParameters,
    dns: dns || undefined,
    circuitBreakers: gw?.circuitBreakers,
  };
  return JSON.stringify(defaults);
}

/** Returns an upstream with the defaults that {@link upstreamDefaults} returned. Parameters of its own replace the default ones, circuit breakers by field. */
export function withDefaults(upstream: SnapshotUpstream, written: string): SnapshotUpstream {
  const { sslParameters, dns, circuitBreakers } = JSON.parse(written) as Defaults;
  const { spec, tls } = upstream;
  const needsParameters = sslParameters !== undefined && tls && spec.sslConfig?.parameters === undefined;
  if (!needsParameters && dns === undefined && circuitBreakers === undefined) return upstream;
  const sslConfig = needsParameters && { ...spec.sslConfig, parameters: sslParameters };
  return Object.freeze({
    ...upstream,
    spec: Object.freeze({
      ...spec,
      ...(sslConfig && { sslConfig: Object.freeze(sslConfig) }),
      ...(circuitBreakers && { circuitBreakers: Object.freeze({ ...circuitBreakers, ...spec.circuitBreakers }) }),
    }),
    ...(dns && { dns: Object.freeze(dns) }),
  });
}
