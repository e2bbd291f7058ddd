import type { ResourceKey } from '../resource.ts';
import type { SslConfig } from '../schema/ssl-config.ts';
import type { Listener, VirtualHost } from '../snapshot.ts';
import { domainConflicts } from './domains.ts';
import type { UsedGateway } from './gateways.ts';
import { gatewayWarnings, unsupportedType } from './gateway-problems.ts';
import { listenerMessage, virtualHostMessage } from './messages.ts';
import { Report, type Problems } from './report.ts';
import { selectVirtualServices } from './selection.ts';
import { listenerTls, sameList, type TlsClaim } from './tls.ts';
import { buildVirtualService, type VirtualServiceBuild } from './virtual-hosts.ts';
import type { World } from './world.ts';

/** All that translation made of one gateway for one proxy. */
export interface ListenerBuild {
  readonly gateway: UsedGateway;
  readonly proxy: string;
  /** What is served; absent when there is nothing to serve. */
  readonly listener: Listener | undefined;
  /** True when `listener` is the last good one as a whole. */
  readonly frozen: boolean;
  readonly builds: ReadonlyMap<ResourceKey, VirtualServiceBuild>;
  /** Of the virtual services, with what only shows beside the others. */
  readonly services: ReadonlyMap<ResourceKey, Problems>;
  /** Of the gateway and its listener. */
  readonly problems: Problems;
  /** TLS as it was when the virtual host was last good, by its name. */
  readonly tls: ReadonlyMap<string, SslConfig>;
}

/** What a listener is built from, beside its gateway. */
export interface ListenerContext {
  readonly world: World;
  readonly proxy: string;
  readonly contested: string | undefined;
  /** What this proxy served for the gateway before. */
  readonly previous: Listener | undefined;
  readonly before: ListenerBuild | undefined;
  /** Tells whether a build of before has to be made again. */
  readonly outdated: (build: VirtualServiceBuild) => boolean;
}

const NONE = new Map<never, never>();
const NO_OPTIONS = Object.freeze({});

export function buildListener(gateway: UsedGateway, context: ListenerContext): ListenerBuild {
  const { world, proxy, contested, previous } = context;
  const report = new Report();
  for (const warning of gatewayWarnings(gateway, world)) report.warn(warning);
  const base = { gateway, proxy, builds: NONE, services: NONE, tls: NONE, frozen: false };
  const unsupported = unsupportedType(gateway.spec);
  if (unsupported) {
    report.warn(unsupported);
    return { ...base, listener: undefined, problems: report.problems() };
  }
  if (contested) report.error(listenerMessage('BindPortNotUniqueError', contested));
  const { spec, ref } = gateway;
  const selector = { http: spec.httpGateway ?? {}, ssl: spec.ssl ?? false, namespace: ref.namespace, report };
  const selected = selectVirtualServices(selector, world);
  const frozen = report.problems().errors.length > 0;
  const owner = `${ref.name}_${proxy}`;
  const builds = new Map<ResourceKey, VirtualServiceBuild>();
  for (const stored of selected) {
    const before = context.before?.builds.get(stored.key);
    const reusable = before?.stored === stored && !context.outdated(before);
    builds.set(stored.key, reusable ? before : buildVirtualService(stored, world, owner, before));
  }
  const services = judge(builds, report);
  if (frozen) {
    const tls = context.before?.tls ?? NONE;
    return { ...base, builds, services, tls, frozen, listener: previous, problems: report.problems() };
  }
  const { listener, tls } = assemble({ gateway, builds, services, report }, context);
  return { ...base, builds, services, tls, listener, problems: report.problems() };
}

/** Adds what only shows when virtual services stand side by side: domains that several of them claim. */
function judge(
  builds: ReadonlyMap<ResourceKey, VirtualServiceBuild>,
  report: Report,
): ReadonlyMap<ResourceKey, Problems> {
  const hosts = Array.from(builds.values(), ({ virtualHost }) => virtualHost);
  const conflicts = domainConflicts(hosts);
  const messages = new Map<string, Report>();
  for (const [domain, names] of conflicts) {
    const reason = `the domain '${domain}' belongs to several virtual services: [${names.join(', ')}]`;
    const message = virtualHostMessage('DomainsNotUniqueError', reason);
    report.error(message);
    for (const name of names) {
      if (!messages.has(name)) messages.set(name, new Report());
      messages.get(name)!.error(message);
    }
  }
  const services = new Map<ResourceKey, Problems>();
  for (const [key, { virtualHost, problems }] of builds) {
    const more = messages.get(virtualHost.name);
    if (more) more.add(problems);
    services.set(key, more ? more.problems() : problems);
  }
  return services;
}

