import { keyOf } from '../../resource/resource.ts';
import type { Listener, ListenerPart, TlsConfiguration, VirtualHost } from '../../contract/snapshot.ts';
import type { ConnectionMatcher, HttpGateway } from '../../schema/kind/gateway.ts';
import type { TranslationInput } from '../input.ts';
import type { Steps } from '../../time/slices.ts';
import { sameList } from '../lists.ts';
import { contentOf, contentText, digestText, freezeDeep } from '../snapshot/content.ts';
import { listenerMessage } from '../status/messages.ts';
import { Report } from '../status/report.ts';
import { contestedClaims, matchOf } from './connection-match.ts';
import { delegatedGateways } from './delegated-gateways.ts';
import { gatewayWarnings } from './gateway-problems.ts';
import type { UsedGateway } from './gateways.ts';
import type { InnerGateway } from './inner-gateway.ts';
import { isolatedParts, isIsolated } from './isolated-parts.ts';
import { buildListener, NO_BUILDS, type ListenerBuild, type ListenerContext } from './listeners.ts';
import { closedPart, tcpParts } from './tcp-hosts.ts';

/** The input for a gateway with parts, besides that of a listener. */
export interface GatewayContext extends ListenerContext {
  /** Returns the previous build of a part. */
  readonly beforeOf: (part: string) => ListenerBuild | undefined;
}

/** The build of a gateway, and those of its parts by name. */
export interface GatewayBuild {
  readonly build: ListenerBuild;
  readonly parts: ReadonlyMap<string, ListenerBuild>;
}

const NO_PARTS: ReadonlyMap<string, ListenerBuild> = new Map();
const NO_OPTIONS = Object.freeze({});
const NO_MATCHER: ConnectionMatcher = Object.freeze({});

/** Builds the listener of a gateway: as a whole, or from its parts. */
export function* buildGateway(gateway: UsedGateway, context: GatewayContext): Steps<GatewayBuild> {
  const { input } = context;
  const isWhole = gateway.spec.httpGateway && !isIsolated(gateway, input.settings);
  if (isWhole) return { build: yield* buildListener(gateway, context), parts: NO_PARTS };
  const report = new Report();
  if (context.contested)
    report.error(listenerMessage('BindPortNotUniqueError', context.contested), ['spec', 'bindPort']);
  const inner = innerGateways(gateway, report, input);
  if (!gateway.spec.httpGateway) for (const fault of gatewayWarnings(gateway, input)) report.warn(fault, undefined);
  const made: MadeParts[] = [];
  for (const one of inner) made.push(one.http ? yield* httpPart(one, gateway, context) : tcpOf(one, gateway, context));
  const parts = made.flatMap((one) => one.parts);
  for (const claim of contestedClaims(parts.map(({ match }) => match))) {
    report.error(listenerMessage('ProcessingError', `several parts of the gateway claim ${claim}`));
  }
  const hasInline = (gateway.spec.hybridGateway?.matchedGateways ?? []).length > 0;
  const isEmpty = hasInline && parts.length === 0 && made.every(({ build }) => build.problems.length === 0);
  if (isEmpty) report.error('the hybrid gateway has no inner gateways', ['spec', 'hybridGateway']);
  const frozen = report.hasErrors;
  const owner = keyOf('Gateway', gateway.ref);
  for (const { build } of made) {
    if (build.owner === owner) report.add(build.problems);
    else report.repeat(build.problems, `on ${build.owner}: `);
  }
  const listener = frozen ? context.previous : listenerOf(gateway, parts, context);
  const base = { ...NO_BUILDS, owner, isPart: false, gateway, proxy: context.proxy };
  return {
    build: { ...base, frozen, listener, problems: report.problems() },
    parts: new Map(made.map((one) => [one.name, one.build])),
  };
}

function innerGateways(gateway: UsedGateway, report: Report, input: TranslationInput): readonly InnerGateway[] {
  const { spec, ref } = gateway;
  const own = { owner: keyOf('Gateway', ref), namespace: ref.namespace };
  if (spec.tcpGateway) return [{ ...own, at: ['spec', 'tcpGateway'], matcher: NO_MATCHER, tcp: spec.tcpGateway }];
  if (spec.httpGateway) return isolatedParts(gateway, input);
  const { matchedGateways = [], delegatedHttpGateways, delegatedTcpGateways } = spec.hybridGateway ?? {};
  if (matchedGateways.length === 0) return delegatedGateways(gateway, report, input);
  if (delegatedHttpGateways ?? delegatedTcpGateways)
    report.warn('delegated gateways have no effect beside matchedGateways', ['spec', 'hybridGateway']);
  return matchedGateways.map(({ matcher = NO_MATCHER, httpGateway, tcpGateway }, i) => {
    const at = ['spec', 'hybridGateway', 'matchedGateways', i, httpGateway ? 'httpGateway' : 'tcpGateway'];
    return { ...own, at, matcher, ...(httpGateway && { http: httpGateway }), ...(tcpGateway && { tcp: tcpGateway }) };
  });
}

