import { createLineSink, readableLine } from '@edge-gateway/core';
import type { DestinationStream } from 'pino';

/**
 * Creates the destination of the program's log, standard error. On a terminal lines are readable text and written immediately; otherwise they are collected and written off the
 * event loop, at the latest when the process exits. `onDropped` is called with the number of lines dropped because the reader was too slow.
 */
export function createLogDestination(onDropped: (lines: number) => void): DestinationStream {
  const { stderr } = process;
  if (stderr.isTTY) return { write: (line) => void stderr.write(readableLine(line, { colors: stderr.hasColors() })) };
  const sink = createLineSink('/dev/stderr', { onDropped });
  return { write: (line) => sink.write(line) };
}
