import type { ActionKind, Context, Listener, Snapshot, VirtualHost } from '@edge-gateway/core';
import { compileVirtualHost, type CompiledHost } from '../route/compile/virtual-host.ts';
import { createDomainIndex } from '../route/match/domain.ts';
import { findRoute } from '../route/match/route-index.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { earlyTransformationConcern, regularTransformationConcern } from '../transform/concern.ts';
import type { Admission, ExplainedReply, RoutePlace, RouteVerdict } from './explanation.ts';
import type { ExplainedRequest } from './explained-request.ts';
import { judgeRoutes } from './route-verdicts.ts';
import { createTransformer } from './transformer.ts';

/** Nothing is answered here; that something would is enough to explain it. */
const EXPLAINED_ACTIONS: readonly ActionKind[] = [{ action: 'graphql', compile: () => () => {} }];
/** Compiled so that a route of which one cannot be is known; what they do is explained step by step. */
const CONCERNS = [earlyTransformationConcern, regularTransformationConcern];

/** Where a request is explained. */
export interface WayParts {
  readonly snapshot: Snapshot;
  readonly listener: Listener;
  readonly settings: ManagerSettings;
  readonly context: Context;
  readonly admit: Admission | undefined;
}

/** A virtual host, and by which of its domains it was found. */
export interface FoundHost {
  readonly host: VirtualHost;
  readonly domain: string;
}

/** The way of a request to its route, which is on the request. */
export interface Way {
  /** Missing where no virtual host has the domain. */
  readonly found: FoundHost | undefined;
  readonly routes: readonly RouteVerdict[];
  /** The answer when it is not let in. */
  readonly refused: ExplainedReply | undefined;
}

/** Finds virtual host and route, and has the request admitted and transformed, which may lead to others. */
export function explainWay(parts: WayParts, request: ExplainedRequest): Way {
  const { listener, snapshot, context, admit } = parts;
  const find = createDomainIndex(
    listener.virtualHosts.flatMap((value) => value.domains.map((domain) => ({ domain, value }))),
  );
  const compiled = new Map<VirtualHost, CompiledHost>();
  let found: FoundHost | undefined;
  let routes: readonly RouteVerdict[] = [];

  /** Nothing where there is no route, or it answers by itself because it cannot be compiled. */
  function choose(): RoutePlace | undefined {
    const entry = find(request.authority);
    found = entry && { host: entry.value, domain: entry.domain };
    request.entry = undefined;
    routes = found ? judgeRoutes(found.host.routes, request) : [];
    if (!found) return undefined;
    const { host } = found;
    if (!compiled.has(host)) compiled.set(host, compileHost(host, parts));
    request.entry = findRoute(compiled.get(host)!.index, request);
    if (!request.entry) return undefined;
    request.take(request.entry, host.name);
    const { source, action } = request.entry.route.compiled;
    return action.type === 'failed' ? undefined : { virtualHost: host, route: source };
  }

  let place = choose();
  if (!place) return { found, routes, refused: undefined };
  const message = request.shareFacts();
  const facts = request.facts!;
  const transform = createTransformer({ message, context, snapshot, place: () => place });
  const reroute = (): RoutePlace | undefined => {
    request.takeFacts(facts);
    return (place = choose());
  };
  let refused = admit?.({ ...place, facts, transform, reroute });
  const stages = ['early', 'regular'] as const;
  for (let i = 0; i < stages.length && !refused; i++) {
    refused = transform(stages[i]!);
    if (refused || !facts.reroute) continue;
    facts.reroute = false;
    if (reroute()) i = -1;
  }
  request.takeFacts(facts);
  return { found, routes, refused };
}

function compileHost(host: VirtualHost, { listener, settings, context, snapshot }: WayParts): CompiledHost {
  return compileVirtualHost(host, {
    actions: EXPLAINED_ACTIONS,
    concerns: CONCERNS,
    context,
    settings,
    shared: snapshot.settings,
    mostSpecificWins: listener.routeOptions.mostSpecificHeaderMutationsWins === true,
  });
}
