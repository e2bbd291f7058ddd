import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { namesOf } from '../command-line/command-help.ts';
import { didYouMean } from '../command-line/command-help.ts';

/** `help [command…]`: the help of a command, by its words. */
export function addHelp(program: Command): void {
  const help = program.helpCommand(false).command('help').description('Print help of a command.');
  help.argument('[command...]', 'words of the command').action((words: string[]) => {
    let at = program;
    for (const word of words) {
      const found = at.commands.find((each) => each.name() === word || each.aliases().includes(word));
      if (!found) throw cliError('ERR_CLI_USAGE', `unknown command '${word}'${didYouMean(word, namesOf(at))}`);
      at = found;
    }
    at.outputHelp();
  });
}
