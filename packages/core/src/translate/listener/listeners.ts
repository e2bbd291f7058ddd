import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type Resource, type ResourceKey } from '../../resource/resource.ts';
import type { VirtualServiceSpec } from '../../schema/kind/virtual-service.ts';
import type { SslConfig } from '../../schema/listener/ssl-config.ts';
import { DEFAULTS } from '../../schema/defaults.ts';
import type { Listener, VirtualHost } from '../../contract/snapshot.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { claimantsOf, conflictsAfter, NO_CONFLICTS, withConflicts, type Conflicts } from './conflicts.ts';
import type { UsedGateway } from './gateways.ts';
import { gatewayWarnings } from './gateway-problems.ts';
import type { GoodParts } from '../virtual-host/last-good.ts';
import { listenerMessage } from '../status/messages.ts';
import type { Outdated } from '../changes.ts';
import { difference, differingRange, rememberRange, type Difference } from '../../ranges.ts';
import { hasErrors, NO_PROBLEMS, Report, type Problems } from '../status/report.ts';
import { descriptorsOf } from '../reference/descriptor-sets.ts';
import { selectVirtualServices } from './selection.ts';
import { listenerTls, type ListenerTls, type TlsClaim } from '../tls/listener-tls.ts';
import { lowerBound, sameList, withItems } from '../lists.ts';
import { hasLogin } from './unserved-logins.ts';
import { buildVirtualService, type Owner, type VirtualServiceBuild } from '../virtual-host/virtual-hosts.ts';
import type { TranslationInput } from '../input.ts';
import type { Steps } from '../../time/slices.ts';

/** The result of one gateway for one proxy. */
export interface ListenerBuild {
  /** The resource with `problems`. */
  readonly owner: ResourceKey;
  /** True for a part of a listener, which is not served on its own. */
  readonly isPart: boolean;
  readonly gateway: UsedGateway;
  readonly proxy: string;
  /** The served listener; missing if there is nothing to serve. */
  readonly listener: Listener | undefined;
  /** True if `listener` is the last good one as a whole. */
  readonly frozen: boolean;
  /** The virtual services that it selects, sorted by key. */
  readonly selected: readonly StoredResource[];
  /** Their builds, in the same order. */
  readonly builds: readonly VirtualServiceBuild[];
  /** Problems of each build, including conflicts with others. */
  readonly services: readonly Problems[];
  /** Builds that need options of the gateway or the host of a login, sorted by key. */
  readonly needy: readonly VirtualServiceBuild[];
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
  readonly outdated: Outdated;
  /** The virtual services that changed since `before`; missing if anything may have changed. */
  readonly changedServices: readonly ResourceKey[] | undefined;
}

/** A build without virtual services. */
export const NO_BUILDS = {
  listener: undefined,
  frozen: false,
  selected: [],
  builds: [],
  services: [],
  needy: [],
  conflicts: NO_CONFLICTS,
  tls: undefined,
};
const NO_OPTIONS = Object.freeze({});
const HTTP: FieldPath = ['spec', 'httpGateway'];

/** How an HTTP gateway is a part of a listener. */
export interface HttpPart {
  readonly owner: ResourceKey;
  /** Path of the HTTP gateway. */
  readonly at: FieldPath;
  /** Default namespace of references. */
  readonly namespace: string;
  /** TLS of the part, for virtual services without their own. */
  readonly sslConfig?: SslConfig | undefined;
  /** Selects among the virtual services of the gateway. */
  readonly selects?: (resource: Resource<VirtualServiceSpec>) => boolean;
}

