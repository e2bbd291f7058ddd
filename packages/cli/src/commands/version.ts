import { gatewayNamespace, printable, readBuildInfo, type BuildInfo } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { cliError } from '../error-codes.ts';
import { readClusterVersion, type ContainerImage } from '../cluster/cluster-version.ts';
import { PACKAGE_FOLDER } from '../io.ts';
import { openCluster, wantsCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { readServerBuild } from '../gateway/version-warning.ts';
import { addExamples } from '../command-line/command-help.ts';
import { outputOption } from '../output/formats.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

const CLIENT = readBuildInfo(PACKAGE_FOLDER);

/** The version of this package. */
export const CLIENT_VERSION: string = CLIENT.version;

/** `version`: of this program and of the running gateway. */
export function addVersion(program: Command, io: Terminal): void {
  const command = program
    .command('version')
    .alias('v')
    .description('Print the version of gatewayctl and of the running gateway.')
    .addOption(
      new Option('-n, --namespace <namespace>', 'namespace of the gateway in a cluster').default(gatewayNamespace()),
    )
    .addOption(outputOption('json', 'yaml', 'table'));
  addExamples(command, [['gatewayctl version -o table', 'as a table']]);
  command.action(async () => {
    const flags = command.optsWithGlobals<VersionFlags>();
    if (flags.namespace === '') throw cliError('ERR_CLI_USAGE', 'the namespace must not be empty');
    if (wantsCluster(flags)) return printCluster(io, flags);
    const server = await readServerBuild(gatewayOf(io, command));
    print(io, server, flags);
  });
}

interface VersionFlags extends ClusterFlags {
  readonly namespace: string;
  readonly output: string;
}

const NO_SERVER = 'Server: version undefined, could not find any version of gw running';
const CONTAINER = 'edge-gateway';

/** Prints the images of a gateway in a cluster. */
async function printCluster(io: Terminal, flags: VersionFlags): Promise<void> {
  const { namespace, output } = flags;
  const { containers, kubernetesCluster } = await readClusterVersion(await openCluster(io, flags), namespace);
  const client = clientOf(io);
  if (output === 'table') {
    io.out(`Client version: ${buildText(client)}`);
    if (containers.length === 0) io.out(NO_SERVER);
    else {
      const columns = ['Namespace', 'Deployment-Type', 'Containers'];
      const lines = containers.map(({ Name, Tag }) => `${Name}: ${Tag}`);
      const rows = lines.map((line, i) => (i === 0 ? [namespace, 'Gateway', line] : ['', '', line]));
      io.out(`Server version:\n${renderTable({ columns, rows })}`);
    }
    return io.out(`Kubernetes version: ${printable(kubernetesCluster.gitVersion)}`);
  }
  if (containers.length === 0) io.err(NO_SERVER);
  const server = containers.length === 0 ? undefined : [serverOf(containers, namespace)];
  printVersions(io, output, { client, ...(server && { server }), kubernetesCluster });
}

const serverOf = (containers: readonly ContainerImage[], namespace: string) => ({
  type: 'Gateway',
  enterprise: false,
  kubernetes: { containers: containers.map((one) => ({ ...one, OssTag: '' })), namespace },
});

const clientOf = (io: Terminal) => (io.version === undefined ? CLIENT : { version: io.version });

function printVersions({ out }: Terminal, output: string, versions: object): void {
  out(output === 'json' ? JSON.stringify(versions, undefined, 2) : stringify(versions));
}

function print(io: Terminal, server: BuildInfo | undefined, flags: { namespace: string; output: string }): void {
  const { out, err } = io;
  const client = clientOf(io);
  const { namespace, output } = flags;
  if (output === 'table') {
    out(`Client version: ${buildText(client)}`);
    if (server === undefined) return out(NO_SERVER);
    const columns = ['Namespace', 'Deployment-Type', 'Containers'];
    const rows = [[namespace, 'Gateway', `${CONTAINER}: ${buildText(server)}`]];
    return out(`Server version:\n${renderTable({ columns, rows })}`);
  }
  if (server === undefined) err(NO_SERVER);
  const container = { Tag: server?.version ?? '', Name: CONTAINER, Registry: '' };
  const commit = server?.commit !== undefined && { commit: server.commit };
  const servers = server !== undefined && { server: [{ ...serverOf([container], namespace), ...commit }] };
  printVersions(io, output, { client, ...servers });
}

function buildText({ version, commit }: BuildInfo): string {
  return commit === undefined ? version : `${version} (commit ${commit})`;
}
