import type { Facts, HeaderChange } from '@edge-gateway/core';
import { isStricter, type Strictness } from '../limiter.ts';

/** A limit as `x-ratelimit-*` of a response state it. */
export interface ShownLimit extends Strictness {
  /** Value of `x-ratelimit-limit`. */
  readonly limit: string;
  readonly resetSeconds: number;
}

interface Shown {
  readonly limit: ShownLimit;
  readonly changes: readonly HeaderChange[];
}

/** What the response to each request states. */
const shownOf = new WeakMap<Facts, Shown>();

/** States a limit in the response, unless a stricter one is stated already: local limits and those of both stages share the headers. */
export function showLimit(facts: Facts, limit: ShownLimit): void {
  const shown = shownOf.get(facts);
  if (shown && !isStricter(limit, shown.limit)) return;
  const { responseChanges } = facts;
  for (const change of shown?.changes ?? []) {
    const i = responseChanges.indexOf(change);
    if (i !== -1) responseChanges.splice(i, 1);
  }
  const changes: HeaderChange[] = [
    { op: 'set', name: 'x-ratelimit-limit', value: limit.limit },
    { op: 'set', name: 'x-ratelimit-remaining', value: String(limit.remaining) },
    { op: 'set', name: 'x-ratelimit-reset', value: String(limit.resetSeconds) },
  ];
  responseChanges.push(...changes);
  shownOf.set(facts, { limit, changes });
}