/** Builds the listener of an HTTP gateway, or a part of one. */
export function* buildListener(gateway: UsedGateway, context: ListenerContext, part?: HttpPart): Steps<ListenerBuild> {
  const { input, proxy, contested, previous } = context;
  const report = new Report();
  for (const fault of gatewayWarnings(gateway, input)) report.warn(fault, undefined);
  if (contested) report.error(listenerMessage('BindPortNotUniqueError', contested), ['spec', 'bindPort']);
  const { spec, ref } = gateway;
  const { owner, at, namespace } = part ?? { at: HTTP, owner: keyOf('Gateway', ref), namespace: ref.namespace };
  const selector = { http: spec.httpGateway ?? {}, ssl: spec.ssl ?? false, namespace, report, at };
  const { changedServices } = context;
  const known = context.before?.gateway === gateway ? context.before : undefined;
  const all = selectVirtualServices(
    selector,
    input,
    known && changedServices && { selected: known.selected, changed: changedServices },
  );
  const { selects } = part ?? {};
  const selected = selects ? all.filter(({ resource }) => selects(resource as Resource<VirtualServiceSpec>)) : all;
  const frozen = report.hasErrors;
  const maxDirectBodyBytes = spec.routeOptions?.maxDirectResponseBodySizeBytes ?? DEFAULTS.directBodyBytes;
  const { extauth, ratelimitServer } = spec.httpGateway?.options ?? {};
  const hostOwner = { logName: `${ref.name}_${proxy}`, maxDirectBodyBytes, extauth, ratelimitServer };
  // Parts of a listener select virtual services in other ways.
  const builds =
    (part ? undefined : yield* buildChanged(selected, hostOwner, context, known)) ??
    (yield* buildAll(selected, hostOwner, context, known));
  const changed = difference(builds, context.before?.builds ?? []);
  const conflicts = conflictsAfter(
    context.before?.conflicts ?? NO_CONFLICTS,
    changed.removed.map(({ virtualHost }) => virtualHost),
    changed.added.map(({ virtualHost }) => virtualHost),
  );
  report.repeat(conflicts.all);
  const services = problemsOf(builds, conflicts, context.before);
  const needy = needyAfter(context.before?.needy ?? [], changed);
  const base = {
    owner,
    isPart: part !== undefined,
    gateway,
    proxy,
    selected,
    builds,
    services,
    needy,
    conflicts,
    frozen,
  };
  if (frozen) {
    return { ...base, tls: context.before?.tls, listener: previous, problems: report.problems() };
  }
  const place = { at, namespace, stored: part ? input.stored.get(owner) : gateway.stored };
  const parts = { gateway, builds, services, conflicts, changed, report, known, sslConfig: part?.sslConfig, place };
  const { listener, tls } = assemble(parts, context);
  return { ...base, tls, listener, problems: report.problems() };
}

/** Returns the builds of the previous listener of the same gateway with those of changed virtual services; `undefined` if others may change too. */
function* buildChanged(
  selected: readonly StoredResource[],
  owner: Owner,
  context: ListenerContext,
  known: ListenerBuild | undefined,
): Steps<readonly VirtualServiceBuild[] | undefined> {
  const { changedServices } = context;
  if (!known || !changedServices || context.outdated.any) return undefined;
  const changes: (readonly [string, VirtualServiceBuild | undefined])[] = [];
  for (const key of changedServices) {
    const stored = selected[lowerBound(selected, key, (one) => one.key)];
    const build = known.builds[lowerBound(known.builds, key, (one) => one.stored.key)];
    const before = build?.stored.key === key ? build : undefined;
    if (stored?.key !== key) changes.push([key, undefined]);
    else if (before?.stored === stored) changes.push([key, before]);
    else {
      const lastGood = before?.lastGood ?? context.lastGoodOf(key);
      changes.push([key, buildVirtualService(stored, context.input, owner, { build: before, lastGood })]);
      yield;
    }
  }
  return withItems(known.builds, changes, ({ stored }) => stored.key);
}

/**
 * Returns one build per selected virtual service; both lists are sorted by key and walked in parallel. `known` is the previous
 * listener of the same gateway.
 */
function* buildAll(
  selected: readonly StoredResource[],
  owner: Owner,
  context: ListenerContext,
  known: ListenerBuild | undefined,
): Steps<VirtualServiceBuild[]> {
  const old = context.before?.builds ?? [];
  const kept = context.outdated.any ? undefined : known?.selected;
  const builds: VirtualServiceBuild[] = [];
  let at = 0;
  for (const stored of selected) {
    if (kept?.[at] === stored) {
      builds.push(old[at++]!);
      continue;
    }
    while (at < old.length && old[at]!.stored !== stored && old[at]!.stored.key < stored.key) at++;
    const before = old[at]?.stored.key === stored.key ? old[at++] : undefined;
    const isSame = before?.stored === stored && isSameOwner(before, owner);
    if (isSame && !context.outdated.has(before)) builds.push(before);
    else {
      const lastGood = before?.lastGood ?? context.lastGoodOf(stored.key);
      builds.push(buildVirtualService(stored, context.input, owner, { build: before, lastGood }));
      yield;
    }
  }
  return builds;
}

function isSameOwner(before: VirtualServiceBuild, owner: Owner): boolean {
  return (
    before.maxDirectBodyBytes === owner.maxDirectBodyBytes &&
    before.extauth === owner.extauth &&
    before.ratelimitServer === owner.ratelimitServer
  );
}

function problemsOf(
  builds: readonly VirtualServiceBuild[],
  conflicts: Conflicts,
  before: ListenerBuild | undefined,
): readonly Problems[] {
  if (before?.conflicts.byHost !== conflicts.byHost) return builds.map((build) => withConflicts(build, conflicts));
  const range = differingRange(builds, before.builds);
  const { start, end, oldEnd } = range;
  if (start === end && start === oldEnd) return before.services;
  const changed = builds.slice(start, end).map((build, i) => {
    const isSame = build === before.builds[start + i];
    return isSame ? before.services[start + i]! : withConflicts(build, conflicts);
  });
  const services = before.services.slice(0, start).concat(changed, before.services.slice(oldEnd));
  rememberRange(services, before.services, range);
  return services;
}

