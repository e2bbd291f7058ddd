import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type {
  RateLimitConfigSpec,
  RateLimitDescriptor,
  RateLimitRules,
  RateLimitSetDescriptor,
} from '../../schema/route/rate-limit.ts';
import { each, fields, within, type Check } from '../check.ts';
import { checkRateLimits } from './check-rate-limit-actions.ts';
import { indexRules, unmatchedLimits } from './unmatched-limits.ts';
import { checkLimit, checkText, invalidRateLimit, noEffect, WARNING } from './limits.ts';

/** Maximum depth of a tree of descriptors: requests have no longer tuples. */
const MAX_DEPTH = 16;
/** Maximum number of entries of a rule for sets. */
const MAX_SET_ENTRIES = 64;
/** Maximum number of rules of one resource. */
const MAX_RULES = 10_000;

/** Returns problems of a RateLimitConfig. */
export const checkRateLimitConfig: Check<RateLimitConfigSpec> = ({ raw }, at) => {
  if (!raw) return invalidRateLimit('the RateLimitConfig has no rules', at, { hint: 'raw' });
  const path = [...at, 'raw'];
  const hasRules = Boolean(raw.descriptors?.length || raw.setDescriptors?.length);
  const problems = [...checkRules(raw, path), ...within(raw.rateLimits, [...path, 'rateLimits'], checkRateLimits)];
  const isValid = problems.every(({ severity }) => severity === 'warning');
  return [
    ...problems,
    ...noEffect(!hasRules && 'raw without descriptors and setDescriptors limits nothing', path, WARNING),
    ...noEffect(!raw.rateLimits?.length && 'raw without rateLimits limits nothing', path, WARNING),
    ...(hasRules && isValid ? checkMatches(raw, path) : []),
  ];
};

/** Warns of limits that no rule of the resource matches. */
function checkMatches(raw: Raw, at: FieldPath): FieldProblem[] {
  return unmatchedLimits(raw.rateLimits ?? [], indexRules(raw)).flatMap(({ path, message }) =>
    noEffect(message, [...at, 'rateLimits', ...path], WARNING),
  );
}

type Raw = NonNullable<RateLimitConfigSpec['raw']>;

/** Returns problems of the rules that descriptors are matched with. */
export const checkRules: Check<RateLimitRules> = ({ descriptors = [], setDescriptors = [] }, at) => {
  const count = countOf(descriptors) + setDescriptors.length;
  if (count > MAX_RULES) return invalidRateLimit(`more than ${MAX_RULES} rules in one resource`, at);
  return [
    ...checkTree(descriptors, [...at, 'descriptors'], 1),
    ...each(setDescriptors, [...at, 'setDescriptors'], checkSet),
    ...checkOrder(setDescriptors, [...at, 'setDescriptors']),
  ];
};

/** Stops counting above the maximum. */
function countOf(descriptors: readonly RateLimitDescriptor[]): number {
  let count = 0;
  const left: (readonly RateLimitDescriptor[])[] = [descriptors];
  for (let list = left.pop(); list && count <= MAX_RULES; list = left.pop()) {
    count += list.length;
    for (const { descriptors: inner } of list) if (inner?.length) left.push(inner);
  }
  return count;
}

function checkTree(descriptors: readonly RateLimitDescriptor[], at: FieldPath, depth: number): FieldProblem[] {
  if (depth > MAX_DEPTH) return invalidRateLimit(`descriptors are nested more than ${MAX_DEPTH} levels deep`, at);
  const known = new Map<string, number>();
  return each(descriptors, at, (descriptor, path) => {
    const { key = '', value = '', descriptors: inner = [] } = descriptor;
    const name = JSON.stringify([key, value]);
    const first = known.get(name);
    if (first === undefined) known.set(name, known.size);
    return [
      ...checkText(key, [...path, 'key']),
      ...(value ? checkText(value, [...path, 'value']) : []),
      ...invalidRateLimit(
        first !== undefined && `duplicate descriptor: ${entryText(key, value)} is listed twice`,
        path,
      ),
      ...fields(descriptor, path, { rateLimit: checkLimit }),
      ...(inner.length > 0 ? checkTree(inner, [...path, 'descriptors'], depth + 1) : []),
    ];
  });
}

const entryText = (key: string, value: string): string =>
  value ? `'${key.slice(0, 80)}' with the value '${value.slice(0, 80)}'` : `'${key.slice(0, 80)}' without a value`;

const checkSet: Check<RateLimitSetDescriptor> = (rule, at) => {
  const entries = rule.simpleDescriptors ?? [];
  const path = [...at, 'simpleDescriptors'];
  return [
    ...invalidRateLimit(
      entries.length > MAX_SET_ENTRIES && `${entries.length} entries: at most ${MAX_SET_ENTRIES} are allowed`,
      path,
    ),
    ...each(entries, path, ({ key, value }, place) => [
      ...checkText(key, [...place, 'key']),
      ...(value ? checkText(value, [...place, 'value']) : []),
    ]),
    ...fields(rule, at, { rateLimit: checkLimit }),
  ];
};

/** Warns of rules that never apply, because the first rule of the list matches all of their requests. */
const checkOrder: Check<readonly RateLimitSetDescriptor[]> = (rules, at) => {
  const everything = rules.findIndex(
    ({ simpleDescriptors = [], alwaysApply }) => simpleDescriptors.length === 0 && !alwaysApply,
  );
  const seen = new Map<string, number>();
  return each(rules, at, ({ simpleDescriptors = [], alwaysApply }, path) => {
    const index = path.at(-1) as number;
    const name = JSON.stringify(simpleDescriptors.map(({ key, value = '' }) => JSON.stringify([key, value])).sort());
    const equal = seen.get(name);
    if (equal === undefined && !alwaysApply) seen.set(name, index);
    const earlier = everything !== -1 && everything < index ? everything : equal;
    const message =
      earlier !== undefined &&
      !alwaysApply &&
      `the rule never applies: setDescriptors[${earlier}] matches all of its requests`;
    return noEffect(message, path, WARNING);
  });
};
