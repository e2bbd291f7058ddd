import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  DEFAULTS,
  factsOf,
  parseDuration,
  type Concern,
  type Context,
  type Facts,
  type GatewayError,
  type Handler,
  type Scope,
} from '@edge-gateway/core';
import { integerCost } from '../descriptor/cost.ts';
import type { Descriptor } from '../descriptor/descriptor.ts';
import type { Decision } from '../limiter.ts';
import { localRateLimitConcern } from '../local/local-rate-limit.ts';
import { rateLimitError } from '../error-codes.ts';
import { createInFlight } from '../store/in-flight.ts';
import type { LimitStage } from './limit-option-sets.ts';
import { releaseAtEnd } from './in-flight-limit.ts';
import { pickLimits, type LimitBlock } from './limit-block.ts';
import { callLimiter, compileLimits, type LimitCheck } from './limit-checks.ts';
import { secondsOf, showDecision } from './limit-headers.ts';
import { LimitedRequest, requestPlace } from './limited-request.ts';
import { limiterSource, type LimiterOptions } from './limiter-source.ts';
import { createRouteStats } from './route-stats.ts';
import { createDecisionStats } from './rule-stats.ts';

/**
 * Creates the concerns for the rate limits of listeners, virtual hosts and routes: local ones, and those before and after authentication. A block that cannot be
 * compiled makes its routes return 500.
 *
 * @example
 * const router = createRouter({ concerns: [jwtConcern, ...createRateLimit()] });
 */
export function createRateLimit(options: LimiterOptions = {}): readonly Concern[] {
  const global = (['rateLimitEarly', 'rateLimit'] as const).map((stage): Concern<LimitBlock> => ({
    name: stage,
    option: stage,
    stage,
    pick: pickLimits,
    compile: (block, context, scope) => compileRateLimit(block, { stage, context, scope, options }),
  }));
  return [localRateLimitConcern, ...global] as readonly Concern[];
}

/** What a handler is compiled from, besides its block. */
interface Compilation {
  readonly stage: LimitStage;
  readonly context: Context;
  readonly scope: Scope | undefined;
  readonly options: LimiterOptions;
}

/** Compiles the limits of one stage; `undefined` if there are none. Throws `ERR_RATE_LIMIT_RULES` and `ERR_RATE_LIMIT_ACTIONS`. */
export function compileRateLimit(
  block: LimitBlock,
  { stage, context, scope, options }: Compilation,
): Handler | undefined {
  const limiterOf = limiterSource(options, context, scope);
  const { checks, slots, retryAfter } = compileLimits(block, { stage, scope, context, limiterOf });
  if (checks.length === 0 && slots.length === 0) return undefined;
  const { denyOnFail = false, enableXRatelimitHeaders = false, requestTimeout } = scope?.settings.ratelimitServer ?? {};
  const deadlineMs = parseDuration(requestTimeout ?? DEFAULTS.rateLimitTimeout);
  const inFlight = context.state('rateLimit.inFlight', createInFlight);
  const stats = context.state('rateLimit.stats', () => createDecisionStats(context.metrics));
  const routes = context.state('rateLimit.routes', () => createRouteStats(context.metrics));
  const health = context.state('rateLimit.health', () => ({ logged: new Set<'rejected' | 'allowed'>() }));
  const log = context.log.get('filter');
  const place = requestPlace(block.routeOptions, scope?.settings);

  /** Records a decision. Returns the error of a rejected request. */
  function apply(decision: Decision, facts: Facts): GatewayError | undefined {
    stats.count(decision);
    routes.count(decision.isAllowed ? 'ok' : 'over_limit', facts.upstream);
    if (health.logged.size > 0) recovered();
    if (enableXRatelimitHeaders) showDecision(facts, decision);
    recordOver(decision, facts);
    return decision.isAllowed ? undefined : limited(retryAfter, decision);
  }

  /** Records a failure. Returns the error of a rejected request. */
  function fail(error: unknown, { upstream }: Facts): GatewayError | undefined {
    stats.failed((error as { code?: string }).code ?? 'ERR_RATE_LIMIT_STORE');
    routes.count('error', upstream);
    const requests = denyOnFail ? 'rejected' : 'allowed';
    if (!health.logged.has(requests)) {
      health.logged.add(requests);
      log.warn({ code: (error as { code?: string }).code, requests }, 'rate limits cannot be checked');
    }
    if (denyOnFail) return failed(error);
    routes.count('failure_mode_allowed', upstream);
    return undefined;
  }

  function recovered(): void {
    health.logged.clear();
    log.info({}, 'rate limits can be checked again');
  }

  function acquire(request: LimitedRequest, res: ServerResponse, req: IncomingMessage): boolean {
    if (slots.length === 0) return true;
    const release = inFlight.acquire(slots.flatMap((slotsOf) => slotsOf(request)));
    if (release) releaseAtEnd(res, req.socket, release);
    return release !== undefined;
  }

  /** Lets the action charge a check for the complexity of an operation; false if the action computes none. */
  function defer(each: LimitCheck, { facts, request }: CheckedRequest): boolean {
    const { complexityCharges } = facts;
    if (!each.isByComplexity || !complexityCharges) return false;
    const descriptors = each.descriptorsOf(request);
    if (descriptors.length === 0) return true;
    complexityCharges.push((complexity) => {
      const cost = integerCost(complexity);
      const charged = descriptors.map((descriptor) => ({ ...descriptor, cost }));
      return charge(each, charged, facts);
    });
    return true;
  }

  /** Repeats a check for each operation of the WebSocket that a request opens. */
  function repeat(each: LimitCheck, { facts, request }: CheckedRequest): void {
    if (!facts.operationCharges) return;
    // Facts that later concerns add do not change what is counted.
    const descriptors = each.descriptorsOf(request);
    if (descriptors.length > 0) facts.operationCharges.push(() => charge(each, descriptors, facts));
  }

  function charge(
    each: LimitCheck,
    descriptors: readonly Descriptor[],
    facts: Facts,
  ): Promise<GatewayError | undefined> {
    return Promise.resolve(callLimiter(each, descriptors, deadlineMs)).then(
      (decision) => apply(decision, facts),
      (error: unknown) => fail(error, facts),
    );
  }

  /** Calls the limiters from `from` on; stays synchronous while they return values. */
  function check(from: number, checked: CheckedRequest): void {
    const { request, facts, next } = checked;
    for (let i = from; i < checks.length; i++) {
      const each = checks[i]!;
      if (defer(each, checked)) continue;
      repeat(each, checked);
      const decision = each.decide(request, deadlineMs);
      if (decision === undefined) continue;
      if (decision instanceof Promise) {
        const go = (denial: GatewayError | undefined): void => (denial ? next(denial) : check(i + 1, checked));
        decision
          .then(
            (counted) => go(apply(counted, facts)),
            (error: unknown) => go(fail(error, facts)),
          )
          .catch(next);
        return;
      }
      const denial = apply(decision, facts);
      if (denial) return next(denial);
    }
    next();
  }

  const handler: Handler = function rateLimit(req, res, next) {
    const facts = factsOf(req);
    const request = new LimitedRequest(req, facts, place);
    if (!acquire(request, res, req)) return next(limited(retryAfter));
    check(0, { request, facts, next });
  };
  Object.defineProperty(handler, 'name', { value: stage });
  return handler;
}

