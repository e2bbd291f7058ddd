import { gatewayNamespace, printable, timeoutSignal } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { CHECKS, EXCLUDABLE, type Finding } from '../check/checks.ts';
import { clusterConfiguration } from '../check/cluster-configuration.ts';
import { readComponents } from '../check/components.ts';
import {
  checksOf,
  printedProblems,
  readConfiguration,
  readDirectory,
  totalLine,
  type NamespaceFlags,
} from '../check/configuration.ts';
import { cliError } from '../error-codes.ts';
import { openCluster, wantsCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import { clusterConnection, gatewayOf } from '../gateway/connection.ts';
import { addExamples, didYouMean, exitStatus } from '../command-line/command-help.ts';
import { readPreferences } from '../command-line/config-file.ts';
import { count } from '../output/problem-lines.ts';
import type { Terminal } from '../output/terminal.ts';
import { readClusterObjects } from '../resources/load.ts';

interface CheckFlags extends NamespaceFlags, ClusterFlags {
  readonly config?: string;
  readonly exclude: readonly string[];
  readonly podSelector: string;
  readonly readOnly: boolean;
  readonly output: string;
}

const collect = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  ...value.split(',').flatMap((one) => one.trim() || []),
];

const NO_FLAGS = { exclude: [], resourceNamespaces: [], readOnly: false };

/** `check`: is everything of the running gateway in order? */
export function addCheck(program: Command, io: Terminal): void {
  const command = program
    .command('check')
    .description('Check a running gateway: its components, and its configuration.')
    .option('-c, --config <dir>', 'check this directory of resources instead of a running gateway')
    .option(
      '-x, --exclude <names>',
      `leave out some of: ${CHECKS.map(({ excludedBy }) => excludedBy).join(', ')}; outside of a cluster, deployments are Components and pods Listeners`,
      collect,
    )
    .addOption(
      new Option('-n, --namespace <namespace>', 'namespace of the gateway in a cluster').default(gatewayNamespace()),
    )
    .option(
      '-r, --resource-namespaces <names>',
      'check only resources in these namespaces, separated by commas',
      collect,
    )
    .option(
      '-p, --pod-selector <label>',
      'in a cluster, the label of the pods to check; otherwise a name or kind of components; gw is every one',
      'gw',
    )
    .option('--read-only', 'do not query the proxy')
    .option('-o, --output <format>', 'output format: table or json; json exits 0 even with errors', 'table');
  addExamples(command, [
    ['gatewayctl check', 'exit status 1 when something is wrong'],
    ['gatewayctl check --config ./resources', 'a directory, before it is served'],
    ['gatewayctl check -x pods,secrets -o json', 'without two checks, as JSON'],
  ]);
  command.action(async () => {
    const flags: CheckFlags = { ...NO_FLAGS, ...command.optsWithGlobals<CheckFlags>() };
    checkFlags(flags);
    const { checkTimeoutSeconds } = readPreferences(io);
    if (checkTimeoutSeconds === 0) return check(io, command, flags);
    await checkWithin(checkTimeoutSeconds, (signal) => check(io, command, flags, signal));
  });
}

/** Runs a check for at most some seconds. */
async function checkWithin(seconds: number, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const signal = timeoutSignal(seconds * 1000);
  try {
    await run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    const text = `the check did not finish within ${seconds} s (checkTimeoutSeconds of the configuration file)`;
    throw cliError('ERR_CLI_UNREACHABLE', text, error);
  }
}

function checkFlags({ exclude, output }: CheckFlags): void {
  if (output !== 'table' && output !== 'json') {
    throw cliError('ERR_CLI_USAGE', 'Invalid output type. Only table (default) and json are supported.');
  }
  const unknown = exclude.find((name) => !EXCLUDABLE.includes(name));
  if (unknown === undefined) return;
  throw cliError('ERR_CLI_USAGE', `--exclude: unknown check '${unknown}'${didYouMean(unknown, EXCLUDABLE)}`);
}

async function check(io: Terminal, command: Command, flags: CheckFlags, signal?: AbortSignal): Promise<void> {
  const { config, exclude } = flags;
  const asTable = flags.output === 'table';
  const messages: string[] = [];
  const read = () => readInput(io, command, flags, signal);
  const { configuration, running } =
    asTable && config === undefined ? await io.progress('Querying the gateway', read) : await read();
  const isCluster = running !== undefined && 'cluster' in running;
  const printed = printedProblems(configuration, exclude);
  const results: CheckResult[] = [];
  for (const [{ name: inCluster, nameOutsideCluster, kind, run }, configured] of checksOf(
    printed,
    configuration,
    exclude,
  )) {
    const name = isCluster ? inCluster : (nameOutsideCluster ?? inCluster);
    if (!running && kind === undefined && configured.length === 0) continue;
    if (asTable) io.write(`Checking ${name}... `);
    const from = messages.length;
    const note = (message: string): void => void messages.push(message);
    const input = running && { ...flags, ...running, authServers: configuration.authServers, printed, note };
    const result = { name, problems: input && run ? await run(input, configured) : configured };
    results.push(result);
    if (asTable) printResult(io, result, messages.slice(from));
  }
  conclude(io, flags, { results, messages, total: totalLine(configuration) });
}

