/** A number of requests that may be in flight at a time under one key. */
export interface Slot {
  readonly key: string;
  readonly maxInFlight: number;
}

/** Counts requests in flight, in this process. */
export interface InFlight {
  /**
   * Adds a request to all keys, and returns the function that removes it again; only its first call has an effect. Returns `undefined`,
   * and adds it nowhere, if one of the keys has its maximum.
   */
  acquire(slots: readonly Slot[]): (() => void) | undefined;
  /** Number of keys with requests in flight. */
  readonly size: number;
}

/**
 * Creates counters of requests in flight. They need memory only for keys that have requests.
 *
 * @example
 * const release = inFlight.acquire([{ key: 'user|ann', maxInFlight: 2 }]);
 * if (!release) throw new Error('too many requests in flight');
 * response.once('close', release);
 */
export function createInFlight(): InFlight {
  const requests = new Map<string, number>();

  function remove(key: string): void {
    const left = requests.get(key)! - 1;
    if (left > 0) requests.set(key, left);
    else requests.delete(key);
  }

  return {
    get size() {
      return requests.size;
    },
    acquire(slots) {
      for (let i = 0; i < slots.length; i++) {
        const { key, maxInFlight } = slots[i]!;
        const current = requests.get(key) ?? 0;
        if (current >= maxInFlight) {
          for (const added of slots.slice(0, i)) remove(added.key);
          return undefined;
        }
        requests.set(key, current + 1);
      }
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        for (const { key } of slots) remove(key);
      };
    },
  };
}
