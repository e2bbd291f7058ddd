/** Bounds of {@link RecentLines}. */
export interface RecentLinesLimits {
  /** Maximum number of lines. Default 1,000. */
  readonly maxLines?: number;
  /** Maximum number of characters of all lines. Default 1,048,576. */
  readonly maxLength?: number;
  /** Maximum number of characters per line; longer lines are cut and end in `…`. Default 16,384. */
  readonly maxLineLength?: number;
}

/** The newest lines of a log, and a subscription to new ones. */
export interface RecentLines {
  /** Returns the lines, oldest first, without line breaks. */
  lines(): readonly string[];
  /** Calls back with each new line. Returns a function that unsubscribes. */
  subscribe(listener: (line: string) => void): () => void;
}

/** A buffer of recent lines. */
export interface LineBuffer extends RecentLines {
  /** Adds one line, with or without a line break. */
  write(line: string): void;
}

/**
 * Creates a buffer that keeps the newest lines and drops the oldest, within bounds.
 *
 * @example
 * const recent = createLineBuffer({ maxLines: 100 });
 * recent.write('{"msg":"started"}\n');
 * recent.lines(); // ['{"msg":"started"}']
 */
export function createLineBuffer(limits: RecentLinesLimits = {}): LineBuffer {
  const { maxLines = 1_000, maxLength = 1_048_576, maxLineLength = 16_384 } = limits;
  const listeners = new Set<(line: string) => void>();
  const kept: string[] = [];
  let length = 0;
  return {
    write(written) {
      const text = written.endsWith('\n') ? written.slice(0, -1) : written;
      const line = text.length > maxLineLength ? `${text.slice(0, maxLineLength - 1)}…` : text;
      length += line.length;
      kept.push(line);
      while (kept.length > maxLines || length > maxLength) length -= kept.shift()!.length;
      for (const listener of listeners) listener(line);
    },
    lines: () => [...kept],
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
