import type { Context, Scope } from '@edge-gateway/core';
import type { RateLimitActions } from '@edge-gateway/core/schema';
import { compileActions, type DescriptorsOf } from '../descriptor/compile-actions.ts';
import { compileBasic } from '../descriptor/compile-basic.ts';
import { compileConcurrency, type SlotsOf } from '../descriptor/compile-concurrency.ts';
import type { Descriptor } from '../descriptor/descriptor.ts';
import type { DescribedRequest } from '../descriptor/request.ts';
import { routeNamesOf } from '../descriptor/level-names.ts';
import { rateLimitError } from '../error-codes.ts';
import type { Domain, Limiter } from '../limiter.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { familiesAt, type Family, type LimitStage } from './families.ts';
import type { LimitBlock } from './limit-block.ts';
import { settingsRules, type LimiterOf } from './limiter-source.ts';

/** One call of a limiter: all descriptors of a domain. */
export interface LimitCheck {
  readonly domain: Domain;
  readonly limiter: Limiter;
  /** True if each descriptor costs the complexity of the GraphQL operation. */
  readonly isByComplexity: boolean;
  descriptorsOf(request: DescribedRequest): readonly Descriptor[];
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
  const families = familiesAt(block, stage, unstaged);
  const checks = [
    ...(stage === unstaged ? basicChecks(block, place) : []),
    ...configChecks(block, families, place),
    ...customChecks(families, place),
  ];
  return {
    checks,
    slots: families.flatMap(({ concurrency }) =>
      concurrency.map(({ level, option, limits }) =>
        compileConcurrency(limits, `${scopeName(block, scope, level)}.${option}`, warnOf(place)),
      ),
    ),
    retryAfter: families.some(({ retryAfter }) => retryAfter),
  };
}

function basicChecks(block: LimitBlock, place: LimitPlace): LimitCheck[] {
  const level = block.route.ratelimitBasic ? 'route' : 'host';
  const basic = block[level].ratelimitBasic;
  if (!basic) return [];
  const { rule, descriptorOf } = compileBasic(basic, scopeName(block, place.scope, level));
  const ruleSet = compileRules({ descriptors: [rule] }, { domain: 'basic' });
  return [
    {
      domain: 'basic',
      limiter: place.limiterOf('basic', [ruleSet]),
      isByComplexity: false,
      descriptorsOf(request) {
        const descriptor = descriptorOf(request);
        return descriptor ? [descriptor] : [];
      },
    },
  ];
}

function configChecks(block: LimitBlock, families: readonly Family[], place: LimitPlace): LimitCheck[] {
  const refs = new Set(families.flatMap(({ refs: each }) => each.map(({ namespace, name }) => `${namespace}.${name}`)));
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
    const compilers = compiled.flatMap(({ resource, rateLimits }) => {
      const chosen = rateLimits.filter((each) => costsComplexity(each) === isByComplexity);
      return chosen.length === 0 ? [] : [compileActions(chosen, { resource, ...warnOf(place) })];
    });
    if (compilers.length === 0) return undefined;
    const descriptorsOf: DescriptorsOf = (request) => compilers.flatMap((each) => each(request));
    return { domain: 'vendor.io', limiter, isByComplexity, descriptorsOf };
  });
}

/** A route whose reference is broken returns its replacement; nothing else is served without its limits. */
function missingConfig(resource: string, { routeOptions }: LimitBlock, { scope }: LimitPlace): never[] {
  const routes = scope?.virtualHost.routes.filter(({ options }) => options === routeOptions) ?? [];
  if (routes.length > 0 && routes.every(({ action }) => action.type === 'replacement')) return [];
  throw rateLimitError('ERR_RATE_LIMIT_RULES', `RateLimitConfig ${resource} does not exist`);
}

function customChecks(families: readonly Family[], place: LimitPlace): LimitCheck[] {
  const rateLimits = families.flatMap(({ rateLimits: each }) => each);
  if (rateLimits.length === 0) return [];
  const limiter = place.limiterOf('custom', settingsRules(place.scope?.settings.ratelimit));
  return bothKinds((isByComplexity) => {
    const chosen = rateLimits.filter((each) => costsComplexity(each) === isByComplexity);
    if (chosen.length === 0) return undefined;
    return { domain: 'custom', limiter, isByComplexity, descriptorsOf: compileActions(chosen, warnOf(place)) };
  });
}

/** Returns the checks of all requests, then those by complexity, which GraphQL routes defer. */
function bothKinds(checkOf: (isByComplexity: boolean) => LimitCheck | undefined): LimitCheck[] {
  return [checkOf(false), checkOf(true)].filter((check) => check !== undefined);
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
