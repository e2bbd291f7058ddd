import { issueData } from '@edge-gateway/core';
import type { Command } from 'commander';
import { exitStatus } from '../command-line/command-help.ts';
import { addExamples } from '../command-line/command-help.ts';
import { loadPaths } from '../resources/load.ts';
import { count, countLine, problemLines, shownProblems } from '../output/problem-lines.ts';
import { outputOption } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { validationOf, type Validation } from '../resources/validation.ts';

interface ValidateFlags {
  readonly allowMissing?: boolean;
  readonly strict?: boolean;
  readonly output: 'table' | 'json';
}

/** `validate PATH...`: prints every problem of directories and files of resources, found by the code of the gateway. */
export function addValidate(program: Command, io: Terminal): void {
  const command = program
    .command('validate')
    .description('Read directories and files as a gateway would, and print every problem with its place.')
    .argument(
      '<path...>',
      'directories of *.yaml, *.yml and *.json, read recursively, and files; checked as one configuration',
    )
    .option('--allow-missing', 'report references to missing resources as warnings, to check part of a configuration')
    .option('--strict', 'warnings fail as well')
    .addOption(outputOption('table', 'json'));
  addExamples(command, [
    ['gatewayctl validate ./resources', 'exit status 1 when there are errors'],
    ['gatewayctl validate shop.yaml --allow-missing', 'one file, whose upstreams are elsewhere'],
    ['gatewayctl validate ./resources --strict -o json', 'for a CI that reads JSON'],
  ]);
  command.action(async (paths: readonly string[]) => {
    const flags = command.opts<ValidateFlags>();
    const state = await io.progress(`Reading ${paths.join(', ')}`, () => loadPaths(io, paths));
    const found = validationOf(state, flags);
    const failed = print(io, { ...found, problems: shownProblems(io, found.problems) }, flags);
    if (failed) throw exitStatus(1);
  });
}

/** Prints what was found; true when it is a failure. */
function print(io: Terminal, { resources, problems }: Validation, { strict, output }: ValidateFlags): boolean {
  const { out, outWrapped, colors } = io;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const failed = errors > 0 || (strict === true && warnings > 0);
  if (output === 'json') {
    out(JSON.stringify({ resources, errors, warnings, problems: problems.map(issueData) }, undefined, 2));
    return failed;
  }
  for (const line of problemLines(problems, colors)) outWrapped(line);
  const paint = failed ? colors.red : colors.green;
  out(paint(`${count(resources, 'resource')}, ${countLine(problems)}`));
  return failed;
}
