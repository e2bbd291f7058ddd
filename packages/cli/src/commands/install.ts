import { cliError } from '../error-codes.ts';
import { resolve } from 'node:path';
import { gatewayNamespace } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { applyDefinitions, deleteDefinitions, wantedDefinitions } from '../cluster/crds.ts';
import { chartOf, helm } from '../cluster/helm.ts';
import { openCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import { addExamples, asGroup, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import type { Terminal } from '../output/terminal.ts';

interface ReleaseFlags extends ClusterFlags {
  readonly namespace: string;
  readonly releaseName: string;
}

interface InstallFlags extends ReleaseFlags {
  readonly file?: string;
  readonly values?: readonly string[];
  readonly set?: readonly string[];
  readonly dryRun?: boolean;
  readonly createNamespace?: boolean;
}

interface UninstallFlags extends ReleaseFlags {
  readonly deleteCrds?: boolean;
  readonly deleteNamespace?: boolean;
  readonly all?: boolean;
}

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** `install`, `upgrade`, `uninstall`: the gateway in a cluster, with its Helm chart. */
export function addInstall(program: Command, io: Terminal): void {
  addRelease(program, io, {
    name: 'install',
    description: 'Install the gateway in a cluster with its Helm chart.',
    example: ['gatewayctl install gateway --values values.yaml', 'requires helm'],
    args: ({ createNamespace }) => ['install', ...(createNamespace === false ? [] : ['--create-namespace'])],
    done: 'installed',
  });
  addRelease(program, io, {
    name: 'upgrade',
    description: 'Upgrade the gateway in a cluster, and its CRDs.',
    example: ['gatewayctl upgrade gateway --values values.yaml', 'with the values of the installation, and these'],
    args: () => ['upgrade', '--reset-then-reuse-values'],
    done: 'upgraded',
  });
  addUninstall(program, io);
}

/** A command that installs a chart. */
interface ReleaseCommand {
  readonly name: string;
  readonly description: string;
  readonly example: readonly [command: string, what: string];
  args(flags: InstallFlags): readonly string[];
  /** What is printed when it is done. */
  readonly done: string;
}

function addRelease(program: Command, io: Terminal, { name, description, example, args, done }: ReleaseCommand): void {
  const group = asGroup(program.command(name).description(description));
  const command = withReleaseFlags(group.command('gateway'))
    .description(description)
    .option('-f, --file <chart>', 'folder or archive of the chart; default: that of this version')
    .option('--values <file>', 'file with values; can be repeated', collect)
    .option('--set <name=value>', 'value, such as gw.logLevel=debug; can be repeated', collect)
    .option('-d, --dry-run', 'print the manifests, change nothing');
  if (name === 'install')
    command.option(
      '--create-namespace [boolean]',
      'create the namespace if it is missing',
      (text) => text !== 'false',
      true,
    );
  hideGlobalFlags(command, CONNECTION_FLAGS);
  hideGlobalFlags(group, CONNECTION_FLAGS);
  addExamples(group, [example]);
  command.action(async () => {
    const flags = command.optsWithGlobals<InstallFlags>();
    const { namespace, releaseName } = flags;
    const chart = chartOf(io, flags.file);
    const given = [
      ...(flags.values ?? []).flatMap((file) => ['--values', resolve(io.cwd, file)]),
      ...(flags.set ?? []).flatMap((value) => ['--set', value]),
      '--namespace',
      namespace,
    ];
    if (flags.dryRun) return io.out(await helm(io, flags, ['template', releaseName, chart, ...given, '--validate']));
    const client = await openCluster(io, flags);
    // Helm never changes the CRDs of an installed chart.
    await io.progress('Applying CRDs', async () => applyDefinitions(client, await wantedDefinitions(undefined)));
    const [verb, ...more] = args(flags) as [string, ...string[]];
    await io.progress('Running helm', () =>
      helm(io, flags, [verb, releaseName, chart, ...given, ...more, ...(verb === 'install' ? ['--skip-crds'] : [])]),
    );
    io.out(`The gateway was ${done} in the namespace ${namespace}. Check it with: ${checkCommand(flags)}`);
  });
}

/** Returns the command that checks the same cluster: without flags, `check` would look at a gateway on this machine. */
function checkCommand({ kubeconfig, kubeContext, namespace }: ReleaseFlags): string {
  const cluster = [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(kubeContext === undefined ? [] : ['--kube-context', kubeContext]),
  ];
  if (cluster.length === 0) cluster.push('--kube-context', '"$(kubectl config current-context)"');
  return ['gatewayctl check', ...cluster, '-n', namespace].join(' ');
}

function withReleaseFlags(command: Command): Command {
  return command
    .addOption(new Option('-n, --namespace <namespace>', 'namespace of the gateway').default(gatewayNamespace()))
    .option('--release-name <name>', 'name of the Helm release', releaseNameOf, 'gw');
}

/** What Helm accepts. Another text could be a flag of helm. */
const RELEASE_NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const MAX_RELEASE_NAME = 53;

function releaseNameOf(text: string): string {
  if (RELEASE_NAME.test(text) && text.length <= MAX_RELEASE_NAME) return text;
  const allowed = `at most ${MAX_RELEASE_NAME} lower-case letters, digits, '-' and '.', with a letter or digit at both ends`;
  throw cliError('ERR_CLI_USAGE', `invalid --release-name '${text}': use ${allowed}`);
}

function addUninstall(program: Command, io: Terminal): void {
  const description = 'Uninstall the gateway from a cluster; keeps its CRDs and resources.';
  const group = asGroup(program.command('uninstall').description(description));
  const command = withReleaseFlags(group.command('gateway'))
    .description(description)
    .option('--delete-crds', 'delete the CRDs, and with them all resources of all namespaces')
    .option('--delete-namespace', 'delete the namespace with everything in it')
    .option('--all', 'delete CRDs and namespace');
  hideGlobalFlags(command, CONNECTION_FLAGS);
  hideGlobalFlags(group, CONNECTION_FLAGS);
  addExamples(group, [['gatewayctl uninstall gateway', 'keeps CRDs and resources']]);
  command.action(async () => {
    const flags = command.optsWithGlobals<UninstallFlags>();
    const { namespace, releaseName, all = false } = flags;
    await helm(io, flags, ['uninstall', releaseName, '--namespace', namespace]);
    io.out(`The gateway was uninstalled from the namespace ${namespace}`);
    const client = await openCluster(io, flags);
    if (all || flags.deleteCrds) {
      await deleteDefinitions(client, await wantedDefinitions(undefined));
      io.out('The CRDs were deleted');
    }
    if (!all && !flags.deleteNamespace) return;
    await client.send({ method: 'DELETE', path: `/api/v1/namespaces/${encodeURIComponent(namespace)}` });
    io.out(`The namespace ${namespace} is being deleted`);
  });
}
