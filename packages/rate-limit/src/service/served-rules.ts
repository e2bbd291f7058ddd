import type { ControlPlaneState, Logger } from '@edge-gateway/core';
import type { RateLimitConfigSpec, RateLimitRules } from '@edge-gateway/core/schema';
import { compileBasic } from '../descriptor/compile-basic.ts';
import type { Domain } from '../limiter.ts';
import { compileRules, type RulesOrigin } from '../rules/compile-rules.ts';
import type { RuleSet } from '../rules/rule.ts';
import { basicLimitsOf, type NamedBasic } from './basic-rules.ts';

/** The part of the control plane's state that contains rules. */
export type RulesState = Pick<ControlPlaneState, 'resources' | 'settings' | 'snapshots'>;

/** The rules of all domains. */
export type ServedRules = Readonly<Record<Domain, readonly RuleSet[]>>;

/**
 * Compiles the rules of a state: those of the Settings, of all RateLimitConfigs, and of every `ratelimitBasic`. Rules that cannot be
 * compiled are logged and left out. Unchanged rules are compiled once.
 */
export function createRulesCompiler(log: Logger): (state: RulesState) => ServedRules {
  let known = new Map<string, CompiledRules>();

  return ({ resources, settings: { ratelimit }, snapshots }) => {
    const next = new Map<string, CompiledRules>();
    const compiled = (source: object, rules: RateLimitRules, origin: RulesOrigin & { name: string }): RuleSet[] => {
      const key = `${origin.domain} ${origin.name}`;
      if (next.has(key)) {
        log.error({ domain: origin.domain, name: origin.name }, 'duplicate rules ignored');
        return [];
      }
      const before = known.get(key);
      const result = before?.source === source ? before : { source, ruleSet: compile(rules, origin, log) };
      next.set(key, result);
      return result.ruleSet ? [result.ruleSet] : [];
    };
    const served: ServedRules = {
      custom: ratelimit ? compiled(ratelimit, ratelimit, { domain: 'custom', name: '' }) : [],
      'vendor.io': [...resources.values()].flatMap(({ kind, metadata, spec }) => {
        if (kind !== 'RateLimitConfig') return [];
        const { namespace, name } = metadata;
        const { raw = {} } = spec as RateLimitConfigSpec;
        const resource = `${namespace}.${name}`;
        return compiled(spec as object, raw, { domain: 'vendor.io', resource, name: resource });
      }),
      basic: basicOf(snapshots).flatMap(({ name, basic }) =>
        compiled(basic, { descriptors: [compileBasic(basic, name).rule] }, { domain: 'basic', name }),
      ),
    };
    known = next;
    return served;
  };
}

/** Compiled rules; no rule set if they cannot be compiled. */
interface CompiledRules {
  readonly source: object;
  readonly ruleSet: RuleSet | undefined;
}

/** Several proxies, and listeners of one, may serve the same virtual host. */
function basicOf(snapshots: RulesState['snapshots']): NamedBasic[] {
  const all = [...snapshots.values()].flatMap(({ listeners }) =>
    listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(basicLimitsOf)),
  );
  return [...new Map(all.map((each) => [each.name, each])).values()];
}

function compile(rules: RateLimitRules, origin: RulesOrigin, log: Logger): RuleSet | undefined {
  try {
    return compileRules(rules, origin);
  } catch (error) {
    log.error({ domain: origin.domain, resource: origin.resource, err: error }, 'failed to compile rules');
    return undefined;
  }
}
