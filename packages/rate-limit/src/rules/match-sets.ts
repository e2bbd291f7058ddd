import type { Descriptor, Entry } from '../descriptor/descriptor.ts';
import { hitOf, withSetValues, type Hit, type HitValues } from './hit.ts';
import type { RuleEntry, SetRule } from './rule.ts';

/** Sets with more entries than this are indexed before they are compared. */
const MAX_SCANNED = 8;

/**
 * Adds the hits of a set, whose first `start` entries are not part of it: the first rule whose entries are all in the set, and later
 * ones that always apply. Rules that only count do not end the search.
 */
export function matchSets(sets: readonly SetRule[], descriptor: Descriptor, start: number, hits: Hit[]): void {
  if (sets.length === 0) return;
  const entries = start === 0 ? descriptor.entries : descriptor.entries.slice(start);
  const contains = entries.length > MAX_SCANNED ? indexed(entries) : scanned(entries);
  let isDecided = false;
  for (const { rule, entries: wanted } of sets) {
    if ((isDecided && !rule.alwaysApply) || !wanted.every(contains)) continue;
    const hit = hitOf(rule, valuesOf(wanted, entries), descriptor);
    if (!hit) continue;
    hits.push(hit);
    if (!rule.isShadow) isDecided = true;
  }
}

type Contains = (wanted: RuleEntry) => boolean;

const scanned =
  (entries: readonly Entry[]): Contains =>
  (wanted) =>
    entries.some(({ key, value }) => key === wanted.key && (wanted.value === undefined || wanted.value === value));

function indexed(entries: readonly Entry[]): Contains {
  const byKey = new Map<string, Set<string>>();
  for (const { key, value } of entries) {
    const values = byKey.get(key);
    if (values) values.add(value);
    else byKey.set(key, new Set([value]));
  }
  return ({ key, value }) => (value === undefined ? byKey.has(key) : byKey.get(key)?.has(value) === true);
}

/** Returns the values of the entries that a rule has no value for. */
function valuesOf(wanted: readonly RuleEntry[], entries: readonly Entry[]): HitValues {
  let values: HitValues;
  for (const { key, value } of wanted) {
    if (value !== undefined) continue;
    values = withSetValues(
      values,
      entries.filter((entry) => entry.key === key),
    );
  }
  return values;
}
