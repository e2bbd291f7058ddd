import type { Context, Scope } from '@edge-gateway/core';
import type { RateLimitActions } from '@edge-gateway/core/schema';
import {
  compileDescriptors,
  descriptorsOfAll,
  type CompiledDescriptor,
  type DescriptorsOf,
} from '../descriptor/compile-actions.ts';
import { compileBasic } from '../descriptor/compile-basic.ts';
import { compileConcurrency, type SlotsOf } from '../descriptor/compile-concurrency.ts';
import type { Descriptor } from '../descriptor/descriptor.ts';
import type { DescribedRequest } from '../descriptor/request.ts';
import { routeNamesOf } from '../descriptor/level-names.ts';
import { rateLimitError } from '../error-codes.ts';
import type { Decision, Domain, Limiter, PreparedCheck } from '../limiter.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { optionSetsAt, type LimitOptionSet, type LimitStage } from './limit-option-sets.ts';
import type { LimitBlock } from './limit-block.ts';
import { settingsRules, type LimiterOf } from './limiter-source.ts';

/** One call of a limiter: all descriptors of a domain. */
export interface LimitCheck {
  readonly domain: Domain;
  readonly limiter: Limiter;
  /** True if each descriptor costs the complexity of the GraphQL operation. */
  readonly isByComplexity: boolean;
  descriptorsOf(request: DescribedRequest): readonly Descriptor[];
  /** Counts a request: creates its descriptors and calls the limiter, in one step if it can. */
  readonly decide: PreparedCheck;
}

/** The limits of a route at one stage. */
export interface StageLimits {
  readonly checks: readonly LimitCheck[];
  readonly slots: readonly SlotsOf[];
  readonly retryAfter: boolean;
}

/** Where limits are compiled. */
export interface LimitPlace {
  readonly stage: LimitStage;
  readonly scope: Scope | undefined;
  readonly context: Context;
  readonly limiterOf: LimiterOf;
}

/** Compiles the limits of a stage. Throws `ERR_RATE_LIMIT_RULES` and `ERR_RATE_LIMIT_ACTIONS`. */
export function compileLimits(block: LimitBlock, place: LimitPlace): StageLimits {
  const { stage, scope } = place;
  const unstaged = scope?.settings.ratelimitServer?.rateLimitBeforeAuth ? 'rateLimitEarly' : 'rateLimit';
  const optionSets = optionSetsAt(block, stage, unstaged);
  const checks = [
    ...(stage === unstaged ? basicChecks(block, place) : []),
    ...configChecks(block, optionSets, place),
    ...customChecks(optionSets, place),
  ];
  return {
    checks,
    slots: optionSets.flatMap(({ concurrency }) =>
      concurrency.map(({ level, option, limits }) =>
        compileConcurrency(limits, `${scopeName(block, scope, level)}.${option}`, warnOf(place)),
      ),
    ),
    retryAfter: optionSets.every(({ retryAfter }) => retryAfter),
  };
}

function basicChecks(block: LimitBlock, place: LimitPlace): LimitCheck[] {
  const level = block.route.ratelimitBasic ? 'route' : 'host';
  const basic = block[level].ratelimitBasic;
  if (!basic) return [];
  const { rule, descriptors } = compileBasic(basic, scopeName(block, place.scope, level));
  const ruleSet = compileRules({ descriptors: [rule] }, { domain: 'basic' });
  return [checkOf('basic', place.limiterOf('basic', [ruleSet]), descriptors)];
}

function checkOf(
  domain: Domain,
  limiter: Limiter,
  descriptors: readonly CompiledDescriptor[],
  isByComplexity = false,
): LimitCheck {
  const descriptorsOf = descriptorsOfAll(descriptors);
  const decide = limiter.prepare?.(domain, descriptors) ?? unprepared(domain, limiter, descriptorsOf);
  return { domain, limiter, isByComplexity, descriptorsOf, decide };
}

function unprepared(domain: Domain, limiter: Limiter, descriptorsOf: DescriptorsOf): PreparedCheck {
  return (request, deadlineMs) => {
    const descriptors = descriptorsOf(request);
    return descriptors.length === 0 ? undefined : callLimiter({ domain, limiter }, descriptors, deadlineMs);
  };
}

