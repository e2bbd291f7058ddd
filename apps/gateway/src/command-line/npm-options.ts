import { optionsKeptByNpm } from '@edge-gateway/core';
import type { Command } from 'commander';

/** Ends the program with status 2 if npm kept options of a call for itself, as in `npm start --http-port 9000`. */
export function rejectOptionsKeptByNpm(program: Command, argv: readonly string[]): void {
  const role = program.commands.find((each) => each.name() === argv[0]);
  const options = [program, ...program.commands].flatMap((each) => each.options);
  const problem = optionsKeptByNpm(options, process.env, role ? [role.name()] : []);
  if (problem !== undefined) program.error(`error: ${problem}`);
}
