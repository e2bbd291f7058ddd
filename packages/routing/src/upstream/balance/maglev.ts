import type { Algorithm } from './algorithm.ts';
import { hashedHosts, hashOrRandom, type HashedHost } from './hash-key.ts';
import type { LoadSettings } from './load-settings.ts';
import { xxHash64 } from './xx-hash.ts';

/** A prime number, as in Envoy. */
const TABLE_SIZE = 65_537;
const MAX_HASH = 0xffff_ffff_ffff_ffffn;

/** Consistent hashing with a table: faster to look up than a ring and more even, but other requests move too if a host is removed. */
export function maglev({ hashesHostnames }: LoadSettings): Algorithm {
  return (weighted) => {
    const entries = hashedHosts(weighted, hashesHostnames);
    const table = createTable(entries);
    return (context) => {
      if (entries.length === 0) return undefined;
      const hash = hashOrRandom(context?.hash);
      const attempt = (context?.attempt ?? 1) - 1;
      // Another entry of the table for each retry.
      const changed = attempt > 0 ? hash ^ (MAX_HASH - BigInt(attempt) + 1n) : hash;
      return entries[table[Number(changed % BigInt(TABLE_SIZE))]!]!.host;
    };
  };
}

/** Each host takes the next free entry of its own permutation in turn; hosts with a smaller weight skip turns. */
function createTable(entries: readonly HashedHost[]): Int32Array {
  const table = new Int32Array(TABLE_SIZE).fill(-1);
  if (entries.length === 0) return table;
  const largest = Math.max(...entries.map(({ share }) => share));
  const turns = entries.map(({ key, share }) => ({
    at: Number(xxHash64(key) % BigInt(TABLE_SIZE)),
    skip: Number(xxHash64(key, 1n) % BigInt(TABLE_SIZE - 1)) + 1,
    share,
    target: 0,
  }));
  let filled = 0;
  for (let round = 1; filled < TABLE_SIZE; round++) {
    for (let i = 0; i < turns.length && filled < TABLE_SIZE; i++) {
      const turn = turns[i]!;
      if (round * turn.share < turn.target) continue;
      turn.target += largest;
      while (table[turn.at] !== -1) turn.at = (turn.at + turn.skip) % TABLE_SIZE;
      table[turn.at] = i;
      filled++;
    }
  }
  return table;
}