/** Calls a limiter. One that fails at once rejects, as one that fails later. */
export function callLimiter(
  { domain, limiter }: Pick<LimitCheck, 'domain' | 'limiter'>,
  descriptors: readonly Descriptor[],
  deadlineMs: number,
): Decision | Promise<Decision> {
  try {
    return limiter.check(domain, descriptors, deadlineMs);
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

function configChecks(block: LimitBlock, optionSets: readonly LimitOptionSet[], place: LimitPlace): LimitCheck[] {
  const refs = new Set(
    optionSets.flatMap(({ refs: each }) => each.map(({ namespace, name }) => `${namespace}.${name}`)),
  );
  if (refs.size === 0) return [];
  const known = new Map(
    place.scope?.virtualHost.rateLimitConfigs.map(({ ref, spec }) => [`${ref.namespace}.${ref.name}`, spec]),
  );
  const compiled = [...refs].flatMap((resource) => {
    const raw = known.get(resource)?.raw;
    if (!raw && !known.has(resource)) return missingConfig(resource, block, place);
    const ruleSet = compileRules(raw ?? {}, { domain: 'vendor.io', resource });
    return [{ ruleSet, resource, rateLimits: raw?.rateLimits ?? [] }];
  });
  const limiter = place.limiterOf(
    'vendor.io',
    compiled.map(({ ruleSet }) => ruleSet),
  );
  return bothKinds((isByComplexity) => {
    const descriptors = compiled.flatMap(({ resource, rateLimits }) => {
      const chosen = rateLimits.filter((each) => costsComplexity(each) === isByComplexity);
      return compileDescriptors(chosen, { resource, ...warnOf(place) });
    });
    return descriptors.length === 0 ? undefined : checkOf('vendor.io', limiter, descriptors, isByComplexity);
  });
}

/** A route whose reference is broken returns its replacement; nothing else is served without its limits. */
function missingConfig(resource: string, { routeOptions }: LimitBlock, { scope }: LimitPlace): never[] {
  const routes = scope?.virtualHost.routes.filter(({ options }) => options === routeOptions) ?? [];
  if (routes.length > 0 && routes.every(({ action }) => action.type === 'replacement')) return [];
  throw rateLimitError('ERR_RATE_LIMIT_RULES', `RateLimitConfig ${resource} does not exist`);
}

function customChecks(optionSets: readonly LimitOptionSet[], place: LimitPlace): LimitCheck[] {
  const rateLimits = optionSets.flatMap(({ rateLimits: each }) => each);
  if (rateLimits.length === 0) return [];
  const limiter = place.limiterOf('custom', settingsRules(place.scope?.settings.ratelimit));
  return bothKinds((isByComplexity) => {
    const chosen = rateLimits.filter((each) => costsComplexity(each) === isByComplexity);
    if (chosen.length === 0) return undefined;
    return checkOf('custom', limiter, compileDescriptors(chosen, warnOf(place)), isByComplexity);
  });
}

/** Returns the checks of all requests, then those by complexity, which GraphQL routes defer. */
function bothKinds(checkOfKind: (isByComplexity: boolean) => LimitCheck | undefined): LimitCheck[] {
  return [checkOfKind(false), checkOfKind(true)].filter((check) => check !== undefined);
}

function costsComplexity({ cost }: RateLimitActions): boolean {
  return cost?.graphqlComplexity !== undefined;
}

function warnOf({ context, scope }: LimitPlace) {
  const log = context.log.get('filter');
  return { warn: (message: string) => log.warn({ virtualHost: scope?.virtualHost.name }, message) };
}

/** Returns the name of the virtual host, or of the routes with these options; part of their counters. */
function scopeName({ routeOptions }: LimitBlock, scope: Scope | undefined, level: 'host' | 'route'): string {
  if (!scope) return '';
  const { virtualHost } = scope;
  return level === 'host' ? virtualHost.name : (routeNamesOf(virtualHost).get(routeOptions) ?? '');
}
