import type { SslConfig } from '../schema/ssl-config.ts';
import type { Listener, VirtualHost } from '../snapshot.ts';
import type { StoredResource } from '../store.ts';
import { conflictsOf, withConflicts, type Conflicts } from './conflicts.ts';
import type { UsedGateway } from './gateways.ts';
import { gatewayWarnings, unsupportedType } from './gateway-problems.ts';
import { listenerMessage } from './messages.ts';
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
  /** Of the virtual services selected, sorted by key. */
  readonly builds: readonly VirtualServiceBuild[];
  /** Problems of each build, with what only shows beside the others. */
  readonly services: readonly Problems[];
  readonly conflicts: Conflicts;
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

const EMPTY = {
  listener: undefined,
  frozen: false,
  builds: [],
  services: [],
  conflicts: conflictsOf([], undefined),
  tls: new Map<string, SslConfig>(),
};
const NO_OPTIONS = Object.freeze({});

export function buildListener(gateway: UsedGateway, context: ListenerContext): ListenerBuild {
  const { world, proxy, contested, previous } = context;
  const report = new Report();
  for (const warning of gatewayWarnings(gateway, world)) report.warn(warning);
  const unsupported = unsupportedType(gateway.spec);
  if (unsupported) {
    report.warn(unsupported);
    return { ...EMPTY, gateway, proxy, problems: report.problems() };
  }
  if (contested) report.error(listenerMessage('BindPortNotUniqueError', contested));
  const { spec, ref } = gateway;
  const selector = { http: spec.httpGateway ?? {}, ssl: spec.ssl ?? false, namespace: ref.namespace, report };
  const selected = selectVirtualServices(selector, world);
  const frozen = report.problems().errors.length > 0;
  const builds = buildAll(selected, `${ref.name}_${proxy}`, context);
  const conflicts = conflictsOf(builds, context.before);
  report.add(conflicts.all);
  const services = problemsOf(builds, conflicts, context.before);
  const base = { gateway, proxy, builds, services, conflicts, frozen };
  if (frozen) {
    return { ...base, tls: context.before?.tls ?? EMPTY.tls, listener: previous, problems: report.problems() };
  }
  const { listener, tls } = assemble({ gateway, builds, services, report }, context);
  return { ...base, tls, listener, problems: report.problems() };
}

/** One build for each virtual service selected; both lists are sorted by key, so that they are walked side by side. */
function buildAll(selected: readonly StoredResource[], owner: string, context: ListenerContext): VirtualServiceBuild[] {
  const old = context.before?.builds ?? [];
  let at = 0;
  return selected.map((stored) => {
    while (at < old.length && old[at]!.stored !== stored && old[at]!.stored.key < stored.key) at++;
    const before = old[at]?.stored.key === stored.key ? old[at++] : undefined;
    if (before?.stored === stored && !context.outdated(before)) return before;
    return buildVirtualService(stored, context.world, owner, before);
  });
}

function problemsOf(
  builds: readonly VirtualServiceBuild[],
  conflicts: Conflicts,
  before: ListenerBuild | undefined,
): readonly Problems[] {
  const same = before?.conflicts === conflicts ? before : undefined;
  return builds.map((build, i) => (build === same?.builds[i] ? same.services[i]! : withConflicts(build, conflicts)));
}

interface Assembly {
  readonly gateway: UsedGateway;
  readonly builds: readonly VirtualServiceBuild[];
  readonly services: readonly Problems[];
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
  for (const { resource, virtualHost } of ssl ? builds : []) {
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
  const nothing = builds.length === 0 && !world.settings.translateEmptyGateways;
  if (nothing || (ssl && configurations.length === 0)) return { listener: undefined, tls };
  const virtualHosts = hosts.filter(({ name }) => !leftOut.has(name));
  return { listener: listenerOf(gateway, { virtualHosts, configurations }, previous), tls };
}

/** The virtual hosts to serve, sorted by name: the new ones without errors, and for the others their last good version. */
function servedHosts({ builds, services }: Assembly, previous: Listener | undefined): readonly VirtualHost[] {
  const fresh: VirtualHost[] = [];
  const failed: string[] = [];
  for (const [i, { virtualHost }] of builds.entries()) {
    if (services[i]!.errors.length === 0) fresh.push(virtualHost);
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
