import type { IncomingMessage } from 'node:http';
import {
  REDACTED,
  createContext,
  isSecretName,
  isToken,
  silentLoggers,
  type Facts,
  type Scope,
} from '@edge-gateway/core';
import type { RateLimitActions } from '@edge-gateway/core/schema';
import { optionSetsAt, type LimitStage } from '../concern/limit-option-sets.ts';
import { pickLimits, type LimitBlock } from '../concern/limit-block.ts';
import { compileLimits, type LimitCheck } from '../concern/limit-checks.ts';
import { LimitedRequest, requestPlace } from '../concern/limited-request.ts';
import { compileActions } from '../descriptor/compile-actions.ts';
import type { Descriptor, Entry } from '../descriptor/descriptor.ts';
import type { DescribedRequest } from '../descriptor/request.ts';
import type { Domain, Limiter } from '../limiter.ts';
import { createMatch } from '../rules/match.ts';
import type { Hit } from '../rules/hit.ts';
import type { RuleSet } from '../rules/rule.ts';
import { dropReason } from './drop-reason.ts';
import type { ExplainedDescriptor, ExplainedLimits, ExplainedRule } from './explained-limits.ts';

/** The limits to explain. */
export interface LimitsToExplain {
  /** When the limits apply: before or after authentication. */
  readonly stage: LimitStage;
  /** Virtual host, route and settings; the route is required. */
  readonly scope: Scope & Required<Pick<Scope, 'route'>>;
  /** Of the request, as they are at the stage. */
  readonly facts: Facts;
}

/**
 * Explains the limits of a route at one stage: the descriptors of a request, the rules that they hit, and the counters, by the
 * code that serves. Counts nothing. Returns `undefined` if the route has no limits at the stage.
 *
 * @example
 * const limits = explainLimits({ stage: 'rateLimit', scope: { virtualHost, route, settings }, facts });
 * limits?.rules.filter(({ applies }) => applies).map(({ rule }) => rule);
 */
export function explainLimits({ stage, scope, facts }: LimitsToExplain): ExplainedLimits | undefined {
  const { virtualHost, route, settings } = scope;
  const request = new LimitedRequest(NO_HEADERS, facts, requestPlace(route.options, settings));
  const block = pickLimits([virtualHost.options, route.options]);
  if (!block) return undefined;
  const ruleSets = new Map<Domain, readonly RuleSet[]>();
  const limiterOf = (domain: Domain, sets: readonly RuleSet[]): Limiter => {
    ruleSets.set(domain, sets);
    return COUNTS_NOTHING;
  };
  try {
    const { checks, slots } = compileLimits(block, {
      stage,
      scope,
      context: createContext({ log: silentLoggers }),
      limiterOf,
    });
    if (checks.length === 0 && slots.length === 0) return undefined;
    return {
      stage,
      descriptors: checks.flatMap((check) => describeCheck(check, { block, stage, scope }, request)),
      rules: checks.flatMap(({ domain, descriptorsOf }) =>
        explainRules(descriptorsOf(request), ruleSets.get(domain) ?? []),
      ),
      concurrency: slots
        .flatMap((slotsOf) => slotsOf(request))
        .map(({ key, maxInFlight }) => ({ counter: key, maxInFlight })),
    };
  } catch (error) {
    return { stage, descriptors: [], rules: [], concurrency: [], failure: (error as Error).message };
  }
}

/** Its headers are those of the facts. */
const NO_HEADERS = { rawHeaders: [] } as unknown as IncomingMessage;

const COUNTS_NOTHING: Limiter = { check: () => ({ isAllowed: true, outcomes: [] }) };

interface Place {
  readonly block: LimitBlock;
  readonly stage: LimitStage;
  readonly scope: Scope;
}

/** One descriptor per entry of `rateLimits`, dropped ones included. */
function describeCheck({ domain, descriptorsOf }: LimitCheck, place: Place, request: DescribedRequest) {
  if (domain !== 'basic') return actionsOf(domain, place).map((each) => describeActions(each, request));
  const [descriptor] = descriptorsOf(request);
  if (descriptor) return [shown({ domain }, descriptor)];
  const dropped = `there is no limit for ${request.userId === undefined ? 'anonymous clients' : 'users'}`;
  return [{ domain, isSet: false, entries: [], dropped }];
}

interface WrittenActions {
  readonly domain: Domain;
  readonly resource?: string;
  readonly actions: RateLimitActions;
}

/** Returns the entries of `rateLimits` of a domain, tuples and sets apart. */
function actionsOf(domain: Domain, { block, stage, scope }: Place): WrittenActions[] {
  const unstaged = scope.settings.ratelimitServer?.rateLimitBeforeAuth ? 'rateLimitEarly' : 'rateLimit';
  const optionSets = optionSetsAt(block, stage, unstaged);
  if (domain === 'custom')
    return optionSets.flatMap(({ rateLimits }) => rateLimits.flatMap(apart)).map((actions) => ({ domain, actions }));
  const used = new Set(optionSets.flatMap(({ refs }) => refs.map(({ namespace, name }) => `${namespace}.${name}`)));
  return scope.virtualHost.rateLimitConfigs.flatMap(({ ref, spec }) => {
    const resource = `${ref.namespace}.${ref.name}`;
    if (!used.has(resource)) return [];
    return (spec.raw?.rateLimits ?? []).flatMap(apart).map((actions) => ({ domain, resource, actions }));
  });
}

function apart({ actions = [], setActions = [], ...rest }: RateLimitActions): RateLimitActions[] {
  return [
    ...(actions.length > 0 ? [{ ...rest, actions }] : []),
    ...(setActions.length > 0 ? [{ ...rest, setActions }] : []),
  ];
}

function describeActions({ domain, resource, actions }: WrittenActions, request: DescribedRequest) {
  const about = { domain, ...(resource !== undefined && { resource }) };
  const [descriptor] = compileActions([actions])(request);
  if (descriptor) return shown(about, descriptor);
  const dropped = dropReason(actions, request) ?? '';
  return { ...about, isSet: actions.setActions !== undefined, entries: [], dropped };
}

function shown(
  about: Pick<ExplainedDescriptor, 'domain' | 'resource'>,
  { isSet, entries, cost, limit }: Descriptor,
): ExplainedDescriptor {
  return {
    ...about,
    isSet,
    entries: entries.map((entry) => ({ key: entry.key, value: shownValue(entry) })),
    ...(cost !== undefined && { cost }),
    ...(limit && { limit }),
  };
}

function shownValue({ key, value, isSecret }: Entry): string {
  return isSecret || isSecretName(key) || isToken(value) ? REDACTED : value;
}

/** Returns the hits of each descriptor; those that a match of all descriptors lacks are replaced by rules with a higher weight. */
function explainRules(descriptors: readonly Descriptor[], ruleSets: readonly RuleSet[]): ExplainedRule[] {
  const match = createMatch(ruleSets);
  const counted = new Set(match(descriptors).map(({ key }) => key));
  const hits = new Map(descriptors.flatMap((each) => match([each])).map((hit) => [hit.key, hit]));
  return [...hits.values()].map((hit) => explainRule(hit, counted.has(hit.key)));
}

function explainRule({ group, limit, cost, key }: Hit, applies: boolean): ExplainedRule {
  const { name: rule, weight, alwaysApply, isShadow } = group;
  return { rule, limit, weight, alwaysApply, isShadow, cost, applies, counter: key };
}
