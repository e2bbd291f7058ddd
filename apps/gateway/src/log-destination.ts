import { createLineSink } from '@edge-gateway/core';
import type { DestinationStream } from 'pino';
import { readableLine } from './readable-line.ts';

/**
 * Standard error for the program's own log. Lines of a terminal are readable text and written at once; all others are gathered and written off the
 * event loop, at the latest when the process exits. `onDropped` is called with the number of lines that a reader was too slow for.
 */
export function createLogDestination(onDropped: (lines: number) => void): DestinationStream {
  const { stderr } = process;
  if (stderr.isTTY) return { write: (line) => void stderr.write(readableLine(line, { colors: stderr.hasColors() })) };
  const sink = createLineSink('/dev/stderr', { onDropped });
  return { write: (line) => sink.write(line) };
}
