import type { SnapshotUpstream } from '../../contract/snapshot.ts';
import type { SslParameters } from '../../schema/listener/ssl-config.ts';
import type { SettingsSpec } from '../../schema/kind/settings.ts';

interface Defaults {
  readonly sslParameters?: SslParameters | undefined;
  readonly dns?: SnapshotUpstream['dns'] | undefined;
}

/** Returns what the Settings say about upstreams as JSON, so that other changes of the Settings do not replace any upstream. */
export function upstreamDefaults({ upstreamOptions, ipV4Only, gw }: SettingsSpec): string {
  const failoverRate = gw?.failoverUpstreamDnsPollingInterval;
  const dns = (ipV4Only || failoverRate) && { ...(ipV4Only && { ipV4Only }), ...(failoverRate && { failoverRate }) };
  const defaults: Defaults = { sslParameters: upstreamOptions?.sslParameters, dns: dns || undefined };
  return JSON.stringify(defaults);
}

/** Returns an upstream with the defaults that {@link upstreamDefaults} returned. Parameters of its own replace the default ones. */
export function withDefaults(upstream: SnapshotUpstream, written: string): SnapshotUpstream {
  const { sslParameters, dns } = JSON.parse(written) as Defaults;
  const { spec, tls } = upstream;
  const needsParameters = sslParameters !== undefined && tls && spec.sslConfig?.parameters === undefined;
  if (!needsParameters && dns === undefined) return upstream;
  const sslConfig = needsParameters && { ...spec.sslConfig, parameters: sslParameters };
  return Object.freeze({
    ...upstream,
    ...(sslConfig && { spec: Object.freeze({ ...spec, sslConfig: Object.freeze(sslConfig) }) }),
    ...(dns && { dns: Object.freeze(dns) }),
  });
}
