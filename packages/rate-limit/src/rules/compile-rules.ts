import type { RateLimit, RateLimitDescriptor, RateLimitRules, RateLimitSetDescriptor } from '@edge-gateway/core/schema';
import { GENERIC_KEY, SET_MARKER } from '../descriptor/descriptor.ts';
import { rateLimitError } from '../error-codes.ts';
import type { Domain } from '../limiter.ts';
import { keyPart } from './counter-key.ts';
import { toLimit } from './limit.ts';
import type { Level, Rule, RuleEntry, RuleSet, SetRule, TreeNode } from './rule.ts';

/** Where rules come from. */
export interface RulesOrigin {
  readonly domain: Domain;
  /** `<namespace>.<name>` of a RateLimitConfig; the rules only match descriptors whose first entry is `generic_key` of this value. */
  readonly resource?: string | undefined;
}

/**
 * Compiles rules. Throws `ERR_RATE_LIMIT_RULES` for an invalid limit, and for two descriptors with the same key and value in one list.
 *
 * @example
 * const rules = { descriptors: [{ key: 'remote_address', rateLimit: { requestsPerUnit: 10, unit: 'SECOND' } }] };
 * const ruleSet = compileRules(rules, { domain: 'custom' });
 */
export function compileRules({ descriptors = [], setDescriptors = [] }: RateLimitRules, origin: RulesOrigin): RuleSet {
  const { domain, resource } = origin;
  const rules: Rule[] = [];
  const prefix = resource === undefined ? [] : [{ key: GENERIC_KEY, value: resource }];
  const root: Position = {
    field: '',
    name: nameOf(domain, prefix),
    id: `${domain}|${resource === undefined ? '' : keyPart(resource)}`,
    rules,
  };
  const tree = compileLevel(descriptors, root);
  const sets = compileSets(setDescriptors, root);
  return { resource, tree, sets, rules };
}

/** Names of what is above a rule, and the rules so far. */
interface Position {
  /** Path of the descriptor in the rules; empty above the first. */
  readonly field: string;
  readonly name: string;
  readonly id: string;
  readonly rules: Rule[];
}

function createRule({ name, id, field }: Position, fields: RateLimitDescriptor | RateLimitSetDescriptor): Rule {
  const { rateLimit, alwaysApply = false, shadow: isShadow = false } = fields;
  const isSet = !('key' in fields);
  const weight = 'weight' in fields ? (fields.weight ?? 0) : 0;
  return {
    name,
    id,
    limit: rateLimit && limitOf(rateLimit, field),
    weight,
    alwaysApply,
    isSet,
    isShadow,
    memo: undefined,
  };
}

function limitOf(rateLimit: RateLimit, field: string): Rule['limit'] {
  try {
    return toLimit(rateLimit);
  } catch (error) {
    throw rateLimitError('ERR_RATE_LIMIT_RULES', `${field}.rateLimit: ${(error as Error).message}`, { cause: error });
  }
}

function compileLevel(descriptors: readonly RateLimitDescriptor[], above: Position): Level {
  const level: Level = new Map();
  for (const [i, descriptor] of descriptors.entries()) {
    const { key = '', value } = descriptor;
    const field = `${above.field && `${above.field}.`}descriptors[${i}]`;
    const position = { ...below(above, [{ key, value }]), field };
    const rule = createRule(position, descriptor);
    above.rules.push(rule);
    const node: TreeNode = { rule, children: compileLevel(descriptor.descriptors ?? [], position) };
    const branch = level.get(key) ?? { byValue: new Map<string, TreeNode>(), any: undefined };
    level.set(key, branch);
    if (value === undefined ? branch.any : branch.byValue.has(value)) {
      throw rateLimitError(
        'ERR_RATE_LIMIT_RULES',
        `${field}: another descriptor has the same key and value (rule ${position.name})`,
      );
    }
    if (value === undefined) branch.any = node;
    else branch.byValue.set(value, node);
  }
  return level;
}

function compileSets(descriptors: readonly RateLimitSetDescriptor[], root: Position): SetRule[] {
  const seen = new Map<string, number>();
  return descriptors.map((descriptor, i) => {
    const entries = (descriptor.simpleDescriptors ?? []).map(({ key = '', value }) => ({ key, value }));
    // No key of a tree has this part.
    const { name, id, rules } = below({ ...root, id: `${root.id}|*` }, [MARKER, ...entries]);
    const number = (seen.get(id) ?? 0) + 1;
    seen.set(id, number);
    // Equal sets with other limits are different rules.
    const position = { field: `setDescriptors[${i}]`, name, id: number === 1 ? id : `${id}|=${number}`, rules };
    const rule = createRule(position, descriptor);
    rules.push(rule);
    return { rule, entries };
  });
}

const MARKER: RuleEntry = { key: GENERIC_KEY, value: SET_MARKER };

function below({ field, name, id, rules }: Position, entries: readonly RuleEntry[]): Position {
  return { field, name: nameOf(name, entries), id: entries.reduce(idOf, id), rules };
}

/**
 * Ids are unique: values contain no separator, only entries with a value contain an equals sign, and as many values as there are entries
 * without one follow the id in keys of counters.
 */
function idOf(id: string, { key, value }: RuleEntry): string {
  return value === undefined ? `${id}|${keyPart(key)}` : `${id}|${keyPart(key)}=${keyPart(value)}`;
}

function nameOf(name: string, entries: readonly RuleEntry[]): string {
  return entries.reduce((all, { key, value }) => `${all}.${key}${value === undefined ? '' : `_${value}`}`, name);
}
