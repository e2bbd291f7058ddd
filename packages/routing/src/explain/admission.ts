import type { Context, Snapshot } from '@edge-gateway/core';
import { routeAgain, type RouteDecision, type RouteTable } from '../route/route-request.ts';
import type { Admission, ExplainedReply, RoutePlace, RouteVerdict } from './explanation.ts';
import type { ExplainedRequest } from './explained-request.ts';
import { judgeRoutes } from './route-verdicts.ts';
import { createTransformer } from './transformer.ts';

/** What stands for the concerns of an explained request. */
export interface AdmissionParts {
  readonly snapshot: Snapshot;
  readonly table: RouteTable;
  readonly context: Context;
  readonly admit: Admission | undefined;
}

/** The last decision on a request, and what preceded it. */
export interface Admitted {
  readonly decision: Pick<RouteDecision, 'host' | 'entry'>;
  readonly routes: readonly RouteVerdict[];
  /** The response of a concern that rejects the request. */
  readonly refused: ExplainedReply | undefined;
}

/** Has a routed request admitted and transformed, which may lead to other routes. */
export function admitRequest(
  { snapshot, table, context, admit }: AdmissionParts,
  request: ExplainedRequest,
  first: Pick<RouteDecision, 'host' | 'entry'>,
): Admitted {
  let decision = first;
  let routes: readonly RouteVerdict[] = [];

  /** Takes a decision; returns nothing where there is no route, or it cannot be compiled and responds by itself. */
  function take(next: Pick<RouteDecision, 'host' | 'entry'>): RoutePlace | undefined {
    const { host, entry } = (decision = next);
    request.take(next);
    routes = host ? judgeRoutes(host.value.source.routes, request.head) : [];
    if (!host || !entry || entry.route.compiled.action.type === 'failed') return undefined;
    return { virtualHost: host.value.source, route: entry.route.compiled.source };
  }

  let place = take(first);
  if (!place) return { decision, routes, refused: undefined };
  const facts = request.shareFacts();
  const transform = createTransformer({ message: request.message, context, snapshot, place: () => place });
  const reroute = (): RoutePlace | undefined => {
    request.takeFacts(facts);
    return (place = take(routeAgain(request.head, table)));
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
  return { decision, routes, refused };
}
