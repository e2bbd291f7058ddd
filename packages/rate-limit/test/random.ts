/** Random choices that are the same for the same seed (mulberry32). */
export interface Random {
  /** An integer from 0 to before `end`. */
  integer(end: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  list<T>(maxLength: number, create: () => T): T[];
}

export function seeded(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (end: number): number => Math.floor(next() * end);
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (list) => list[integer(list.length)]!,
    list: (maxLength, create) => Array.from({ length: integer(maxLength + 1) }, create),
  };
}
