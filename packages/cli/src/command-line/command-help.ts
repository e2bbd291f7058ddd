import { nearest } from '@edge-gateway/core';
import { CommanderError, Help, type Command } from 'commander';
import { cliError } from '../error-codes.ts';

/** Returns ` (did you mean "x"?)`; empty if no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const one = nearest(word, known);
  return one === undefined ? '' : ` (did you mean "${one}"?)`;
}

/** Thrown by a command that has printed everything and only sets the exit status. */
export function exitStatus(status: number): CommanderError {
  return new CommanderError(status, 'gatewayctl.exit', '');
}

/** An example call, and what it does. */
export type Example = readonly [command: string, what: string];

const examples = new WeakMap<Command, readonly Example[]>();

/** Returns the examples of a command. */
export function examplesOf(command: Command): readonly Example[] {
  return examples.get(command) ?? [];
}

/** Adds examples below the help of a command. */
export function addExamples(command: Command, lines: readonly Example[]): void {
  examples.set(command, lines);
  command.addHelpText('after', () => exampleLines(lines, command.configureOutput().getOutHelpWidth!()).join('\n'));
}

/** Each example on one line, followed by its description; if that is too wide, the description is above it. */
function exampleLines(lines: readonly Example[], width: number): string[] {
  const longest = Math.max(...lines.map(([command]) => command.length));
  const oneLine = lines.map(([command, what]) => `  ${command.padEnd(longest)}  # ${what}`);
  const title = ['', 'Examples:'];
  if (oneLine.every((line) => line.length <= width)) return [...title, ...oneLine];
  return [...title, ...lines.flatMap(([command, what]) => [`  # ${what}`, ...callLines(command, width)])];
}

/** A call on as many lines as it needs, continued with backslashes in front of flags. */
function callLines(command: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of command.split(/ (?=-)/)) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(`  ${part}`);
    else if (`${last} ${part} \\`.length <= width) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(`    ${part}`);
  }
  return lines.map((line, i) => (i < lines.length - 1 ? `${line} \\` : line));
}

/** The connection flags of every command. */
export const CONNECTION_FLAGS = ['--server', '--proxy-admin', '--admin-token-file'];

/** Leaves flags of its parents that have no effect on it out of the help of a command. */
export function hideGlobalFlags(command: Command, flags: readonly string[]): void {
  command.configureHelp({
    ...command.configureHelp(),
    visibleGlobalOptions(this: Help, shown) {
      return Help.prototype.visibleGlobalOptions.call(this, shown).filter(({ long }) => !flags.includes(long ?? ''));
    },
  });
}

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

/** Makes a command a group: without a subcommand, or with an unknown one, it is an error. Its action reports unknown options. */
export function asGroup(group: Command, noun: 'command' | 'kind' = 'command'): Command {
  return (
    group
      .argument('[subcommand]')
      .allowExcessArguments()
      // A misspelt subcommand is reported before its options, which only that subcommand knows.
      .allowUnknownOption()
      .action((word: string | undefined) => {
        if (word === undefined) throw missingSubcommand(group, 'please provide a subcommand');
        throw noun === 'kind' ? unknownKind(group, word) : unknownSubcommand(group, word);
      })
      .usage('[options] <subcommand>')
  );
}

/** The error for a group without a subcommand: `what`, and the subcommands. */
export function missingSubcommand(group: Command, what: string): Error {
  return cliError('ERR_CLI_SUBCOMMAND', `${what}: ${group.commands.map((command) => command.name()).join(', ')}`);
}

/** The error for a subcommand that a group does not have, with the nearest one, or all if none is similar. */
export function unknownSubcommand(group: Command, word: string): Error {
  if (word.startsWith('-')) return unknownOption(group, word);
  const names = group.commands.map((command) => command.name()).join(', ');
  const hint = didYouMean(word, namesOf(group)) || `: choose one of ${names}, or see ${pathOf(group)} --help`;
  return cliError('ERR_CLI_USAGE', `unknown command '${word}'${hint}`);
}

function unknownKind(group: Command, word: string): Error {
  if (word.startsWith('-')) return unknownOption(group, word);
  const one = nearest(word, namesOf(group));
  const names = group.commands.map((command) => command.name()).join(', ');
  const hint = one === undefined ? `choose one of ${names}` : `did you mean "${one}"?`;
  return cliError('ERR_CLI_USAGE', `unknown kind "${word}": ${hint} (${pathOf(group)} --help lists all kinds)`);
}

function unknownOption(group: Command, word: string): Error {
  const flag = word.split('=', 1)[0]!;
  const known = new Help().visibleOptions(group).map(({ long }) => long ?? '');
  return cliError('ERR_CLI_USAGE', `unknown option '${flag}'${didYouMean(flag, known)}`);
}

/** The names and aliases of the subcommands of a command. */
export function namesOf(group: Command): string[] {
  return group.commands.flatMap((command) => [command.name(), ...command.aliases()]);
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
