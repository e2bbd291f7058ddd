import type { ResourceKey } from '../../resource/resource.ts';
import { DEFAULTS } from '../../schema/defaults.ts';
import type { Listener, VirtualHost } from '../../contract/snapshot.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { conflictsOf, withConflicts, type Conflicts } from './conflicts.ts';
import type { UsedGateway } from './gateways.ts';
import { gatewayWarnings, unsupportedType } from './gateway-problems.ts';
import type { GoodParts } from '../virtual-host/last-good.ts';
import { listenerMessage } from '../status/messages.ts';
import { hasErrors, Report, type Problems } from '../status/report.ts';
import { selectVirtualServices } from './selection.ts';
import { listenerTls, type ListenerTls, type TlsClaim } from '../tls/listener-tls.ts';
import { sameList } from '../lists.ts';
import { buildVirtualService, type Owner, type VirtualServiceBuild } from '../virtual-host/virtual-hosts.ts';
import type { TranslationInput } from '../input.ts';

/** The result of one gateway for one proxy. */
export interface ListenerBuild {
  readonly gateway: UsedGateway;
  readonly proxy: string;
  /** The served listener; missing if there is nothing to serve. */
  readonly listener: Listener | undefined;
  /** True if `listener` is the last good one as a whole. */
  readonly frozen: boolean;
  /** Builds of the selected virtual services, sorted by key. */
  readonly builds: readonly VirtualServiceBuild[];
  /** Problems of each build, including conflicts with others. */
  readonly services: readonly Problems[];
  readonly conflicts: Conflicts;
  /** Problems of the gateway and its listener. */
  readonly problems: Problems;
  /** Missing on a plain listener. */
  readonly tls: ListenerTls | undefined;
}

/** The input of a listener, besides its gateway. */
export interface ListenerContext {
  readonly input: TranslationInput;
  readonly proxy: string;
  readonly contested: string | undefined;
  /** What this proxy served for the gateway previously. */
  readonly previous: Listener | undefined;
  readonly before: ListenerBuild | undefined;
  readonly secretsChanged: boolean;
  /** The last good parts of a virtual service that was on another listener. */
  readonly lastGoodOf: (key: ResourceKey) => GoodParts | undefined;
  /** Returns whether a previous build must be rebuilt. */
  readonly outdated: (build: VirtualServiceBuild) => boolean;
}

const EMPTY = {
  listener: undefined,
  frozen: false,
  builds: [],
  services: [],
  conflicts: conflictsOf([], undefined),
  tls: undefined,
};
const NO_OPTIONS = Object.freeze({});

export function buildListener(gateway: UsedGateway, context: ListenerContext): ListenerBuild {
  const { input, proxy, contested, previous } = context;
  const report = new Report();
  for (const fault of gatewayWarnings(gateway, input)) report.warn(fault, undefined);
  const unsupported = unsupportedType(gateway.spec);
  if (unsupported) {
    report.warn(unsupported);
    return { ...EMPTY, gateway, proxy, problems: report.problems() };
  }
  if (contested) report.error(listenerMessage('BindPortNotUniqueError', contested), ['spec', 'bindPort']);
  const { spec, ref } = gateway;
  const selector = { http: spec.httpGateway ?? {}, ssl: spec.ssl ?? false, namespace: ref.namespace, report };
  const selected = selectVirtualServices(selector, input);
  const frozen = report.hasErrors;
  const maxDirectBodyBytes = spec.routeOptions?.maxDirectResponseBodySizeBytes ?? DEFAULTS.directBodyBytes;
  const { extauth } = spec.httpGateway?.options ?? {};
  const builds = buildAll(selected, { logName: `${ref.name}_${proxy}`, maxDirectBodyBytes, extauth }, context);
  const conflicts = conflictsOf(builds, context.before);
  report.repeat(conflicts.all);
  const services = problemsOf(builds, conflicts, context.before);
  const base = { gateway, proxy, builds, services, conflicts, frozen };
  if (frozen) {
    return { ...base, tls: context.before?.tls, listener: previous, problems: report.problems() };
  }
  const { listener, tls } = assemble({ gateway, builds, services, report }, context);
  return { ...base, tls, listener, problems: report.problems() };
}

