/** Creates the end of long-lived connections, because the process ends soon; it has not begun. */
export function createDrain() {
  const waiting = new Set<() => void>();
  let begun = false;
  return {
    /** Calls `leave` when the drain begins, at once if it has begun. Returns a function that removes `leave`. */
    onBegin(leave: () => void): () => void {
      if (begun) leave();
      else waiting.add(leave);
      return () => void waiting.delete(leave);
    },
    begin(): void {
      begun = true;
      for (const leave of waiting) leave();
      waiting.clear();
    },
  };
}

export type Drain = ReturnType<typeof createDrain>;
