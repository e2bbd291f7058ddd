import type { FieldPath } from '../../resource/problem.ts';
import type { Resource, ResourceKey, ResourceRef } from '../../resource/resource.ts';
import type { Matcher } from '../../schema/route/matcher.ts';
import type { ExtAuthServer } from '../../schema/auth/extauth.ts';
import type { RateLimitServer } from '../../schema/route/rate-limit.ts';
import type { RouteOptions } from '../../schema/route/route-options.ts';
import type { VirtualServiceSpec } from '../../schema/kind/virtual-service.ts';
import type { Route, VirtualHost } from '../../contract/snapshot.ts';
import { isFromGatewayApi } from '../../resource/generated.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { authConfigsOf, authProblems, staleAuth, type HasExtAuth } from './auth-refs.ts';
import { needsOfHost, needsOfRoute, type GatewayNeed } from './gateway-needs.ts';
import { Expansion, type Holder, type Leaf } from '../route/delegation.ts';
import { graphqlApisOf } from '../reference/graphql-apis.ts';
import { missingKeyUpstreams } from './key-upstreams.ts';
import { missingShadows } from './shadow-upstreams.ts';
import { LastGood, type GoodParts } from './last-good.ts';
import { routeMessage, virtualHostMessage } from '../status/messages.ts';
import { dotted, logName, routeName } from '../names.ts';
import { virtualHostOptions, Withheld, type OptionSource } from './options.ts';
import { replaceFailed, replacement, WITHHELD } from '../route/replacement.ts';
import { rateLimitConfigsOf } from './rate-limit-refs.ts';
import { limitsWithoutRules, rateLimitProblems, staleLimits } from './rate-limits.ts';
import { Report, type Problems, type SourcedProblem } from '../status/report.ts';
import { hashWarnings } from '../route/hash-destinations.ts';
import { recordWritten, writtenRoute, type WrittenRoute } from '../route/written-route.ts';
import { routeAction, type RouteActionContext } from '../route/route-action.ts';
import { headerProblems, routeProblems } from '../route/route-problems.ts';
import { contentOf } from '../snapshot/content.ts';
import type { Derived } from '../derived.ts';
import { shortCircuits } from '../route/short-circuit.ts';
import { subsetProblems } from '../route/subsets.ts';
import { transformationProblems } from './effective-transformations.ts';
import { Reader, type Dependencies, type TranslationInput } from '../input.ts';

/** The virtual host built from a virtual service, with all problems. */
export interface VirtualServiceBuild {
  readonly stored: StoredResource;
  readonly resource: Resource<VirtualServiceSpec>;
  /** The virtual host; must not be served if there are errors. */
  readonly virtualHost: VirtualHost;
  readonly problems: Problems;
  /** Reports of every visited route table. */
  readonly tables: ReadonlyMap<ResourceKey, Problems>;
  readonly dependencies: Dependencies;
  /** Options of the gateway that its routes need. */
  readonly needs: readonly GatewayNeed[];
  /** The last good parts for later broken references. */
  readonly lastGood: GoodParts;
  readonly maxDirectBodyBytes: number;
  /** Of the listener. */
  readonly extauth: ExtAuthServer | undefined;
  readonly ratelimitServer: RateLimitServer | undefined;
}

/** The input of a virtual host from its gateway. */
export interface Owner {
  /** `<gateway>_<proxy>`, the prefix of names in logs. */
  readonly logName: string;
  /** Maximum body size of a direct response. */
  readonly maxDirectBodyBytes: number;
  /** External auth of the listener, instead of that of the Settings. */
  readonly extauth: ExtAuthServer | undefined;
  /** The rate limit server of the listener, instead of that of the Settings. */
  readonly ratelimitServer: RateLimitServer | undefined;
}

/** The previous translation's state of a virtual service. */
export interface BuiltBefore {
  /** For the same listener. */
  readonly build?: VirtualServiceBuild;
  /** For any listener. */
  readonly lastGood?: GoodParts;
}

