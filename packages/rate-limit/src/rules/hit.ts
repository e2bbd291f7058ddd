import type { Descriptor, Entry } from '../descriptor/descriptor.ts';
import type { RuleOutcome } from '../limiter.ts';
import type { Count, Tally } from '../store/store.ts';
import { digestPart, keyPart } from './counter-key.ts';
import type { Limit } from './limit.ts';
import type { Rule } from './rule.ts';

/** A rule that a request hits, and the counter to increase; then the outcome. */
export interface Hit extends Tally, RuleOutcome {
  readonly group: Rule;
  readonly limit: Limit;
  isOver: boolean;
  remaining: number;
  resetMs: number;
  /** Sets the outcome. */
  settle(count: Count): void;
}

/** The values of a counter: none, one entry, or several as the end of a key, which starts with a separator. */
export type HitValues = Value | string | undefined;

type Value = Pick<Entry, 'value' | 'isSecret'>;

/** Returns a value as a part of a counter's key. */
export function valuePart({ value, isSecret }: Value): string {
  return `|${isSecret ? digestPart(value) : keyPart(value)}`;
}

/** Returns the values with that of one more entry. Rules of trees have a fixed number of values. */
export function withValue(values: HitValues, entry: Value): HitValues {
  return values === undefined ? entry : endOfKey(values) + valuePart(entry);
}

/**
 * Returns the values with those of all entries of one key in a set. Several are one part that no single value has; they are sorted, because
 * sets have no order. A single value that starts like the end of a key is hashed.
 */
export function withSetValues(values: HitValues, entries: readonly Entry[]): HitValues {
  const [entry] = entries;
  if (entries.length > 1) return `${endOfKey(values)}|*${digestPart(entries.map(valuePart).toSorted().join(''))}`;
  return values === undefined && entry!.value.startsWith('|') ? valuePart(entry!) : withValue(values, entry!);
}

/** Returns the hit of a rule; `undefined` if neither the rule nor the descriptor has a limit. */
export function hitOf(rule: Rule, values: HitValues, descriptor: Descriptor): Hit | undefined {
  const applied = appliedLimit(rule, descriptor.limit);
  if (!applied) return undefined;
  const hit = new RuleHit(rule, applied, values, descriptor.cost ?? 1);
  hit.descriptor = descriptor;
  return hit;
}

/** Returns the limit of a rule, or the one that replaces it. */
export function appliedLimit({ limit: own }: Rule, replacement: Limit | undefined): Limit | undefined {
  if (!replacement) return own;
  return own ? { ...replacement, algorithm: own.algorithm } : replacement;
}

/** One object instead of three per hit. It computes its key only for stores that read it. Prepared checks use it again. */
export class RuleHit implements Hit {
  readonly group: Rule;
  limit: Limit;
  cost: number;
  values: string;
  isSecret: boolean;
  descriptor: Descriptor | undefined = undefined;
  isOver = false;
  remaining = 0;
  resetMs = 0;
  /** True if `values` are the end of the key. */
  #isEnd: boolean;

  constructor(group: Rule, limit: Limit, values: HitValues, cost: number) {
    this.group = group;
    this.limit = limit;
    this.cost = cost;
    const isEnd = typeof values !== 'object';
    this.#isEnd = isEnd;
    this.values = isEnd ? (values ?? '') : values.value;
    this.isSecret = isEnd ? false : values.isSecret === true;
  }

  /** Sets the only value of the counter. */
  setValue(value: string, isSecret: boolean): void {
    this.values = value;
    this.isSecret = isSecret;
    this.#isEnd = false;
  }

  get rule(): string {
    return this.group.name;
  }

  get isShadow(): boolean {
    return this.group.isShadow;
  }

  get key(): string {
    const { group, values, isSecret } = this;
    return group.id + (this.#isEnd ? values : valuePart({ value: values, isSecret }));
  }

  settle({ isOver, remaining, resetMs }: Count): void {
    this.isOver = isOver;
    this.remaining = remaining;
    this.resetMs = resetMs;
  }
}

function endOfKey(values: HitValues): string {
  return values === undefined ? '' : typeof values === 'string' ? values : valuePart(values);
}
