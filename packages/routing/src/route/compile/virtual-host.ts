import {
  noteSecrets,
  type ActionKind,
  type Context,
  type GatewayError,
  type Handler,
  type Logger,
  type Responder,
  type Route,
  type SecretUse,
  type StateHold,
  type SnapshotSettings,
  type VirtualHost,
} from '@edge-gateway/core';
import { compileMatcher, literalPrefix, type CompiledMatcher } from '../match/matcher.ts';
import { createRouteIndex, type RouteEntry, type RouteIndex } from '../match/route-index.ts';
import { compileHeaderManipulation, orderLevels, type HeaderOps } from '../options/header-manipulation.ts';
import { compileShadowing, type Shadow } from '../options/shadowing.ts';
import { compileVirtualClusters, type VirtualClusters } from '../options/virtual-clusters.ts';
import type { ManagerSettings } from '../options/manager-settings.ts';
import { guardedPathsOf, type GuardedPaths } from './guarded-paths.ts';
import { createChainCompiler, filtersOf, type ChainInput, type OptionLevels } from './chain.ts';
import {
  compileAction,
  type CompiledAction,
  type CompiledRoute,
  type MatchedRoute,
  type RouteEnvironment,
} from './route.ts';
import { compileRouteTracing } from '../../tracing/route-tracing.ts';

export interface HostEnvironment extends ChainInput {
  readonly actions: readonly ActionKind[];
  readonly context: Context;
  readonly settings: ManagerSettings;
  readonly shared: SnapshotSettings;
  readonly mostSpecificWins: boolean;
  /** Called when a virtual host reads its first secret, which may be while it is compiled. */
  readonly onSecretUse?: (source: VirtualHost) => void;
}

/** Compiles a virtual host. Never throws: a route that cannot be compiled responds with 500 and is logged. */
export function compileVirtualHost(source: VirtualHost, environment: HostEnvironment): CompiledHost {
  const { context } = environment;
  const hold = context.holdStates?.();
  const secrets = noteSecrets(hold ? { ...context, state: hold.state.bind(hold) } : context, () =>
    environment.onSecretUse?.(source),
  );
  const scope = { virtualHost: source, settings: environment.shared };
  const chains = createChainCompiler(environment, secrets.context, scope);
  const responders = new Set<Responder>();
  const shadows: Shadow[] = [];
  const levelOps = new Map<unknown, HeaderOps>();
  const headersOf = (level: OptionLevels[number]): HeaderOps => {
    const block = level?.['headerManipulation'] as VirtualHost['options']['headerManipulation'];
    let ops = levelOps.get(block);
    if (!ops) levelOps.set(block, (ops = compileHeaderManipulation(block, secrets.context)));
    return ops;
  };
  const routeEnvironment: RouteEnvironment = {
    hostOptions: source.options,
    upgrades: environment.settings.upgrades,
    suppressEnvoyHeaders: environment.settings.suppressEnvoyHeaders,
    maxStreamMs: environment.settings.maxStreamMs,
    respond(route) {
      const kind = environment.actions.find(({ action }) => action === route.action.type);
      if (!kind) throw new Error(`no handler for route action ${route.action.type}`);
      const responder = kind.compile(route.action, secrets.context, { ...scope, route });
      responders.add(responder);
      return responder;
    },
    shadow({ shadowing }) {
      const shadow = compileShadowing(shadowing, secrets.context);
      if (shadow) shadows.push(shadow);
      return shadow;
    },
    plan(levels) {
      const chain = chains.compile(levels);
      const headers = orderLevels(levels.map(headersOf), environment.mostSpecificWins);
      const postRouting = chains.compilePostRouting(levels);
      return { chain, headers, postRouting, filters: filtersOf(postRouting ? [...chain, ...postRouting] : chain) };
    },
  };
  const failures: RouteFailure[] = [];
  const entries = entriesOf(source, routeEnvironment, { log: context.log.get('config'), failures });
  const handlers: readonly (Handler | Responder)[] = [...chains.handlers, ...responders];
  return new CompiledHost({
    source,
    index: createRouteIndex(entries) as RouteIndex<MatchedRoute>,
    guarded: environment.settings.allowsAmbiguousRequests ? undefined : guardedPathsOf(source),
    secrets: secrets.used,
    virtualClusters: virtualClustersOf(source, context),
    handlers: handlers.length > 0 ? handlers : NO_HANDLERS,
    shadows: shadows.length > 0 ? shadows : NO_SHADOWS,
    hold,
    failures: failures.length > 0 ? failures : NO_FAILURES,
  });
}

/** A route that cannot be compiled: it responds with 500. */
export interface RouteFailure {
  /** Its place in the virtual host. */
  readonly index: number;
  readonly reason: string;
}

const NO_FAILURES: readonly RouteFailure[] = Object.freeze([]);
const NO_HANDLERS: readonly Handler[] = Object.freeze([]);
const NO_SHADOWS: readonly Shadow[] = Object.freeze([]);

