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
export type HitValues = Entry | string | undefined;

/** Returns a value as a part of a counter's key. */
export function valuePart({ value, isSecret }: Entry): string {
  return `|${isSecret ? digestPart(value) : keyPart(value)}`;
}

/** Returns the values with that of one more entry. Rules of trees have a fixed number of values. */
export function withValue(values: HitValues, entry: Entry): HitValues {
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
  const { limit } = descriptor;
  const applied = limit ? overridden(limit, rule.limit) : rule.limit;
  return applied && new RuleHit(rule, values, applied, descriptor);
}

/** One object instead of three per hit. It computes its key only for stores that read it. */
class RuleHit implements Hit {
  readonly group: Rule;
  readonly limit: Limit;
  readonly descriptor: Descriptor;
  isOver: boolean;
  remaining: number;
  resetMs: number;
  readonly #values: HitValues;

  constructor(group: Rule, values: HitValues, limit: Limit, descriptor: Descriptor) {
    this.group = group;
    this.#values = values;
    this.limit = limit;
    this.descriptor = descriptor;
    this.isOver = false;
    this.remaining = 0;
    this.resetMs = 0;
  }

  get cost(): number {
    return this.descriptor.cost ?? 1;
  }

  get rule(): string {
    return this.group.name;
  }

  get isShadow(): boolean {
    return this.group.isShadow;
  }

  get key(): string {
    return this.group.id + endOfKey(this.#values);
  }

  get values(): string {
    const values = this.#values;
    return values === undefined ? '' : typeof values === 'string' ? values : values.value;
  }

  get isSecret(): boolean {
    const values = this.#values;
    return typeof values === 'object' && values.isSecret === true;
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

function overridden(limit: Limit, own: Limit | undefined): Limit {
  return own ? { ...limit, algorithm: own.algorithm } : limit;
}
