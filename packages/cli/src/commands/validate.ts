import { Option, type Command } from 'commander';
import { exitStatus } from '../exit-status.ts';
import { examples } from '../help.ts';
import type { Io } from '../io.ts';
import { loadOffline, shownOrigin } from '../offline.ts';
import { printable } from '../printable.ts';
import { createTerminal } from '../terminal.ts';
import { problemData, problemLine, validationOf, type Validation } from '../validation.ts';

interface ValidateFlags {
  readonly strict?: boolean;
  readonly output: 'table' | 'json';
}

/** `validate DIR`: every problem of a directory of resources, found by the code of the server. */
export function addValidate(program: Command, io: Io): void {
  const command = program
    .command('validate')
    .description('Read a directory as a gateway would, and print every problem with its place.')
    .argument('<dir>', 'directory of *.yaml, *.yml and *.json, read recursively')
    .option('--strict', 'warnings fail as well')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['table', 'json']).default('table'));
  command.addHelpText(
    'after',
    examples([
      ['gatewayctl validate ./resources', 'exit status 1 when there are errors'],
      ['gatewayctl validate ./resources --strict -o json', 'for a CI that reads JSON'],
    ]),
  );
  command.action(async (directory: string) => {
    const flags = command.opts<ValidateFlags>();
    const terminal = createTerminal(io);
    const state = await terminal.progress(`Reading ${directory}`, () => loadOffline(io, directory));
    const found = validationOf(state);
    const shown = found.problems.map((problem) => ({
      ...problem,
      issue: { ...problem.issue, origin: shownOrigin(io, problem.issue.origin) },
    }));
    const failed = print(io, { ...found, problems: shown }, flags);
    if (failed) throw exitStatus(1);
  });
}

/** Prints what was found; true when it is a failure. */
function print(io: Io, { resources, problems }: Validation, { strict, output }: ValidateFlags): boolean {
  const { out, colors } = createTerminal(io);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const failed = errors > 0 || (strict === true && warnings > 0);
  if (output === 'json') {
    out(JSON.stringify({ resources, errors, warnings, problems: problems.map(problemData) }, undefined, 2));
    return failed;
  }
  for (const problem of problems) {
    const line = printable(problemLine(problem));
    out(problem.severity === 'error' ? colors.red(line) : colors.yellow(`${line}  [warning]`));
  }
  const paint = failed ? colors.red : colors.green;
  out(paint(`${count(resources, 'resource')}, ${count(errors, 'error')}, ${count(warnings, 'warning')}`));
  return failed;
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