/** Returns the indexes of the builds that are new, or have other problems than before. */
export function changedBuilds(
  now: Pick<ListenerBuild, 'builds' | 'services'>,
  before: Pick<ListenerBuild, 'builds' | 'services'>,
): readonly number[] {
  const { start, end, oldEnd } = differingRange(now.builds, before.builds);
  const problems = differingRange(now.services, before.services);
  const isMoved = end !== oldEnd;
  const changed: number[] = [];
  for (let i = Math.min(start, problems.start); i < Math.max(end, problems.end); i++) {
    const own = now.services[i];
    const isInside = i >= start && i < end;
    const old = i < start ? i : i - end + oldEnd;
    const isSame = isInside
      ? !isMoved && now.builds[i] === before.builds[i] && own === before.services[i]
      : own === before.services[old];
    if (!isSame) changed.push(i);
  }
  return changed;
}

function needyAfter(
  before: readonly VirtualServiceBuild[],
  { added, removed }: Difference<VirtualServiceBuild>,
): readonly VirtualServiceBuild[] {
  const isNeedy = (build: VirtualServiceBuild): boolean => build.needs.length > 0 || hasLogin(build);
  const changes = new Map<string, VirtualServiceBuild | undefined>();
  for (const build of removed) if (isNeedy(build)) changes.set(build.stored.key, undefined);
  for (const build of added) if (isNeedy(build)) changes.set(build.stored.key, build);
  return withItems(before, [...changes], ({ stored }) => stored.key);
}

interface Assembly {
  readonly gateway: UsedGateway;
  readonly builds: readonly VirtualServiceBuild[];
  readonly services: readonly Problems[];
  readonly conflicts: Conflicts;
  /** How `builds` differ from the previous ones. */
  readonly changed: Difference<VirtualServiceBuild>;
  readonly report: Report;
  /** The previous listener of the same gateway. */
  readonly known: ListenerBuild | undefined;
  /** See {@link HttpPart}. */
  readonly sslConfig: SslConfig | undefined;
  readonly place: GatewayPlace;
}

/** Where the HTTP gateway is written. */
interface GatewayPlace extends Pick<HttpPart, 'at' | 'namespace'> {
  readonly stored: StoredResource | undefined;
}

function assemble(parts: Assembly, context: ListenerContext): Pick<ListenerBuild, 'listener' | 'tls'> {
  const { gateway, builds, report, known } = parts;
  const { input, previous, before, secretsChanged } = context;
  const nothing = builds.length === 0 && !input.settings.translateEmptyGateways;
  const descriptorSet = nothing ? undefined : descriptorSetOf(gateway, parts.place, input, report);
  if (!gateway.spec.ssl) {
    if (nothing) return { listener: undefined, tls: undefined };
    const isServed = known && previous && known.listener === previous && !known.frozen;
    const virtualHosts = isServed ? patchedHosts(parts, known, previous) : sortedHosts(servedHosts(parts, previous));
    return {
      listener: listenerOf(gateway, { virtualHosts, configurations: [], descriptorSet }, previous),
      tls: undefined,
    };
  }
  const served = servedHosts(parts, previous);
  const tls = listenerTls(claimsOf(served, { before: before?.tls, common: parts.sslConfig, input }), {
    input,
    served: previous?.sslConfigurations ?? [],
    before: before?.tls,
    secretsChanged,
  });
  report.repeat(tls.problems);
  if (nothing || tls.configurations.length === 0) return { listener: undefined, tls };
  const virtualHosts = sortedHosts(served.filter(({ host }) => !tls.leftOut.has(host.name)));
  return {
    listener: listenerOf(gateway, { virtualHosts, configurations: tls.configurations, descriptorSet }, previous),
    tls,
  };
}