/** Returns one build per selected virtual service; both lists are sorted by key and walked in parallel. */
function buildAll(selected: readonly StoredResource[], owner: Owner, context: ListenerContext): VirtualServiceBuild[] {
  const old = context.before?.builds ?? [];
  let at = 0;
  return selected.map((stored) => {
    while (at < old.length && old[at]!.stored !== stored && old[at]!.stored.key < stored.key) at++;
    const before = old[at]?.stored.key === stored.key ? old[at++] : undefined;
    const isSame = before?.stored === stored && isSameOwner(before, owner);
    if (isSame && !context.outdated(before)) return before;
    const lastGood = before?.lastGood ?? context.lastGoodOf(stored.key);
    return buildVirtualService(stored, context.input, owner, { build: before, lastGood });
  });
}

function isSameOwner(before: VirtualServiceBuild, owner: Owner): boolean {
  return before.maxDirectBodyBytes === owner.maxDirectBodyBytes && before.extauth === owner.extauth;
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
  const { input, previous, before, secretsChanged } = context;
  const served = servedHosts(parts, previous);
  const tls = gateway.spec.ssl
    ? listenerTls(claimsOf(served, before?.tls), {
        input,
        served: previous?.sslConfigurations ?? [],
        before: before?.tls,
        secretsChanged,
      })
    : undefined;
  if (tls) report.repeat(tls.problems);
  const nothing = builds.length === 0 && !input.settings.translateEmptyGateways;
  if (nothing || tls?.configurations.length === 0) return { listener: undefined, tls };
  const hosts = served.flatMap(({ host }) => (tls?.leftOut.has(host.name) ? [] : [host]));
  const virtualHosts = hosts.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { listener: listenerOf(gateway, { virtualHosts, configurations: tls?.configurations ?? [] }, previous), tls };
}

/** A virtual service and its served virtual host: the build, or its last good version. */
interface Served {
  readonly build: VirtualServiceBuild;
  readonly host: VirtualHost;
  /** True for the last good version, also if only the TLS of the virtual service differs from it. */
  readonly isLastGood: boolean;
}

function servedHosts({ builds, services }: Assembly, previous: Listener | undefined): readonly Served[] {
  const isGood = (i: number) => !hasErrors(services[i]!);
  const failed = builds.filter((_, i) => !isGood(i));
  const fresh = failed.length === 0 ? builds : builds.filter((_, i) => isGood(i));
  const old = failed.length === 0 ? undefined : lastGood(failed, fresh, previous);
  return builds.flatMap((build, i): Served | readonly Served[] => {
    const host = isGood(i) ? build.virtualHost : old!.get(build.virtualHost.name);
    return host ? { build, host, isLastGood: !isGood(i) } : [];
  });
}

/** Last good virtual hosts by name, without domains that belong to others now. */
function lastGood(
  failed: readonly VirtualServiceBuild[],
  fresh: readonly VirtualServiceBuild[],
  previous: Listener | undefined,
): ReadonlyMap<string, VirtualHost> {
  const taken = new Set(fresh.flatMap(({ virtualHost }) => virtualHost.domains));
  const wanted = new Set(failed.map(({ virtualHost }) => virtualHost.name));
  const kept = new Map<string, VirtualHost>();
  for (const host of previous?.virtualHosts ?? []) {
    if (!wanted.has(host.name)) continue;
    const domains = host.domains.filter((domain) => !taken.has(domain));
    if (domains.length === host.domains.length) kept.set(host.name, host);
    else if (domains.length > 0) kept.set(host.name, Object.freeze({ ...host, domains: Object.freeze(domains) }));
  }
  return kept;
}

/** The TLS claims of the virtual hosts; for a last good one, its last good claim. */
function claimsOf(served: readonly Served[], before: ListenerTls | undefined): readonly TlsClaim[] {
  const anyOld = before && served.some(({ isLastGood }) => isLastGood);
  const claims = new Map(anyOld ? before.claims.map((claim) => [claim.host, claim]) : []);
  return served.map(({ build: { resource }, host, isLastGood }) => {
    const { namespace } = resource.metadata;
    const old = isLastGood ? claims.get(host.name) : undefined;
    return old ?? { host: host.name, namespace, sslConfig: resource.spec.sslConfig ?? NO_OPTIONS };
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
    ...(spec.useProxyProto && { useProxyProto: true }),
    options: spec.options ?? NO_OPTIONS,
    httpOptions: spec.httpGateway?.options ?? NO_OPTIONS,
    routeOptions: spec.routeOptions ?? NO_OPTIONS,
    sslConfigurations: sameList(parts.configurations, previous?.sslConfigurations),
    virtualHosts: sameList(parts.virtualHosts, previous?.virtualHosts),
  };
  const keys = Object.keys(now) as (keyof Listener)[];
  return previous && keys.every((key) => now[key] === previous[key]) ? previous : Object.freeze(now);
}
