import type { Skipped } from './discovered-api.ts';

/**
 * Maximum size of the schema of one upstream: converting a larger one would block the process, at every
 * poll.
 */
export interface DiscoveryBounds {
  /** Operations of an OpenAPI document, methods of gRPC services. */
  readonly operations: number;
  /** Fields, arguments and values of all types. */
  readonly fields: number;
}

export const DISCOVERY_BOUNDS: DiscoveryBounds = { operations: 5000, fields: 50_000 };

/** Returns the first items; reports the rest as skipped. */
export function firstOf<T>(all: readonly T[], max: number, told: { skipped: Skipped[]; where: string }): readonly T[] {
  if (all.length <= max) return all;
  const reason = `there are ${all.length} operations; the first ${max} are offered`;
  told.skipped.push({ where: told.where, reason, isCut: true });
  return all.slice(0, max);
}

/** Reserves fields. Returns false if the limit is exceeded, which is reported once. */
export type TakeFields = (amount: number, where: string) => boolean;

/** Creates a reservation of at most so many fields. */
export function roomForFields(max: number, skipped: Skipped[]): TakeFields {
  let left = max;
  let isTold = false;
  return (amount, where) => {
    if (amount <= left) {
      left -= amount;
      return true;
    }
    const reason = `all types together would have more than ${max} fields; from here on they are JSON`;
    if (!isTold) skipped.push({ where, reason, isCut: true });
    isTold = true;
    return false;
  };
}