const NO_GOOD_PARTS: GoodParts = { actions: new Map(), options: new Map(), tables: new Map() };

/** Builds the virtual host of one virtual service. Parts equal to those of the previous build are the same objects. */
export function buildVirtualService(
  stored: StoredResource,
  input: TranslationInput,
  owner: Owner,
  { build: before, lastGood: goodParts }: BuiltBefore,
): VirtualServiceBuild {
  const resource = stored.resource as Resource<VirtualServiceSpec>;
  const { name, namespace } = resource.metadata;
  const holder: Holder = { kind: 'VirtualService', ref: Object.freeze({ name, namespace }), report: new Report() };
  const lastGood = new LastGood(goodParts);
  const { namedExtauth, extauth } = input.settings.served;
  const reader = new Reader(input, { extauth: owner.extauth ?? extauth, namedExtauth }, owner.ratelimitServer);
  const expansion = new Expansion(reader, holder, lastGood, isFromGatewayApi(resource.metadata));
  const { virtualHost, needs } = virtualHostOf(resource.spec, expansion, owner);
  const tables = expansion.tables.size > 0 ? new Map<ResourceKey, Problems>() : NO_TABLES;
  for (const [key, table] of expansion.tables) {
    const problems = table.report.problems();
    (tables as Map<ResourceKey, Problems>).set(key, problems);
    holder.report.repeat(problems, `on sub route table ${dotted(table.ref)}: `);
  }
  return Object.freeze({
    stored,
    resource,
    virtualHost: keepSame(virtualHost, before?.virtualHost, input.derived),
    problems: holder.report.problems(),
    tables,
    dependencies: compact(expansion.reader.dependencies),
    needs,
    // A virtual host with errors was never served.
    lastGood: holder.report.hasErrors ? (goodParts ?? NO_GOOD_PARTS) : lastGood.parts(),
    maxDirectBodyBytes: owner.maxDirectBodyBytes,
    extauth: owner.extauth,
    ratelimitServer: owner.ratelimitServer,
  });
}

const NO_TABLES: ReadonlyMap<ResourceKey, Problems> = new Map();
const NO_NAMES: ReadonlySet<never> = new Set();

/** Most builds search no names: they share a set. */
function compact({ keys, names, everyTable, services }: Reader['dependencies']): Dependencies {
  return { keys, names: names.size > 0 ? names : NO_NAMES, everyTable, services };
}

/** Key of the last good options of the virtual host itself. */
const HOST_KEYS: readonly string[] = Object.freeze(['virtual host']);

function virtualHostOf(
  spec: VirtualServiceSpec,
  expansion: Expansion,
  owner: Owner,
): Pick<VirtualServiceBuild, 'virtualHost' | 'needs'> {
  const { reader, top, lastGood } = expansion;
  const { report, ref } = top;
  const { namespace } = ref;
  if (!spec.virtualHost) report.warn('the virtual service has no virtualHost', ['spec']);
  const written = spec.virtualHost ?? {};
  const withheld = expansion.needsShared ? new Withheld() : undefined;
  const optionContext = { namespace, reader, report, at: HOST, lastGood, keys: HOST_KEYS, withheld };
  const options = virtualHostOptions(written, optionContext);
  const fail = (at: FieldPath) => (fault: SourcedProblem) =>
    report.error({ ...fault, message: virtualHostMessage('ProcessingError', fault.message) }, at);
  headerProblems(options.headerManipulation, reader).forEach(fail(HOST));
  authProblems(options.extauth, reader).forEach(fail(authField(written, HOST)));
  const stale = staleAuth(options.extauth, reader);
  if (stale !== undefined) report.warn(stale, authField(written, HOST));
  const host = { written, kind: 'VirtualHostOption', namespace, at: HOST } as const;
  for (const fault of rateLimitProblems(options, host, reader)) fail(fault.path)(fault);
  for (const fault of staleLimits(options, host, reader)) report.warn(fault);
  for (const fault of limitsWithoutRules(options, host, reader)) report.warn(fault);
  for (const fault of transformationProblems(options, host, reader)) fail(fault.path)(fault);
  for (const fault of missingKeyUpstreams(options, reader, HOST)) report.warn(fault);
  const name = dotted(ref);
  const leaves = expansion.leaves(written.routes ?? [], options);
  const logOwner = `${owner.logName}_${namespace}_${ref.name}`;
  const { maxDirectBodyBytes } = owner;
  const needs = [...needsOfHost(options, host, top, reader)];
  const context = {
    name,
    logOwner,
    maxDirectBodyBytes,
    reader,
    lastGood,
    hostOptions: options,
    withheld: withheld?.reason,
    needs,
    limitedNames: new Set<string>(),
  };
  const routes = leaves.map((leaf, index) => routeOf(leaf, index, context));
  if (reader.input.settings.warnShortCircuits) for (const warning of shortCircuits(routes)) report.warn(warning);
  const domains = effectiveDomains(written.domains);
  const authConfigs = authConfigsOf({ options, routes }, reader);
  const rateLimitConfigs = rateLimitConfigsOf({ options, routes }, reader);
  const graphqlApis = graphqlApisOf(routes, reader, lastGood.keptApis);
  const parts = { routes: Object.freeze(routes), authConfigs, rateLimitConfigs, graphqlApis };
  return { virtualHost: Object.freeze({ name, virtualService: ref, domains, options, ...parts }), needs };
}

