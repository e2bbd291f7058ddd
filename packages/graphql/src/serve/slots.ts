/** Creates `max` slots for connections that are open at the same time; 0 is no limit. */
export function createSlots(max: number) {
  let used = 0;
  return {
    /** Acquires a slot. Returns false if none is free. */
    acquire(): boolean {
      if (max > 0 && used >= max) return false;
      used++;
      return true;
    },
    release(): void {
      used--;
    },
  };
}

export type Slots = ReturnType<typeof createSlots>;
