/** The end of long-lived connections, because the process ends soon. */
export interface Drain {
  /** Calls `leave` when the drain begins, at once if it has begun. Returns a function that removes `leave`. */
  onBegin(leave: () => void): () => void;
  begin(): void;
}

export function createDrain(): Drain {
  const waiting = new Set<() => void>();
  let begun = false;
  return {
    onBegin(leave) {
      if (begun) leave();
      else waiting.add(leave);
      return () => void waiting.delete(leave);
    },
    begin() {
      begun = true;
      for (const leave of waiting) leave();
      waiting.clear();
    },
  };
}
