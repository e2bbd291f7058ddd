import { DEFAULT_NAMESPACE, readBuildInfo, type BuildInfo } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { cliError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { readServerBuild } from '../gateway/version-warning.ts';
import { addExamples } from '../command-line/command-help.ts';
import { outputOption } from '../output/formats.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

const CLIENT = readBuildInfo(new URL('../../', import.meta.url));

/** The version of this package. */
export const CLIENT_VERSION: string = CLIENT.version;

/** `version`: of this program and of the running gateway. */
export function addVersion(program: Command, io: Terminal): void {
  const command = program
    .command('version')
    .alias('v')
    .description('Print the version of gatewayctl and of the running gateway.')
    // Without Kubernetes it is only printed.
    .addOption(
      new Option('-n, --namespace <namespace>', 'namespace of the gateway').default(DEFAULT_NAMESPACE).hideHelp(),
    )
    .addOption(outputOption('json', 'yaml', 'table'));
  addExamples(command, [['gatewayctl version -o table', 'as a table']]);
  command.action(async () => {
    const flags = command.opts<{ namespace: string; output: string }>();
    if (flags.namespace === '') throw cliError('ERR_CLI_USAGE', 'the namespace must not be empty');
    const server = await readServerBuild(gatewayOf(io, command));
    print(io, server, flags);
  });
}

const NO_SERVER = 'Server: version undefined, could not find any version of gw running';
const CONTAINER = 'edge-gateway';

function print(io: Terminal, server: BuildInfo | undefined, flags: { namespace: string; output: string }): void {
  const { out, err } = io;
  const client = io.version === undefined ? CLIENT : { version: io.version };
  const { namespace, output } = flags;
  if (output === 'table') {
    out(`Client version: ${buildText(client)}`);
    if (server === undefined) return out(NO_SERVER);
    const columns = ['Namespace', 'Deployment-Type', 'Containers'];
    const rows = [[namespace, 'Gateway', `${CONTAINER}: ${buildText(server)}`]];
    return out(`Server version:\n${renderTable({ columns, rows })}`);
  }
  if (server === undefined) err(NO_SERVER);
  const container = { Tag: server?.version, Name: CONTAINER, Registry: '', OssTag: '' };
  const versions = {
    client,
    ...(server !== undefined && {
      server: [
        {
          type: 'Gateway',
          enterprise: false,
          kubernetes: { containers: [container], namespace },
          ...(server.commit !== undefined && { commit: server.commit }),
        },
      ],
    }),
  };
  out(output === 'json' ? JSON.stringify(versions, undefined, 2) : stringify(versions));
}

function buildText({ version, commit }: BuildInfo): string {
  return commit === undefined ? version : `${version} (commit ${commit})`;
}
