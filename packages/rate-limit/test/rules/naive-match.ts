import type { RateLimitDescriptor, RateLimitRules, RateLimitSetDescriptor } from '@edge-gateway/core/schema';
import type { Descriptor, Entry } from '@edge-gateway/rate-limit';

/** A rule that a request hits, as the comparison names it. */
export interface NaiveHit {
  /** The fields of the rule, as in the resource. */
  readonly rule: RateLimitDescriptor | RateLimitSetDescriptor;
  /** The values of entries that the rule has no value for. */
  readonly values: readonly string[];
}

/** The semantics of rules, written down without regard to speed. */
export function naiveMatch(
  { descriptors = [], setDescriptors = [] }: RateLimitRules,
  request: readonly Descriptor[],
): NaiveHit[] {
  const inTree = request
    .filter((each) => !each.isSet)
    .flatMap(({ entries }) => (entries.length === 0 ? [] : walk(descriptors, entries, [])));
  const weights = inTree.map(({ rule }) => rule as RateLimitDescriptor).filter((rule) => !rule.shadow);
  const highest = Math.max(0, ...weights.map((rule) => rule.weight ?? 0));
  const heavy = inTree.filter(({ rule }) => rule.alwaysApply || ((rule as RateLimitDescriptor).weight ?? 0) >= highest);
  const sets = request.filter((each) => each.isSet).flatMap(({ entries }) => matchingSets(setDescriptors, entries));
  return [...heavy, ...sets];
}

function walk(
  level: readonly RateLimitDescriptor[],
  [first, ...rest]: readonly Entry[],
  values: readonly string[],
): NaiveHit[] {
  const ofKey = level.filter((each) => each.key === first!.key);
  const rule = ofKey.find((each) => each.value === first!.value) ?? ofKey.find((each) => each.value === undefined);
  if (!rule) return [];
  const seen = rule.value === undefined ? [...values, first!.value] : values;
  if (rest.length > 0) return walk(rule.descriptors ?? [], rest, seen);
  return rule.rateLimit ? [{ rule, values: seen }] : [];
}

function matchingSets(rules: readonly RateLimitSetDescriptor[], entries: readonly Entry[]): NaiveHit[] {
  const fits = rules.filter(
    (rule) =>
      rule.rateLimit &&
      (rule.simpleDescriptors ?? []).every((wanted) =>
        entries.some((each) => each.key === wanted.key && (wanted.value ?? each.value) === each.value),
      ),
  );
  const decided = fits.findIndex((rule) => !rule.shadow);
  return fits
    .filter((rule, i) => rule.alwaysApply || decided < 0 || i <= decided)
    .map((rule) => ({
      rule,
      values: (rule.simpleDescriptors ?? [])
        .filter((wanted) => wanted.value === undefined)
        .map((wanted) =>
          JSON.stringify(
            entries
              .filter((each) => each.key === wanted.key)
              .map((each) => each.value)
              .sort(),
          ),
        ),
    }));
}
