import type { Command } from 'commander';
import { cliError } from './error-codes.ts';
import { didYouMean } from './suggest.ts';

/** The block of examples below the help of a command. */
export function examples(lines: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  return ['', 'Examples:', ...lines.map(([command, what]) => `  ${command.padEnd(width)}  # ${what}`)].join('\n');
}

/** Makes a command a mere group: called without a subcommand, or with an unknown one, it says so. */
export function asGroup(group: Command): Command {
  return group
    .argument('[subcommand]')
    .allowExcessArguments()
    .action((word: string | undefined) => {
      if (word === undefined) throw cliError('ERR_CLI_SUBCOMMAND', 'please provide a subcommand');
      throw unknownSubcommand(group, word);
    })
    .usage('[options] <subcommand>');
}

/** The error for a subcommand that a group does not have, with the nearest one. */
export function unknownSubcommand(group: Command, word: string): Error {
  const known = group.commands.flatMap((command) => [command.name(), ...command.aliases()]);
  return cliError('ERR_CLI_USAGE', `unknown command '${word}'${didYouMean(word, known)}`);
}