function sortedHosts(served: readonly Served[]): VirtualHost[] {
  return served.map(({ host }) => host).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the virtual hosts of a plain listener: those of the previous one, with the changed ones. */
function patchedHosts(parts: Assembly, known: ListenerBuild, previous: Listener): readonly VirtualHost[] {
  const { builds, services, changed } = parts;
  const failed = failedAmong(services);
  const old = lastGood(parts, failed, previous);
  const hosts = new Map<string, VirtualHost | undefined>();
  for (const { virtualHost } of changed.removed) hosts.set(virtualHost.name, undefined);
  for (const i of changedBuilds(parts, known)) hosts.set(builds[i]!.virtualHost.name, builds[i]!.virtualHost);
  for (const i of failed) hosts.set(builds[i]!.virtualHost.name, old.get(builds[i]!.virtualHost.name));
  return withItems(previous.virtualHosts, [...hosts], ({ name }) => name);
}

/** Returns the indexes of problems with errors: few, if any, among many. */
function failedAmong(services: readonly Problems[]): readonly number[] {
  const failed: number[] = [];
  for (let i = 0; i < services.length; i++) {
    const problems = services[i]!;
    if (problems !== NO_PROBLEMS && hasErrors(problems)) failed.push(i);
  }
  return failed;
}

/** A virtual service and its served virtual host: the build, or its last good version. */
interface Served {
  readonly build: VirtualServiceBuild;
  readonly host: VirtualHost;
  /** True for the last good version, also if only the TLS of the virtual service differs from it. */
  readonly isLastGood: boolean;
}

function servedHosts(parts: Assembly, previous: Listener | undefined): readonly Served[] {
  const { builds, services } = parts;
  const isGood = (i: number) => !hasErrors(services[i]!);
  const failed = failedAmong(services);
  const old = lastGood(parts, failed, previous);
  return builds.flatMap((build, i): Served | readonly Served[] => {
    const host = isGood(i) ? build.virtualHost : old.get(build.virtualHost.name);
    return host ? { build, host, isLastGood: !isGood(i) } : [];
  });
}

/** Last good virtual hosts by name, without domains that belong to others now. */
function lastGood(
  { builds, conflicts }: Assembly,
  failed: readonly number[],
  previous: Listener | undefined,
): ReadonlyMap<string, VirtualHost> {
  const wanted = new Set(failed.map((i) => builds[i]!.virtualHost.name));
  const isTaken = (domain: string) => claimantsOf(conflicts, domain).some((name) => !wanted.has(name));
  const kept = new Map<string, VirtualHost>();
  const hosts = previous?.virtualHosts ?? [];
  for (const name of wanted) {
    const host = hosts[lowerBound(hosts, name, (one) => one.name)];
    if (host?.name !== name) continue;
    const domains = host.domains.filter((domain) => !isTaken(domain));
    if (domains.length === host.domains.length) kept.set(host.name, host);
    else if (domains.length > 0) kept.set(host.name, Object.freeze({ ...host, domains: Object.freeze(domains) }));
  }
  return kept;
}

/** The TLS claims of the virtual hosts; for a last good one, its last good claim. */
function claimsOf(
  served: readonly Served[],
  {
    before,
    common,
    input,
  }: { before: ListenerTls | undefined; common: SslConfig | undefined; input: TranslationInput },
): readonly TlsClaim[] {
  const anyOld = before && served.some(({ isLastGood }) => isLastGood);
  const claims = new Map(anyOld ? before.claims.map((claim) => [claim.host, claim]) : []);
  return served.map(({ build: { resource }, host, isLastGood }) => {
    const { namespace } = resource.metadata;
    const old = isLastGood ? claims.get(host.name) : undefined;
    const own = resource.spec.sslConfig ?? NO_OPTIONS;
    const sslConfig = common ? input.derived.of(completed, own, common) : own;
    return old ?? { host: host.name, namespace, sslConfig };
  });
}

/** Returns the TLS of a virtual service, with that of its part where it has none. A source of certificates counts as one. */
function completed(own: SslConfig, common: SslConfig): SslConfig {
  const { secretRef: _secret, sslFiles: _files, sds: _sds, ...rest } = common;
  const hasSource = own.secretRef ?? own.sslFiles ?? own.sds;
  return Object.freeze({ ...(hasSource ? rest : common), ...own });
}

function descriptorSetOf(
  { spec }: UsedGateway,
  { at, namespace, stored }: GatewayPlace,
  input: TranslationInput,
  report: Report,
): string | undefined {
  const transcoder = spec.httpGateway?.options?.grpcJsonTranscoder;
  const { descriptorSet, fault } = descriptorsOf(transcoder, { stored, namespace, resources: input });
  if (fault) report.warn({ ...fault, path: [] }, [...at, 'options', 'grpcJsonTranscoder', ...fault.path]);
  return descriptorSet;
}

type ListenerParts = {
  virtualHosts: readonly VirtualHost[];
  configurations: Listener['sslConfigurations'];
  descriptorSet: string | undefined;
};

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
    ...(parts.descriptorSet !== undefined && { descriptorSet: parts.descriptorSet }),
    routeOptions: spec.routeOptions ?? NO_OPTIONS,
    sslConfigurations: sameList(parts.configurations, previous?.sslConfigurations),
    virtualHosts: sameList(parts.virtualHosts, previous?.virtualHosts),
  };
  const keys = Object.keys({ ...previous, ...now }) as (keyof Listener)[];
  return previous && keys.every((key) => now[key] === previous[key]) ? previous : Object.freeze(now);
}
