import { optionsKeptByNpm } from '@edge-gateway/core';
import type { Command, Option } from 'commander';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';

/** Throws `ERR_CLI_USAGE` if npm kept options of a call for itself, as in `npm run gatewayctl check --config dir`. */
export function rejectOptionsKeptByNpm(io: Io, program: Command, argv: readonly string[]): void {
  const problem = optionsKeptByNpm(optionsOf(program), io.env, wordsOf(program, argv));
  if (problem !== undefined) throw cliError('ERR_CLI_USAGE', problem);
}

function optionsOf(command: Command): Option[] {
  return [...command.options, ...command.commands.flatMap(optionsOf)];
}

/** Returns the command names at the beginning of a call. */
function wordsOf(command: Command, [word, ...rest]: readonly string[]): string[] {
  const found = command.commands.find((each) => each.name() === word || each.aliases().includes(word ?? ''));
  return found ? [word!, ...wordsOf(found, rest)] : [];
}
