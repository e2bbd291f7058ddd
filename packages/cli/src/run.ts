import { printable, type GatewayError } from '@edge-gateway/core';
import { CommanderError } from 'commander';
import { rejectOptionsKeptByNpm } from './command-line/npm-options.ts';
import { runPlugin } from './command-line/plugin.ts';
import { isCliError } from './error-codes.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';
import { wrapText } from './output/table.ts';
import { wantsColors } from './output/terminal.ts';

/**
 * Runs one call of gatewayctl and returns its exit status: 0 done, 1 the work failed or a check did not pass, 2 the call
 * was wrong. Errors are one `Error: …` line on standard error.
 *
 * @param argv The words after the program's name.
 * @example
 * process.exitCode = await run(processIo(), process.argv.slice(2));
 */
export async function run(io: Io, argv: readonly string[]): Promise<number> {
  const open: (() => Promise<void>)[] = [];
  try {
    const program = createProgram({ ...io, onEnd: (close) => void open.push(close) });
    rejectOptionsKeptByNpm(io, program, argv);
    const plugin = await runPlugin(io, program, argv);
    if (plugin !== undefined) return plugin;
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    return report(io, error);
  } finally {
    await Promise.allSettled(open.toReversed().map((close) => close()));
  }
}

const QUIET = new Set(['gatewayctl.exit', 'commander.help', 'commander.helpDisplayed', 'commander.version']);

function report(io: Io, error: unknown): number {
  const message = (error as Error | undefined)?.message ?? String(error);
  if (error instanceof CommanderError) {
    if (QUIET.has(error.code)) return error.exitCode;
    const text = message.replace(/^error: /, '');
    printError(io, text.replaceAll(/\n\(Did you mean (.+)\?\)/g, ' (did you mean $1?)'));
    return 2;
  }
  printError(io, message);
  return isCliError(error) ? (error as GatewayError).status : 1;
}

function printError(io: Io, message: string): void {
  const label = wantsColors(io) ? '\u001b[31mError:\u001b[39m' : 'Error:';
  const width = (io.stderr as { columns?: number }).columns || Infinity;
  io.stderr.write(`${wrapText(`${label} ${printable(message)}`, width)}\n`);
}
