import { createLineSink } from '@edge-gateway/core';
import { pino, type DestinationStream } from 'pino';

/**
 * Standard error for the program's own log. Lines of a terminal are written at once; all others are gathered and written off the
 * event loop, at the latest when the process exits. `onDropped` is called with the number of lines that a reader was too slow for.
 */
export function createLogDestination(onDropped: (lines: number) => void): DestinationStream {
  if (process.stderr.isTTY) return pino.destination({ dest: 2, sync: true });
  const sink = createLineSink('/dev/stderr', { onDropped });
  return { write: (line) => sink.write(line) };
}
