import picocolors from 'picocolors';
import type { Io } from '../io.ts';
import { wrapText } from './table.ts';

/** Colour functions; each returns its text unchanged when colours are off. */
export type Colors = ReturnType<typeof picocolors.createColors>;

/** The parts of the process, and what commands print with. */
export interface Terminal extends Io {
  readonly colors: Colors;
  /** Columns of standard output; no limit if it is not a terminal. */
  readonly width: number;
  /** One or more lines to standard output. */
  out(text: string): void;
  /** The same as `out`, for text in words: lines fit the width of the terminal. */
  outWrapped(text: string): void;
  /** Part of a line to standard output. */
  write(text: string): void;
  /** One or more lines to standard error. */
  err(text: string): void;
  /** Shows a moving line while `work` runs, on a terminal only. */
  progress<T>(text: string, work: () => Promise<T>): Promise<T>;
}

/** True when output may be coloured: a terminal that is not dumb, and no `NO_COLOR`. */
export function wantsColors(io: Io): boolean {
  return io.isTTY && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb';
}

export function createTerminal(io: Io): Terminal {
  const line = (text: string) => (text.endsWith('\n') ? text : `${text}\n`);
  const width = (io.stdout as { columns?: number }).columns || Infinity;
  return {
    ...io,
    // `undefined` would leave the choice to picocolors, which colours pipes where `CI` is set.
    colors: picocolors.createColors(Boolean(wantsColors(io))),
    width,
    out: (text) => void io.stdout.write(line(text)),
    outWrapped: (text) => void io.stdout.write(wrapText(line(text), width)),
    write: (text) => void io.stdout.write(text),
    err: (text) => void io.stderr.write(line(text)),
    progress: (text, work) => progress(io, text, work),
  };
}

async function progress<T>(io: Io, text: string, work: () => Promise<T>): Promise<T> {
  // A terminal with zero columns would clear the progress line forever.
  if (!io.isTTY || !(io.stderr as { columns?: number }).columns) return work();
  const { default: ora } = await import('ora');
  const spinner = ora({ text, stream: io.stderr as NodeJS.WriteStream, discardStdin: false }).start();
  try {
    return await work();
  } finally {
    spinner.stop();
  }
}
