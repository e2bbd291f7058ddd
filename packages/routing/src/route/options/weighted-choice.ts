/** A thing with its share. */
export interface Weighted {
  readonly weight: number;
}

/** Sum of all shares. */
export function totalWeight(list: readonly Weighted[]): number {
  let total = 0;
  for (const { weight } of list) total += weight;
  return total;
}

/**
 * The member whose share covers `point`, from 0 up to (not including) the total. A share of 0 is never chosen.
 * `undefined` when there is nothing to choose.
 */
export function chooseByWeight<T extends Weighted>(list: readonly T[], point: number): T | undefined {
  let left = point;
  for (const member of list) {
    if (left < member.weight) return member;
    left -= member.weight;
  }
  return undefined;
}