/** A request on its way through the checks. */
interface CheckedRequest {
  readonly request: LimitedRequest;
  readonly facts: Facts;
  readonly next: Parameters<Handler>[2];
}

/** Namespace of the dynamic metadata about rules that are over their limit. */
const METADATA = 'envoy.filters.http.ratelimit';

/** Records for access logs which rules are over their limit. */
function recordOver({ outcomes }: Decision, { metadata }: Facts): void {
  if (!outcomes.some(({ isOver }) => isOver)) return;
  const known = metadata.get(METADATA);
  // The operations of a WebSocket may exceed a rule again and again.
  const over = namesIn(known?.['over_limit']);
  const shadow = namesIn(known?.['shadow_over_limit']);
  for (const { isOver, isShadow, rule } of outcomes) if (isOver) (isShadow ? shadow : over).add(rule);
  metadata.set(METADATA, {
    ...known,
    ...(over.size > 0 && { over_limit: [...over].join(',') }),
    ...(shadow.size > 0 && { shadow_over_limit: [...shadow].join(',') }),
  });
}

function namesIn(text: unknown): Set<string> {
  return new Set(text === undefined ? [] : String(text).split(','));
}

/** The response to a request over a limit, with the time of the decision; for limits of requests in flight, without one, a second. */
function limited(hasRetryAfter: boolean, decision?: Decision) {
  const over = decision?.outcomes.filter(({ isOver, isShadow }) => isOver && !isShadow) ?? [];
  const retryAfter = hasRetryAfter && { 'retry-after': String(Math.max(1, ...over.map(resetSeconds))) };
  return rateLimitError('ERR_RATE_LIMIT_EXCEEDED', undefined, {
    headers: { 'x-envoy-ratelimited': 'true', ...retryAfter },
    reply: { body: '', details: 'request_rate_limited', flags: 'RL' },
  });
}

function resetSeconds({ resetMs }: { readonly resetMs: number }): number {
  return secondsOf(resetMs);
}

function failed(cause: unknown) {
  return rateLimitError('ERR_RATE_LIMIT_FAILED', undefined, {
    cause,
    reply: { body: '', details: 'rate_limiter_error', flags: 'RLSE' },
  });
}
