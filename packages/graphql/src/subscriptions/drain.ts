/** The end of what stays open for long, because the process ends soon. */
export interface Departure {
  /** Has `leave` called when it begins, at once where it has; gives what forgets it. */
  onBegin(leave: () => void): () => void;
  begin(): void;
}

/** Makes one that has not begun. */
export function createDeparture(): Departure {
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
