import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import { clusterName } from '../resource/resource.ts';
import type { TlsFiles } from './file-tls.ts';
import type { SnapshotSettings } from '../contract/snapshot.ts';

/** A host and a port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** What runs beside the Envoys. Routes that need a missing service are handed over to the Node proxies. */
export interface EnvoyServices {
  /** Host of Node proxies with the same listeners. Missing: routes that Envoy cannot serve return 500. */
  readonly nodeProxies?: string | undefined;
  /** Auth server for AuthConfigs, over gRPC: the role `extauth`. */
  readonly extauth?: HostPort | undefined;
  /** Rate limit server, over gRPC: the role `rate-limit`. */
  readonly rateLimit?: HostPort | undefined;
  /** TLS to both servers. Missing: plain text. */
  readonly tls?: TlsFiles | undefined;
}

/** The cluster of the control planes. No upstream has such a name. */
export const XDS_CLUSTER = 'edge-gateway.xds';
/** The cluster of the rate limit server. */
export const LIMIT_CLUSTER = 'edge-gateway.rate-limit';
/** The cluster of the auth server. */
export const AUTH_CLUSTER = 'edge-gateway.extauth';

/** Returns the cluster of the auth server for AuthConfigs; `undefined` if chains can only run in a Node proxy. */
export function authCluster({ extauth }: SnapshotSettings, services: EnvoyServices): string | undefined {
  return settingsCluster(extauth?.extauthzServerRef) ?? (services.extauth && AUTH_CLUSTER);
}

/** Returns the cluster of the rate limit server; `undefined` if only Node proxies count requests. */
export function rateLimitCluster({ ratelimitServer }: SnapshotSettings, services: EnvoyServices): string | undefined {
  return settingsCluster(ratelimitServer?.ratelimitServerRef) ?? (services.rateLimit && LIMIT_CLUSTER);
}

/** Returns the cluster of a server that the Settings name. */
export function settingsCluster(
  ref: { readonly name?: string; readonly namespace?: string } | undefined,
): string | undefined {
  return ref?.name ? clusterName({ name: ref.name, namespace: ref.namespace || gatewayNamespace() }) : undefined;
}
