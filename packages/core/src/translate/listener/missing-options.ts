import type { FieldPath } from '../../resource/problem.ts';
import { identityOfKey, type ResourceKey } from '../../resource/resource.ts';
import { dotted } from '../names.ts';
import { routeMessage, virtualHostMessage } from '../status/messages.ts';
import { Report, type Problems } from '../status/report.ts';
import type { GatewayNeed } from '../virtual-host/gateway-needs.ts';
import type { VirtualServiceBuild } from '../virtual-host/virtual-hosts.ts';
import type { ListenerBuild } from './listeners.ts';
import { createLoginCheck, hasLogin } from './unserved-logins.ts';

/**
 * Warnings of routes that need an option that their gateway lacks, by virtual service and route table, and of logins that return to
 * a host that no virtual service serves.
 */
export type MissingOptions = ReadonlyMap<ResourceKey, Problems>;

/** What several gateways lack for one field. */
interface Lack {
  readonly need: GatewayNeed;
  readonly gateways: Set<string>;
  readonly services: Set<ResourceKey>;
}

/**
 * Returns one warning for each field that needs an option which one of its gateways lacks, and for each login of a virtual service
 * that needs another host; unchanged ones are those of `before`.
 */
export function missingOptions(
  listeners: readonly ListenerBuild[],
  before: MissingOptions | undefined,
): MissingOptions {
  const reports = new Map<ResourceKey, Report>();
  const reportOf = (key: ResourceKey): Report => {
    const known = reports.get(key) ?? new Report();
    reports.set(key, known);
    return known;
  };
  for (const { need, gateways, services } of lacks(listeners).values()) {
    const { key, path, source } = need;
    const own = reportOf(key);
    const message = messageOf(need, [...gateways].sort());
    own.warn({ code: 'STATUS', path, message, cause: message, ...(source && { source }) });
    for (const service of services) {
      if (service === key) continue;
      const prefix = `on sub route table ${dotted(identityOfKey(key))}: `;
      reportOf(service).repeat([{ code: 'STATUS', severity: 'warning', path: [], message }], prefix);
    }
  }
  const check = createLoginCheck(listeners.map(({ conflicts }) => conflicts));
  for (const { stored, virtualHost } of listeners.flatMap(({ needy }) => needy)) {
    for (const { config, host, source } of virtualHost.authConfigs.flatMap(check)) {
      const reason = `no virtual service serves '${host}', the host of appUrl of AuthConfig ${dotted(config)}: users get no page after the login`;
      const message = virtualHostMessage('ProcessingWarning', reason);
      reportOf(stored.key).warn({ code: 'STATUS', path: HOST, message, cause: message, source });
    }
  }
  return new Map([...reports].map(([key, report]) => [key, unchanged(report.problems(), before?.get(key))]));
}

const HOST: FieldPath = ['spec', 'virtualHost'];

/** Returns true if the virtual service may need something that the gateway lacks. */
export function mayLack({ gateway }: ListenerBuild, build: VirtualServiceBuild): boolean {
  return build.needs.some(({ option }) => !gateway.spec.httpGateway?.options?.[option]) || hasLogin(build);
}

function lacks(listeners: Iterable<ListenerBuild>): ReadonlyMap<string, Lack> {
  const found = new Map<string, Lack>();
  for (const { gateway, needy } of listeners) {
    const options = gateway.spec.httpGateway?.options ?? {};
    for (const { needs, stored } of needy) {
      for (const need of needs) {
        if (options[need.option]) continue;
        const id = `${need.option} ${need.key} ${JSON.stringify(need.path)}`;
        const known = found.get(id) ?? { need, gateways: new Set(), services: new Set() };
        known.gateways.add(dotted(gateway.ref));
        known.services.add(stored.key);
        found.set(id, known);
      }
    }
  }
  return found;
}

function messageOf({ option, route }: GatewayNeed, gateways: readonly string[]): string {
  const owners = `${gateways.length === 1 ? 'Gateway' : 'Gateways'} ${gateways.join(', ')}`;
  const isBuffer = option === 'buffer';
  const reason = isBuffer
    ? `bufferPerRoute has no effect without httpGateway.options.buffer of ${owners}`
    : `dynamicForwardProxy needs httpGateway.options.dynamicForwardProxy of ${owners}: requests get 503 without it`;
  if (route === undefined) return virtualHostMessage('ProcessingWarning', reason);
  return routeMessage(isBuffer ? 'ProcessingWarning' : 'InvalidDestinationWarning', reason, route);
}

function unchanged(now: Problems, before: Problems | undefined): Problems {
  return before && JSON.stringify(now) === JSON.stringify(before) ? before : now;
}
