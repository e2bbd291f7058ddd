import { issueData } from '@edge-gateway/core';
import type { Command } from 'commander';
import { addExamples, exitStatus } from '../command-line/command-help.ts';
import { loadPaths } from '../resources/load.ts';
import { countResources, noResources } from '../resources/no-resources.ts';
import {
  count,
  countLine,
  countsOf,
  problemLines,
  replacedPortsNote,
  shownProblems,
  validationOf,
} from '../output/problem-lines.ts';
import { outputOption } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';

interface ValidateFlags {
  readonly allowMissing?: boolean;
  readonly strict?: boolean;
  readonly output: 'table' | 'json';
}

/** `validate PATH...`: prints every problem of directories and files of resources, found by the code of the gateway. */
export function addValidate(program: Command, io: Terminal): void {
  const command = program
    .command('validate')
    .description('Read directories and files as a gateway would, and print every problem with its location.')
    .argument(
      '<path...>',
      'directories of *.yaml, *.yml and *.json, read recursively, and files; checked as one configuration',
    )
    .option('--allow-missing', 'report references to missing resources as warnings, to check part of a configuration')
    .option('--strict', 'treat warnings as errors')
    .addOption(outputOption('table', 'json'));
  addExamples(command, [
    ['gatewayctl validate ./resources', 'exit status 1 when there are errors, or no resources'],
    ['gatewayctl validate shop.yaml --allow-missing', 'one file, whose upstreams are elsewhere'],
    ['gatewayctl validate ./resources --strict -o json', 'for a CI that reads JSON'],
  ]);
  command.action(async (paths: readonly string[]) => {
    const flags = command.opts<ValidateFlags>();
    const state = await io.progress(`Reading ${paths.join(', ')}`, () => loadPaths(io, paths));
    const resources = countResources(state);
    const problems = shownProblems(io, validationOf(state, flags));
    const { errors, warnings } = countsOf(problems);
    const failed = errors > 0 || (flags.strict === true && warnings > 0);
    if (flags.output === 'json')
      io.out(JSON.stringify({ resources, errors, warnings, problems: problems.map(issueData) }, undefined, 2));
    else {
      const note = replacedPortsNote(state.replacedDefaultPorts);
      if (note !== undefined) io.err(note);
      for (const line of problemLines(problems, io.colors)) io.outWrapped(line);
      const paint = failed ? io.colors.red : io.colors.green;
      io.out(paint(`${count(resources, 'resource')}, ${countLine(problems)}`));
    }
    if (failed) throw exitStatus(1);
    if (resources === 0) throw noResources(paths, state);
  });
}