/** The build of an inner gateway, and the parts of the listener that it makes. */
interface MadeParts {
  readonly name: string;
  readonly build: ListenerBuild;
  readonly parts: readonly ListenerPart[];
}

function* httpPart(inner: InnerGateway, gateway: UsedGateway, context: GatewayContext): Steps<MadeParts> {
  const { input, previous } = context;
  const { owner, at, namespace, matcher, http, selects } = inner;
  const name = `${gateway.listener}-${digestText(contentText(matcher)).slice(0, 8)}`;
  const known = previous?.parts?.find((part) => part.name === name);
  const partial = input.derived.of(partGateway, gateway, name, http!, matcher.sslConfig !== undefined);
  const { sslConfig } = matcher;
  const part = { owner, at, namespace, sslConfig: sslConfig && withoutNames(sslConfig), ...(selects && { selects }) };
  const own = { ...context, contested: undefined, previous: known?.http, before: context.beforeOf(name) };
  const build = yield* buildListener(partial, own, part);
  const written = sslConfig?.sniDomains ?? [];
  if (!build.listener) {
    const isMissed = build.builds.length > 0 && written.length > 0;
    return { name, build, parts: isMissed ? [closedPart(name, matchOf(matcher, written))] : [] };
  }
  const names = written.length > 0 ? written : namesOf(build.listener.sslConfigurations);
  const made: ListenerPart = Object.freeze({ name, match: freezeDeep(matchOf(matcher, names)), http: build.listener });
  const isSame = known && known.http === made.http && contentText(known.match) === contentText(made.match);
  return { name, build, parts: [isSame ? known : made] };
}

/** The name of the part tells apart what `derived` keeps for the same gateway. */
function partGateway(gateway: UsedGateway, name: string, httpGateway: HttpGateway, ssl: boolean): UsedGateway {
  const { tcpGateway: _tcp, hybridGateway: _hybrid, ...rest } = gateway.spec;
  return Object.freeze({ ...gateway, listener: name, spec: Object.freeze({ ...rest, ssl, httpGateway }) });
}

function withoutNames(sslConfig: NonNullable<ConnectionMatcher['sslConfig']>) {
  const { sniDomains: _names, ...rest } = sslConfig;
  return Object.freeze(rest);
}

/** Returns all server names of the certificates; none if one is for every name. */
function namesOf(configurations: readonly TlsConfiguration[]): readonly string[] {
  if (configurations.some(({ sniDomains }) => sniDomains.length === 0)) return [];
  return configurations.flatMap(({ sniDomains }) => sniDomains);
}

function tcpOf(inner: InnerGateway, gateway: UsedGateway, context: GatewayContext): MadeParts {
  const { owner, at, namespace, matcher, tcp } = inner;
  const { input, previous, proxy } = context;
  const report = new Report();
  const knownOf = (wanted: string) => previous?.parts?.find(({ name }) => name === wanted);
  const plan = { tcp: tcp ?? {}, matcher, at, namespace, report, listener: gateway.listener, knownOf };
  const parts = tcpParts(plan, input).map((part) => {
    const known = knownOf(part.name);
    return known && contentOf(known, input.derived) === contentOf(part, input.derived) ? known : part;
  });
  const name = `${gateway.listener}-tcp-${owner}-${at.join('.')}`;
  const build = { ...NO_BUILDS, owner, isPart: true, gateway, proxy, problems: report.problems() };
  return { name, build, parts };
}

/** Returns the listener of the parts; the previous one if it is the same. */
function listenerOf(
  gateway: UsedGateway,
  found: readonly ListenerPart[],
  { previous, input }: GatewayContext,
): Listener | undefined {
  if (found.length === 0) return undefined;
  const { spec, ref, bindAddress, bindPort, listener: name } = gateway;
  const parts = sameList(found, previous?.parts);
  const now: Listener = {
    name,
    bindAddress,
    bindPort,
    gateway: previous && previous.gateway.name === ref.name ? previous.gateway : ref,
    ssl: parts.some(({ match }) => match.tls),
    ...(spec.useProxyProto && { useProxyProto: true }),
    options: spec.options ?? NO_OPTIONS,
    httpOptions: NO_OPTIONS,
    routeOptions: spec.routeOptions ?? NO_OPTIONS,
    sslConfigurations: sameList(parts.flatMap(certificatesOf), previous?.sslConfigurations),
    virtualHosts: sameList(hostsOf(parts), previous?.virtualHosts),
    parts,
    type: spec.tcpGateway ? 'tcp' : spec.hybridGateway ? 'hybrid' : 'aggregate',
  };
  const isSame = previous && contentOf(Object.freeze(now), input.derived) === contentOf(previous, input.derived);
  return isSame ? previous : Object.freeze(now);
}

function certificatesOf({ http, tcp }: ListenerPart): readonly TlsConfiguration[] {
  return http?.sslConfigurations ?? tcp?.sslConfigurations ?? [];
}

/** Returns the virtual hosts of all parts, each name once, sorted. */
function hostsOf(parts: readonly ListenerPart[]): readonly VirtualHost[] {
  const hosts = new Map(parts.flatMap(({ http }) => http?.virtualHosts ?? []).map((host) => [host.name, host]));
  return [...hosts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
