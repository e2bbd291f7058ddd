import { DEFAULT_NAMESPACE } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { CHECKS, EXCLUDABLE } from '../check/checks.ts';
import { checksOf, configurationResults, totalLine } from '../check/configuration.ts';
import { readDirectory } from '../check/directory.ts';
import { readInput, type CheckFlags } from '../check/input.ts';
import { errorTree, jsonReport, statusOf, type CheckResult } from '../check/report.ts';
import { cliError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connect.ts';
import { addExamples } from '../command-line/command-help.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { didYouMean } from '../command-line/suggest.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';

const collect = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  ...value
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean),
];

const NOTHING_CHOSEN = { exclude: [], resourceNamespaces: [], readOnly: false };

/** `check`: is everything of the running gateway in order? */
export function addCheck(program: Command, io: Io): void {
  const command = program
    .command('check')
    .description('Check a running gateway: its components, and its configuration.')
    .option('-c, --config <dir>', 'check this directory of resources instead of a running gateway')
    .option(
      '-x, --exclude <names>',
      `leave out some of: ${CHECKS.map(({ excludedBy }) => excludedBy).join(', ')}`,
      collect,
    )
    // Only the default has components without Kubernetes.
    .addOption(
      new Option('-n, --namespace <namespace>', 'namespace of the gateway').default(DEFAULT_NAMESPACE).hideHelp(),
    )
    .option(
      '-r, --resource-namespaces <names>',
      'check only resources in these namespaces, separated by commas',
      collect,
    )
    .option('-p, --pod-selector <label>', 'components to check as Pods: a name or kind; gw is every listener', 'gw')
    .option('--read-only', 'do not query the proxy')
    .option('-o, --output <format>', 'output format: table or json; json exits 0 even with errors', 'table');
  addExamples(command, [
    ['gatewayctl check', 'exit status 1 when something is wrong'],
    ['gatewayctl check --config ./resources', 'a directory, before it is served'],
    ['gatewayctl check -x pods,secrets -o json', 'without two checks, as JSON'],
  ]);
  command.action(async () => {
    const given = command.opts<CheckFlags & { output: string; config?: string }>();
    const flags = { ...NOTHING_CHOSEN, ...given };
    refuseWrongFlags(flags);
    if (flags.config === undefined) await check(io, command, flags);
    else await checkOffline(io, flags.config, flags);
  });
}

function refuseWrongFlags({ exclude, output }: CheckFlags & { output: string }): void {
  if (output !== 'table' && output !== 'json') {
    throw cliError('ERR_CLI_USAGE', 'Invalid output type. Only table (default) and json are supported.');
  }
  const unknown = exclude.find((name) => !EXCLUDABLE.includes(name));
  if (unknown === undefined) return;
  throw cliError('ERR_CLI_USAGE', `--exclude: unknown check '${unknown}'${didYouMean(unknown, EXCLUDABLE)}`);
}

async function check(io: Io, command: Command, flags: CheckFlags & { output: string }): Promise<void> {
  const terminal = createTerminal(io);
  const asTable = flags.output === 'table';
  const messages: string[] = [];
  const note = (message: string) => messages.push(message);
  const read = () => readInput(io, gatewayOf(io, command), flags);
  const input = asTable ? await terminal.progress('Asking the gateway', read) : await read();
  const results: CheckResult[] = [];
  for (const [{ name, run }, configured] of checksOf(input.configuration, flags.exclude)) {
    if (asTable) terminal.write(`Checking ${name}... `);
    const from = messages.length;
    const result = { name, problems: run ? await run({ ...input, note }, configured) : configured };
    results.push(result);
    if (asTable) printResult(terminal, result, messages.slice(from));
  }
  conclude(terminal, flags, { results, messages, total: totalLine(input.configuration) });
}

async function checkOffline(io: Io, directory: string, flags: CheckFlags & { output: string }): Promise<void> {
  const terminal = createTerminal(io);
  const configuration = await readDirectory(io, directory, flags);
  const results = configurationResults(configuration, flags.exclude);
  for (const result of flags.output === 'table' ? results : []) {
    terminal.write(`Checking ${result.name}... `);
    printResult(terminal, result, []);
  }
  conclude(terminal, flags, { results, messages: [], total: totalLine(configuration) });
}

interface Outcome {
  readonly results: readonly CheckResult[];
  readonly messages: readonly string[];
  readonly total: string | undefined;
}

/** Prints what is left to print; problems are an error, but not as JSON. */
function conclude({ out, colors }: Terminal, { output }: { output: string }, outcome: Outcome): void {
  const { results, messages, total } = outcome;
  if (output === 'json') return out(jsonReport(results, total === undefined ? messages : [...messages, total]));
  if (total !== undefined) out(colors.yellow(total));
  if (results.some(({ problems }) => problems.length > 0)) throw cliError('ERR_CLI_CHECK_FAILED', errorTree(results));
  out(colors.green('No problems detected.'));
}

function printResult({ out, colors }: Terminal, result: CheckResult, notes: readonly string[]): void {
  const paint = result.problems.length === 0 ? colors.green : colors.red;
  out(paint(statusOf(result)));
  for (const note of notes) out(colors.yellow(printable(note)));
}
