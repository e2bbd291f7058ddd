import type { Descriptor, Entry } from '../descriptor/descriptor.ts';
import type { Charge } from '../store/store.ts';
import { digestPart, keyPart } from './counter-key.ts';
import type { Limit } from './limit.ts';
import type { Rule } from './rule.ts';

/** A rule that a request hits, and the counter to increase. */
export interface Hit extends Charge {
  readonly rule: Rule;
}

/** Returns a value as the end of a counter's key. */
export function valuePart({ value, isSecret }: Entry): string {
  return `|${isSecret ? digestPart(value) : keyPart(value)}`;
}

/** Adds the hit of a rule. Returns false if neither the rule nor the descriptor has a limit. */
export function addHit(hits: Hit[], rule: Rule, values: string, { limit, cost = 1 }: Descriptor): boolean {
  const applied = limit ? overridden(limit, rule.limit) : rule.limit;
  if (!applied) return false;
  hits.push({ rule, key: rule.id + values, limit: applied, cost });
  return true;
}

function overridden(limit: Limit, own: Limit | undefined): Limit {
  return own ? { ...limit, algorithm: own.algorithm } : limit;
}