const HOST: FieldPath = ['spec', 'virtualHost'];

/** Returns the path of a reference to an AuthConfig or an auth server: in the block itself, or in shared options. */
function authField({ options, optionsConfigRefs }: OptionSource<HasExtAuth>, at: FieldPath): FieldPath {
  if (options?.extauth) return [...at, 'options', 'extauth', options.extauth.customAuth ? 'customAuth' : 'configRef'];
  return optionsConfigRefs ? [...at, 'optionsConfigRefs'] : at;
}

interface RouteContext extends RouteActionContext {
  /** Of the virtual host. */
  readonly name: string;
  readonly logOwner: string;
  /** Collects what the routes need. */
  readonly needs: GatewayNeed[];
  /** Names of routes with `ratelimitBasic`. */
  readonly limitedNames: Set<string>;
  readonly maxDirectBodyBytes: number;
  /** Why the requests of all routes are rejected. */
  readonly withheld: string | undefined;
}

function routeOf(leaf: Leaf, index: number, context: RouteContext): Route {
  const { name, logOwner, maxDirectBodyBytes, reader, limitedNames } = context;
  const { holder, label, spec, matchers } = leaf;
  const { settings } = reader.input;
  const options = withDefaults(leaf.options, settings.appendXForwardedHost);
  let action = routeAction(leaf, context);
  context.needs.push(...needsOfRoute(leaf, action, reader));
  const route = { written: spec, kind: 'RouteOption', namespace: holder.ref.namespace, at: leaf.at } as const;
  const judged = { name: spec.name, matchers, options, action, maxDirectBodyBytes, holder: route, limitedNames };
  const [problem, ...more] = routeProblems(judged, reader);
  for (const fault of problem === undefined ? [] : [problem, ...more]) {
    const isAuth = authProblems(options.extauth, reader).some(({ message }) => message === fault.message);
    const own = fault.path.length > 0 ? fault.path : leaf.at;
    const at = isAuth ? authField(spec, leaf.at) : own;
    const found = { ...fault, message: routeMessage('ProcessingError', fault.message, label) };
    if (settings.invalidRoutes.demoteErrors) holder.report.warn(found, at);
    else holder.report.error(found, at);
  }
  for (const fault of missingKeyUpstreams(options, reader, leaf.at)) holder.report.warn(fault);
  for (const fault of staleLimits(options, route, reader)) holder.report.warn(fault);
  if (problem === undefined) {
    for (const fault of limitsWithoutRules(options, route, reader)) holder.report.warn(fault);
  }
  const stale = staleAuth(options.extauth, reader);
  if (stale !== undefined) holder.report.warn(stale, authField(spec, leaf.at));
  for (const [i, { options: own }] of (action.type === 'forward' ? action.destinations : []).entries()) {
    const warning = staleAuth(own.extauth, reader);
    const path = spec.routeAction?.multi ? ['routeAction', 'multi', 'destinations', i, 'options', 'extauth'] : [];
    if (warning !== undefined) holder.report.warn(warning, [...leaf.at, ...path]);
  }
  for (const fault of missingShadows(options, reader, leaf.at)) holder.report.warn(fault);
  for (const fault of [...subsetProblems(action, reader).warnings, ...hashWarnings(action, options, reader)]) {
    const message = routeMessage('InvalidDestinationWarning', fault.message, label);
    holder.report.warn({ ...fault, message }, leaf.at);
  }
  if (problem !== undefined) action = replaceFailed(action, settings.invalidRoutes, problem.message);
  const withheld = context.withheld ?? leaf.withheld;
  if (withheld !== undefined) action = replacement(WITHHELD, withheld);
  const built = Object.freeze({
    name: routeName(name, index, spec.name),
    logName: logName(logOwner, leaf.steps),
    matchers: frozenList(matchers),
    action,
    options,
    source: reader.input.derived.of(sourceOf, holder.ref, holder.kind),
  });
  recordWritten(built, placeOf(leaf));
  return built;
}