/** A gateway that does not respond is an error; a missing list of components is not. */
async function readInput(io: Terminal, command: Command, flags: CheckFlags, signal?: AbortSignal) {
  if (flags.config !== undefined) return { configuration: await readDirectory(io, flags.config, flags) };
  if (wantsCluster(flags)) return readCluster(io, flags, signal);
  const connection = gatewayOf(io, command, signal && { signal });
  const configuration = await readConfiguration(io, connection, flags);
  // Without Kubernetes, only the namespace of the gateway has components.
  const components = flags.namespace === gatewayNamespace() ? await readComponents(connection) : [];
  return { configuration, running: { connection, components } };
}

/** The statuses of the resources are in the cluster, so that they are known even if the control plane is not reachable. */
async function readCluster(io: Terminal, flags: CheckFlags, signal?: AbortSignal) {
  const client = await openCluster(io, flags);
  const configuration = clusterConfiguration(await readClusterObjects(io, flags), flags);
  const { namespace } = flags;
  const connectionTo = (proxy: string) => clusterConnection(io, flags, { proxy, ...(signal && { signal }) });
  const cluster = { client, namespace, connectionTo };
  return { configuration, running: { connection: connectionTo('gateway-proxy'), components: [], cluster } };
}

interface Outcome {
  readonly results: readonly CheckResult[];
  readonly messages: readonly string[];
  readonly total: string | undefined;
}

/** Prints what is left to print; problems are a failure, but not as JSON. */
function conclude({ out, err, colors }: Terminal, { output }: CheckFlags, { results, messages, total }: Outcome): void {
  if (output === 'json') return out(jsonReport(results, total === undefined ? messages : [...messages, total]));
  if (total !== undefined) out(colors.yellow(total));
  const problems = results.flatMap((result) => result.problems);
  if (problems.some(({ isWarning }) => !isWarning)) throw cliError('ERR_CLI_CHECK_FAILED', problemTree(results));
  if (problems.length === 0) return out(colors.green('No problems detected.'));
  err(colors.yellow(printable(problemTree(results))));
  throw exitStatus(1);
}

function printResult({ out, colors }: Terminal, result: CheckResult, notes: readonly string[]): void {
  const { errors, warnings } = countsOf(result.problems);
  const paint = errors > 0 ? colors.red : warnings > 0 ? colors.yellow : colors.green;
  out(paint(statusOf(result)));
  for (const note of notes) out(colors.yellow(printable(note)));
}

/** What the checks found, check by check. */
interface CheckResult {
  readonly name: string;
  readonly problems: readonly Finding[];
}

function countsOf(problems: readonly Finding[]): { readonly errors: number; readonly warnings: number } {
  const warnings = problems.filter(({ isWarning }) => isWarning).length;
  return { errors: problems.length - warnings, warnings };
}

/** `OK`, or `N Errors!`, `N warnings` or both. */
function statusOf(result: CheckResult): string {
  const { errors, warnings } = countsOf(result.problems);
  const parts = [errors > 0 ? `${errors} Errors!` : [], warnings > 0 ? count(warnings, 'warning') : []];
  return parts.flat().join(', ') || 'OK';
}

/** The tree of problems: `N errors occurred:` and a tab-indented `* …` line each; several checks are nested. */
function problemTree(results: readonly CheckResult[]): string {
  const failed = results.filter(({ problems }) => problems.length > 0);
  if (failed.length === 1) return listing(failed[0]!.problems);
  return listing(
    failed.map(({ problems }) => {
      if (problems.length === 1) return problems[0]!;
      return { line: listing(problems), isWarning: problems.every(({ isWarning }) => isWarning) };
    }),
  );
}

function listing(problems: readonly Finding[]): string {
  const { errors, warnings } = countsOf(problems);
  const counted = [errors > 0 ? count(errors, 'error') : [], warnings > 0 ? count(warnings, 'warning') : []];
  const lines = problems.map((each) => `\t* ${each.line.replaceAll('\n', '\n\t  ').replaceAll('\t  \t', '\t\t')}`);
  return [`${counted.flat().join(' and ')} occurred:`, ...lines].join('\n');
}

/** The output of `check -o json`; empty lists are `null`. */
function jsonReport(results: readonly CheckResult[], messages: readonly string[]): string {
  const errors = results.flatMap(({ problems }) => problems.map(({ line }) => line));
  const resources = results.map((result) => ({ name: result.name, status: statusOf(result) }));
  const orNull = <T>(list: readonly T[]) => (list.length > 0 ? list : null);
  return JSON.stringify(
    { resources: orNull(resources), messages: orNull(messages), errors: orNull(errors) },
    undefined,
    2,
  );
}
