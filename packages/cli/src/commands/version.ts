import { readFileSync } from 'node:fs';
import { DEFAULT_NAMESPACE } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { cliError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { readServerVersion } from '../gateway/version-warning.ts';
import { addExamples } from '../command-line/command-help.ts';
import { outputOption } from '../output/formats.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

/** The version of this package. */
export const CLIENT_VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

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
    const server = await readServerVersion(gatewayOf(io, command));
    print(io, server, flags);
  });
}

const NO_SERVER = 'Server: version undefined, could not find any version of gw running';
const CONTAINER = 'edge-gateway';

function print(io: Terminal, server: string | undefined, flags: { namespace: string; output: string }): void {
  const { out, err, version: client = CLIENT_VERSION } = io;
  const { namespace, output } = flags;
  if (output === 'table') {
    out(`Client version: ${client}`);
    if (server === undefined) return out(NO_SERVER);
    const columns = ['Namespace', 'Deployment-Type', 'Containers'];
    const rows = [[namespace, 'Gateway', `${CONTAINER}: ${server}`]];
    return out(`Server version:\n${renderTable({ columns, rows })}`);
  }
  if (server === undefined) err(NO_SERVER);
  const container = { Tag: server, Name: CONTAINER, Registry: '', OssTag: '' };
  const versions = {
    client: { version: client },
    ...(server !== undefined && {
      server: [{ type: 'Gateway', enterprise: false, kubernetes: { containers: [container], namespace } }],
    }),
  };
  out(output === 'json' ? JSON.stringify(versions, undefined, 2) : stringify(versions));
}