interface Assembly {
  readonly gateway: UsedGateway;
  readonly builds: ReadonlyMap<ResourceKey, VirtualServiceBuild>;
  readonly services: ReadonlyMap<ResourceKey, Problems>;
  readonly report: Report;
}

function assemble(parts: Assembly, context: ListenerContext): Pick<ListenerBuild, 'listener' | 'tls'> {
  const { gateway, builds, report } = parts;
  const { world, previous, before } = context;
  const ssl = gateway.spec.ssl ?? false;
  const hosts = servedHosts(parts, previous);
  const byName = new Map(hosts.map((host) => [host.name, host]));
  const tls = new Map<string, SslConfig>();
  const claims: TlsClaim[] = [];
  for (const { resource, virtualHost } of ssl ? builds.values() : []) {
    const served = byName.get(virtualHost.name);
    if (!served) continue;
    const old = served === virtualHost ? undefined : before?.tls.get(served.name);
    const sslConfig = old ?? resource.spec.sslConfig ?? NO_OPTIONS;
    tls.set(served.name, sslConfig);
    claims.push({ host: served.name, namespace: resource.metadata.namespace, sslConfig });
  }
  const { configurations, leftOut } = ssl
    ? listenerTls(claims, previous?.sslConfigurations ?? [], world, report)
    : { configurations: [], leftOut: new Set<string>() };
  const nothing = builds.size === 0 && !world.settings.translateEmptyGateways;
  if (nothing || (ssl && configurations.length === 0)) return { listener: undefined, tls };
  const virtualHosts = hosts.filter(({ name }) => !leftOut.has(name));
  return { listener: listenerOf(gateway, { virtualHosts, configurations }, previous), tls };
}

/** The virtual hosts to serve, sorted by name: the new ones without errors, and for the others their last good version. */
function servedHosts({ builds, services }: Assembly, previous: Listener | undefined): readonly VirtualHost[] {
  const fresh: VirtualHost[] = [];
  const failed: string[] = [];
  for (const [key, { virtualHost }] of builds) {
    if (services.get(key)!.errors.length === 0) fresh.push(virtualHost);
    else failed.push(virtualHost.name);
  }
  const hosts = failed.length === 0 ? fresh : [...fresh, ...lastGood(failed, fresh, previous)];
  return hosts.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Last good virtual hosts, without the domains that meanwhile belong to others. */
function lastGood(
  failed: readonly string[],
  fresh: readonly VirtualHost[],
  previous: Listener | undefined,
): VirtualHost[] {
  const taken = new Set(fresh.flatMap(({ domains }) => domains));
  const wanted = new Set(failed);
  return (previous?.virtualHosts ?? []).flatMap((host) => {
    if (!wanted.has(host.name)) return [];
    const domains = host.domains.filter((domain) => !taken.has(domain));
    if (domains.length === host.domains.length) return [host];
    return domains.length > 0 ? [Object.freeze({ ...host, domains: Object.freeze(domains) })] : [];
  });
}

type ListenerParts = { virtualHosts: readonly VirtualHost[]; configurations: Listener['sslConfigurations'] };

function listenerOf(gateway: UsedGateway, parts: ListenerParts, previous: Listener | undefined): Listener {
  const { spec, ref, bindAddress, bindPort, listener: name } = gateway;
  const now: Listener = {
    name,
    bindAddress,
    bindPort,
    gateway: previous && previous.gateway.name === ref.name ? previous.gateway : ref,
    ssl: spec.ssl ?? false,
    options: spec.options ?? NO_OPTIONS,
    httpOptions: spec.httpGateway?.options ?? NO_OPTIONS,
    routeOptions: spec.routeOptions ?? NO_OPTIONS,
    sslConfigurations: sameList(parts.configurations, previous?.sslConfigurations),
    virtualHosts: sameList(parts.virtualHosts, previous?.virtualHosts),
  };
  const keys = Object.keys(now) as (keyof Listener)[];
  return previous && keys.every((key) => now[key] === previous[key]) ? previous : Object.freeze(now);
}