interface HostParts {
  readonly source: VirtualHost;
  readonly index: RouteIndex<MatchedRoute>;
  readonly guarded: GuardedPaths | undefined;
  readonly secrets: SecretUse['used'];
  readonly virtualClusters: VirtualClusters | undefined;
  readonly handlers: readonly (Handler | Responder)[];
  readonly shadows: readonly Shadow[];
  readonly hold: StateHold | undefined;
  readonly failures: readonly RouteFailure[];
}

/** A virtual host ready to serve. A class rather than a closure, so that it does not retain the compilation context. */
export class CompiledHost {
  readonly source: VirtualHost;
  readonly index: RouteIndex<MatchedRoute>;
  /** Set if policies depend on the path: then paths and headers that upstreams may read differently are rejected. */
  readonly guarded: GuardedPaths | undefined;
  /** The secrets that it uses. */
  readonly secrets: SecretUse['used'];
  readonly virtualClusters: VirtualClusters | undefined;
  /** Closed when the host was removed and its last request has ended. */
  readonly handlers: readonly (Handler | Responder)[];
  readonly failures: readonly RouteFailure[];
  inFlight = 0;
  retired = false;
  readonly #shadows: readonly Shadow[];
  readonly #hold: StateHold | undefined;

  constructor({ source, index, guarded, secrets, virtualClusters, handlers, shadows, hold, failures }: HostParts) {
    this.source = source;
    this.index = index;
    this.guarded = guarded;
    this.secrets = secrets;
    this.virtualClusters = virtualClusters;
    this.handlers = handlers;
    this.failures = failures;
    this.#shadows = shadows;
    this.#hold = hold;
  }

  /** Ends shadow requests, and releases state that outlives reloads. */
  release(): void {
    for (const shadow of this.#shadows) shadow.close();
    this.#hold?.release();
  }
}

/** Statistics that cannot be compiled are omitted: they decide nothing. */
function virtualClustersOf(source: VirtualHost, context: Context): VirtualClusters | undefined {
  try {
    return compileVirtualClusters(source, context.metrics);
  } catch (error) {
    const fields = { virtualHost: source.name, reason: messageOf(error) };
    context.log.get('config').error(fields, 'invalid virtual clusters, requests are not counted');
    return undefined;
  }
}

function entriesOf(
  source: VirtualHost,
  environment: RouteEnvironment,
  { log, failures }: { readonly log: Logger; readonly failures: RouteFailure[] },
): RouteEntry<MatchedRoute>[] {
  const entries: RouteEntry<MatchedRoute>[] = [];
  let lastReason = '';
  for (const [index, route] of source.routes.entries()) {
    const own = compileRoute(route, environment);
    for (const [j, matcher] of route.matchers.entries()) {
      const name = [route.name, 'matcher', j].join('-');
      const { matcher: compiledMatcher, compiled } = compileEntry(matcher, own);
      entries.push({ order: entries.length, matcher: compiledMatcher, route: { name, ...compiled } });
      if (compiled.action.type !== 'failed' || compiled.action.code === 'ERR_ROUTING_SECRETS_PENDING') continue;
      if (failures.at(-1)?.index !== index) failures.push({ index, reason: compiled.action.reason });
      // A reason that affects a whole virtual host is logged once.
      if (compiled.action.reason === lastReason) continue;
      lastReason = compiled.action.reason;
      log.error({ route: route.name, source: route.source, reason: lastReason }, 'invalid route, responding with 500');
    }
  }
  return entries;
}

/** One matcher with its route. An invalid matcher fails alone: the others still match. */
function compileEntry(matcher: Route['matchers'][number], compiled: CompiledRoute) {
  try {
    return { matcher: compileMatcher(matcher), compiled };
  } catch (error) {
    const { source } = compiled;
    const failed: CompiledRoute = { source, action: failedBy(error) };
    return { matcher: widened(matcher), compiled: failed };
  }
}

function compileRoute(route: Route, environment: RouteEnvironment): CompiledRoute {
  try {
    const tracing = compileRouteTracing(route.options.tracing);
    return { source: route, action: compileAction(route, environment), tracing };
  } catch (error) {
    return { source: route, action: failedBy(error) };
  }
}

function failedBy(error: unknown): Extract<CompiledAction, { readonly type: 'failed' }> {
  const isPending = (error as Partial<GatewayError>).code === 'ERR_CORE_SECRETS_PENDING';
  return {
    type: 'failed',
    reason: messageOf(error),
    code: isPending ? 'ERR_ROUTING_SECRETS_PENDING' : 'ERR_ROUTING_ROUTE',
  };
}

/** Returns a matcher for every request that the invalid one may have matched. */
function widened(matcher: Route['matchers'][number]): CompiledMatcher {
  const text = matcher.exact ?? matcher.prefix ?? literalPrefix(matcher.regex ?? '');
  const kind = matcher.exact === undefined ? 'prefix' : 'exact';
  const ignoreCase = matcher.caseSensitive === false;
  return { kind, text: ignoreCase ? text.toLowerCase() : text, ignoreCase, regex: undefined, conditions: [] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
