import * as fs from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { parseTestFile, type TestFile } from '../assertions/test-file.ts';
import { REPORTS, renderResults, type ReportFormat, type TestResult } from '../assertions/test-report.ts';
import { addExamples, exitStatus } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { chooseSnapshot, explainContext } from '../explain/served.ts';
import { outputOption } from '../output/formats.ts';
import { countsOf, validationOf } from '../output/problem-lines.ts';
import type { Terminal } from '../output/terminal.ts';
import { readInputFile } from '../resources/input-file.ts';
import { loadOffline, objectsOf } from '../resources/load.ts';

interface TestFlags {
  readonly config?: string;
  readonly name?: string;
  readonly output: ReportFormat;
}

/** `test FILE...`: tests how a directory of resources handles requests. */
export function addTest(program: Command, io: Terminal): void {
  const command = program
    .command('test')
    .description('Test how a directory of resources handles requests.')
    .argument('<path...>', 'files of tests, and directories in which they are called *.test.yaml')
    .option('-c, --config <dir>', 'directory of the resources; default: config in each file')
    .option('--name <text>', 'run only tests whose names contain this text')
    .addOption(outputOption(...REPORTS));
  addExamples(command, [
    ['gatewayctl test shop.test.yaml', 'exit status 1 when a test fails'],
    ['gatewayctl test tests -c ./resources -o junit > junit.xml', 'for a CI that reads JUnit'],
  ]);
  command.action(async (paths: readonly string[]) => {
    const flags = command.opts<TestFlags>();
    const files = filesIn(io, paths).map((path) => parseTestFile(readInputFile(io, path).toString('utf8'), path));
    const results = await io.progress('Running tests', () => runFiles(io, files, flags));
    if (results.length === 0) throw cliError('ERR_CLI_NOT_FOUND', `no test has a name that contains "${flags.name}"`);
    io.out(renderResults(results, flags.output, io.colors));
    if (results.some(({ mismatches }) => mismatches.length > 0)) throw exitStatus(1);
  });
}

/** The files of tests, those of directories in alphabetical order. */
function filesIn(io: Terminal, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const isDirectory = fs.statSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (!isDirectory) return [path];
    const found = fs.globSync('**/*.test.{yaml,yml,json}', { cwd: resolve(io.cwd, path) }).sort();
    if (found.length === 0) throw cliError('ERR_CLI_FILE', `${path}: the directory contains no *.test.yaml`);
    return found.map((file) => join(path, file));
  });
}

type Loaded = Awaited<ReturnType<typeof load>>;

async function runFiles(io: Terminal, files: readonly TestFile[], flags: TestFlags): Promise<TestResult[]> {
  const { runTest } = await import('../assertions/run-test.ts');
  const directories = new Map<string, Loaded>();
  const results: TestResult[] = [];
  for (const { file, config, tests } of files) {
    const directory = flags.config ?? (config === undefined ? undefined : besides(file, config));
    if (directory === undefined) {
      const text = `${file}: the directory of the resources is unknown: write config in the file, or pass --config DIR`;
      throw cliError('ERR_CLI_USAGE', text);
    }
    const loaded = directories.get(directory) ?? (await load(io, directory));
    directories.set(directory, loaded);
    for (const test of tests) {
      if (flags.name !== undefined && !test.name.includes(flags.name)) continue;
      const began = performance.now();
      const snapshot = chooseSnapshot(loaded.snapshots, test.request.proxy);
      const { context, secrets } = loaded;
      const outcome = await runTest(test, { snapshot, context, secrets });
      results.push({ file, test, ...outcome, durationMs: performance.now() - began });
    }
  }
  return results;
}

const besides = (file: string, path: string): string => (isAbsolute(path) ? path : join(dirname(file), path));

async function load(io: Terminal, directory: string) {
  const state = await loadOffline(io, directory);
  const { errors } = countsOf(validationOf(state));
  // Rejected resources are not served: without this warning, the reason for failed tests would not be visible.
  if (errors > 0)
    io.err(io.colors.yellow(`Warning: ${directory} has errors (${errors}); see gatewayctl validate ${directory}`));
  const { secrets } = state;
  return { snapshots: [...state.snapshots.values()], context: explainContext(objectsOf(state)), secrets };
}