function placeOf({ holder: { kind, ref }, at, above }: Pick<Leaf, 'holder' | 'at' | 'above'>): WrittenRoute {
  return { kind, ref, at, above: above && placeOf(above) };
}

/** Matchers that no other route adds to are those of the resource, which are frozen. */
function frozenList(matchers: readonly Matcher[]): readonly Matcher[] {
  return Object.isFrozen(matchers) ? matchers : Object.freeze(matchers.map((matcher) => Object.freeze(matcher)));
}

function sourceOf({ name, namespace }: ResourceRef, kind: Holder['kind']): Route['source'] {
  return Object.freeze({ kind, name, namespace });
}

const HOST_REWRITES = ['hostRewrite', 'autoHostRewrite', 'hostRewriteHeader', 'hostRewritePathRegex'] as const;

function withDefaults(options: RouteOptions, appendXForwardedHost: boolean | undefined): RouteOptions {
  if (appendXForwardedHost === undefined || options.appendXForwardedHost !== undefined) return options;
  if (!HOST_REWRITES.some((key) => options[key] !== undefined)) return options;
  return Object.freeze({ ...options, appendXForwardedHost });
}

/** Returns `before` if nothing differs, else `now` with the unchanged routes of `before`. */
function keepSame(now: VirtualHost, before: VirtualHost | undefined, derived: Derived): VirtualHost {
  if (!before) return now;
  if (contentOf(now, derived) === contentOf(before, derived)) {
    for (const [i, route] of now.routes.entries()) recordWritten(before.routes[i]!, writtenRoute(route));
    return before;
  }
  const known = new Map(before.routes.map((route) => [route.name, route]));
  const routes = now.routes.map((route) => sameRoute(route, known.get(route.name), derived));
  const domains = now.domains.join() === before.domains.join() ? before.domains : now.domains;
  return Object.freeze({ ...now, domains, routes: Object.freeze(routes) });
}

function sameRoute(now: Route, before: Route | undefined, derived: Derived): Route {
  if (!before || contentOf(now, derived) !== contentOf(before, derived)) return now;
  recordWritten(before, writtenRoute(now));
  return before;
}

/** Returns the served domains of a virtual host: lower case, unique; an empty list means every domain. */
function effectiveDomains(written: readonly string[] | undefined): readonly string[] {
  if (!written || written.length === 0) return EVERY_DOMAIN;
  return Object.freeze([...new Set(written.map((domain) => domain.toLowerCase()))]);
}

const EVERY_DOMAIN: readonly string[] = Object.freeze(['*']);
