import { isDeepStrictEqual } from 'node:util';

/** A condition of a status, without its time. */
export interface NewCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

export interface Condition extends NewCondition {
  readonly lastTransitionTime: string;
}

/** Limit of the API for messages. */
const MAX_MESSAGE = 32_768;

/** Returns a condition; without a problem it is true. */
export function condition(
  type: string,
  generation: number,
  problem: { readonly reason: string; readonly message: string } | undefined,
  reason: string = type,
): NewCondition {
  const message = (problem?.message ?? '').slice(0, MAX_MESSAGE);
  const state = problem ? { status: 'False' as const, reason: problem.reason } : { status: 'True' as const, reason };
  return { type, ...state, message, observedGeneration: generation };
}

/** Adds the times: that of the previous condition of this type if its status is the same. */
export function timedConditions(
  conditions: readonly NewCondition[],
  before: unknown,
  now: string,
): readonly Condition[] {
  const known = Array.isArray(before) ? (before as readonly Partial<Condition>[]) : [];
  return conditions.map((each) => {
    const old = known.find(({ type }) => type === each.type);
    const isSame = old?.status === each.status && old.lastTransitionTime !== undefined;
    return { ...each, lastTransitionTime: isSame ? old.lastTransitionTime! : now };
  });
}

/** Returns whether a status differs from the one before in more than times. */
export function differs(now: unknown, before: unknown): boolean {
  return !isDeepStrictEqual(
    JSON.parse(JSON.stringify(now)),
    before === undefined ? undefined : JSON.parse(JSON.stringify(before)),
  );
}
