import { ServerResponse, type IncomingMessage } from 'node:http';
import { GatewayError, type Facts, type Handler } from '@edge-gateway/core';
import { NO_METADATA, NO_RESULT, type RequestRecord } from '../format/record.ts';
import type { CompiledDestination, ForwardPolicy, Plan } from '../route/compile/route.ts';
import type { DownstreamHead } from '../route/downstream-head.ts';
import { routeAgain, type IncomingRequest, type RouteDecision } from '../route/route-request.ts';
import { RequestRoute, shareFacts, applyRequestChanges, type OutgoingRequest } from '../serve/outgoing-request.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { PickContext } from '../upstream/hosts/pick-context.ts';
import type { ExplainedTable } from './explained-table.ts';
import { FIRST_EFFECTS, LAST_EFFECTS } from './effects/all-effects.ts';
import type { BlockOf, EffectInput, EffectRule } from './effects/effect.ts';
import type {
  Admission,
  ExplainedReply,
  OptionEffect,
  RequestToExplain,
  RoutePlace,
  RouteVerdict,
} from './explanation.ts';
import { judgeRoutes } from './route-verdicts.ts';

export class ExplainedRequest implements OutgoingRequest {
  readonly req: IncomingMessage;
  readonly connection: IncomingRequest['connection'];
  readonly startedAt: number;
  readonly settings: ExplainedTable['settings'];
  readonly result = NO_RESULT;
  head: DownstreamHead;
  route = new RequestRoute();
  facts: Facts | undefined;
  policy: ForwardPolicy | undefined;
  endpoint: Host | undefined;
  pickContext: PickContext | undefined;
  hostStates: RequestToExplain['hostStates'];
  /** The virtual host by the last decision, and the routes that were looked at for it. */
  host: RouteDecision['host'];
  routes: readonly RouteVerdict[] = [];
  readonly effects: OptionEffect[] = [];
  readonly #table: ExplainedTable;
  readonly #met = new Set<Handler>();

  constructor(
    req: IncomingMessage,
    { connection, startedAt }: IncomingRequest,
    head: DownstreamHead,
    table: ExplainedTable,
  ) {
    this.req = req;
    this.connection = connection;
    this.startedAt = startedAt;
    this.settings = table.settings;
    this.head = head;
    this.#table = table;
  }

  get metadata(): RequestRecord['metadata'] {
    return this.facts?.metadata ?? NO_METADATA;
  }

  /** Runs admission and transformations, which may select other routes; returns their rejection. */
  admit(first: RouteDecision, admission: Admission | undefined): ExplainedReply | undefined {
    const place = this.#enter(first);
    if (!place) return undefined;
    this.req.url = this.head.path;
    const facts = shareFacts(this);
    // An explanation has no body.
    facts.body = { bytes: Buffer.alloc(0), whole: true };
    const transform = (stage: 'early' | 'regular'): ExplainedReply | undefined => this.#transform(stage);
    const reroute = (): RoutePlace | undefined => this.#reroute(facts);
    let rejected = this.#apply(FIRST_EFFECTS, facts) ?? admission?.({ ...place, facts, transform, reroute });
    const stages = ['early', 'regular'] as const;
    for (let i = 0; i < stages.length && !rejected; i++) {
      rejected = transform(stages[i]!);
      if (rejected || !facts.reroute) continue;
      facts.reroute = false;
      if (reroute()) i = -1;
    }
    this.#takeFacts(facts);
    return rejected ?? this.#apply(LAST_EFFECTS, facts);
  }

  /** Returns the same request with the plan of an action, or of one of its destinations. */
  copyFor(plan: Plan, destination?: CompiledDestination): OutgoingRequest {
    const copy = Object.assign(Object.create(ExplainedRequest.prototype) as ExplainedRequest, this);
    copy.head = this.head.copy();
    copy.route = Object.assign(new RequestRoute(), this.route, { plan, destination });
    return copy;
  }

  /** Applies a decision; returns `undefined` if there is no route, or if it cannot be compiled and so responds itself. */
  #enter({ host, entry }: Pick<RouteDecision, 'host' | 'entry'>): RoutePlace | undefined {
    this.host = host;
    this.route.host = host?.value;
    this.route.entry = entry;
    this.routes = host ? judgeRoutes(host.value.source.routes, this.head) : [];
    if (!host || !entry || entry.route.action.type === 'failed') return undefined;
    return { virtualHost: host.value.source, route: entry.route.source, settings: this.#table.shared };
  }

  /** Collects the effects of options, up to one that ends the request. */
  #apply(rules: readonly EffectRule[], facts: Facts): ExplainedReply | undefined {
    const { req, head, settings } = this;
    const { host, entry } = this.route;
    if (!host || !entry) return undefined;
    const { blockOf: find, context, listener, shared } = this.#table;
    const blockOf = <B>(concern: BlockOf<B>): B | undefined => find(concern, host.source, entry.route.source);
    const input: EffectInput = { req, head, facts, entry, context, listener, settings, shared, blockOf };
    for (const rule of rules) {
      const found = rule(input);
      if (!found) continue;
      const { option, effect, reply } = found;
      this.effects.push({ option, effect });
      if (reply) return reply;
    }
    return undefined;
  }

  #reroute(facts: Facts): RoutePlace | undefined {
    this.#takeFacts(facts);
    return this.#enter(routeAgain(this.head, this.#table));
  }

  #takeFacts(facts: Facts): void {
    this.head.applyFacts(facts);
    applyRequestChanges(this.head.headers, facts);
  }

  /** Transforms the request as its route does at a stage, unless that was done. */
  #transform(stage: 'early' | 'regular'): ExplainedReply | undefined {
    const { req, route } = this;
    const handler = route.entry && this.#table.transformationOf(route.entry.route.action, stage);
    if (!handler || this.#met.has(handler)) return undefined;
    this.#met.add(handler);
    let rejected: ExplainedReply | undefined;
    handler(req, new ServerResponse(req), (error) => {
      if (error !== undefined) rejected = replyToError(error);
    });
    return rejected;
  }
}

/** Returns the response to a request that a transformation rejects. */
export function replyToError(error: unknown): ExplainedReply {
  if (!(error instanceof GatewayError)) throw error;
  const reason = error.cause instanceof Error ? error.cause.message : error.message;
  return { status: error.status, body: error.message, reason: `the request cannot be transformed: ${reason}` };
}
