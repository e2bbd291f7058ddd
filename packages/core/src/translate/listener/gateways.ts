import { isFromGatewayApi } from '../../resource/generated.ts';
import { identityOfKey, type Resource, type ResourceRef } from '../../resource/resource.ts';
import { DEFAULTS } from '../../schema/defaults.ts';
import type { GatewaySpec } from '../../schema/kind/gateway.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { listenerName } from '../names.ts';
import type { TranslationSettings } from '../translation-settings.ts';
import type { TranslationInput } from '../input.ts';

/** The default gateways, used if there is no Gateway resource (reference: routing 5.1). */
export interface DefaultGateways {
  /** Default `::`. */
  readonly bindAddress?: string;
  /** Default 8080. */
  readonly httpPort?: number;
  /** Default 8443. */
  readonly httpsPort?: number;
  /** Default `gateway-proxy`. */
  readonly proxyName?: string;
}

/** A gateway: from a resource, or a default one if there are no resources. */
export interface UsedGateway {
  readonly ref: ResourceRef;
  readonly stored: StoredResource | undefined;
  readonly spec: GatewaySpec;
  readonly bindAddress: string;
  readonly bindPort: number;
  readonly proxies: readonly string[];
  readonly listener: string;
}

/** The ports of the default gateways. */
export const DEFAULT_PORTS = { http: 8080, https: 8443 } as const;
const DEFAULT_GATEWAYS = Object.freeze({});
const NO_GATEWAYS: readonly UsedGateway[] = Object.freeze([]);

/**
 * Returns the gateways in use, sorted; the two default ones if there are no resources besides those from the Gateway API. If the Settings
 * disable gateways, only those from the Gateway API are in use.
 */
export function usedGateways(
  stored: readonly StoredResource[],
  { settings, derived }: Pick<TranslationInput, 'settings' | 'derived'>,
  defaults: DefaultGateways = {},
): readonly UsedGateway[] {
  const read = stored.filter((one) => isRead(one, settings));
  const written = read.flatMap((one) =>
    one.resource ? [derived.of(gatewayOf, one.resource as Resource<GatewaySpec>, one)] : [],
  );
  if (!settings.translatesGateways) {
    const kept = written.filter(({ stored: own }) => own?.resource && isFromGatewayApi(own.resource.metadata));
    return kept.length > 0 ? kept : NO_GATEWAYS;
  }
  if (read.every(({ resource }) => resource !== undefined && isFromGatewayApi(resource.metadata))) {
    const { bindAddress, httpPort, httpsPort, proxyName } = defaults;
    const values = [settings.writeNamespace, bindAddress, httpPort, httpsPort, proxyName] as const;
    const byDefault = derived.of(defaultGateways, DEFAULT_GATEWAYS, ...values);
    return written.length > 0 ? [...byDefault, ...written] : byDefault;
  }
  return written;
}

/** Returns false for a Gateway outside the namespace from which Gateways are read; those from the Gateway API always are. */
export function isRead({ key, resource }: StoredResource, settings: TranslationSettings): boolean {
  if (resource && isFromGatewayApi(resource.metadata)) return true;
  return settings.readGatewaysFromAllNamespaces || identityOfKey(key).namespace === settings.writeNamespace;
}

function gatewayOf(resource: Resource<GatewaySpec>, stored: StoredResource): UsedGateway {
  const { name, namespace } = resource.metadata;
  return used({ name, namespace }, resource.spec, stored);
}

function used(ref: ResourceRef, spec: GatewaySpec, stored?: StoredResource): UsedGateway {
  const bindAddress = spec.bindAddress || DEFAULTS.bindAddress;
  const bindPort = spec.bindPort ?? 0;
  const proxies = spec.proxyNames?.length ? [...new Set(spec.proxyNames)] : [DEFAULTS.proxyName];
  const listener = listenerName(bindAddress, bindPort, ref);
  return Object.freeze({ ref: Object.freeze(ref), stored, spec, bindAddress, bindPort, proxies, listener });
}

function defaultGateways(
  _: object,
  namespace: string,
  ...[address, httpPort = DEFAULT_PORTS.http, httpsPort = DEFAULT_PORTS.https, proxy]: readonly [
    string?,
    number?,
    number?,
    string?,
  ]
): readonly UsedGateway[] {
  const [bindAddress, proxyName] = [address ?? DEFAULTS.bindAddress, proxy ?? DEFAULTS.proxyName];
  const common = { bindAddress, proxyNames: [proxyName], httpGateway: {} };
  return [
    used({ name: 'gateway-proxy', namespace }, { ...common, bindPort: httpPort }),
    used({ name: 'gateway-proxy-ssl', namespace }, { ...common, bindPort: httpsPort, ssl: true }),
  ];
}

/** Returns the ports of one proxy that several of its gateways claim; port 0 is any free port and never contested. */
export function contestedPorts(gateways: readonly UsedGateway[]): ReadonlyMap<UsedGateway, string> {
  const byPort = new Map<number, UsedGateway[]>();
  for (const gateway of gateways) {
    if (gateway.bindPort !== 0) byPort.set(gateway.bindPort, [...(byPort.get(gateway.bindPort) ?? []), gateway]);
  }
  const contested = new Map<UsedGateway, string>();
  for (const [port, rivals] of byPort) {
    if (rivals.length < 2) continue;
    const names = rivals.map(({ ref }) => `${ref.namespace}.${ref.name}`).sort();
    for (const rival of rivals) contested.set(rival, `several gateways use port ${port}: [${names.join(', ')}]`);
  }
  return contested;
}
