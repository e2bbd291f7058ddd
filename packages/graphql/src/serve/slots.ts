/** Limits how many connections are open at the same time. */
export interface Slots {
  /** Takes a slot. Returns false if none is free. */
  acquire(): boolean;
  release(): void;
}

/** Creates `max` slots; 0 is no limit. */
export function createSlots(max: number): Slots {
  let used = 0;
  return {
    acquire() {
      if (max > 0 && used >= max) return false;
      used++;
      return true;
    },
    release() {
      used--;
    },
  };
}
