import { readFileSync } from 'node:fs';
import { DEFAULT_NAMESPACE, printable } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { cliError } from '../error-codes.ts';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { addExamples } from '../command-line/command-help.ts';
import { text } from '../resources/objects.ts';
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
    const server = await serverVersion(gatewayOf(io, command));
    print(io, server, flags);
    if (server !== undefined) warnWhenDifferent(io, server);
  });
}

/** Returns the version of the running gateway: of its control plane, else of its proxy; `undefined` if neither responds. */
async function serverVersion(connection: Connection): Promise<string | undefined> {
  const control = connection.control('/version').catch(() => undefined);
  const proxy = connection.proxy('/server_info').then(JSON.parse, () => undefined);
  const versions = [await control, await proxy.catch(() => undefined)].map((response: unknown) =>
    text(response, 'version'),
  );
  const version = versions.find(Boolean);
  return version && (/\d+\.\d+\.\d+[\w.+-]*/.exec(version)?.[0] ?? printable(version));
}

const NO_SERVER = 'Server: version undefined, could not find any version of gw running';
const CONTAINER = 'edge-gateway';

function print({ out, err }: Terminal, server: string | undefined, flags: { namespace: string; output: string }): void {
  const { namespace, output } = flags;
  if (output === 'table') {
    out(`Client version: ${CLIENT_VERSION}`);
    if (server === undefined) return out(NO_SERVER);
    const columns = ['Namespace', 'Deployment-Type', 'Containers'];
    const rows = [[namespace, 'Gateway', `${CONTAINER}: ${server}`]];
    return out(`Server version:\n${renderTable({ columns, rows })}`);
  }
  if (server === undefined) err(NO_SERVER);
  const container = { Tag: server, Name: CONTAINER, Registry: '', OssTag: '' };
  const versions = {
    client: { version: CLIENT_VERSION },
    ...(server !== undefined && {
      server: [{ type: 'Gateway', enterprise: false, kubernetes: { containers: [container], namespace } }],
    }),
  };
  out(output === 'json' ? JSON.stringify(versions, undefined, 2) : stringify(versions));
}

/** Warns on standard error if client and server differ by a minor version or more. */
function warnWhenDifferent({ err, colors }: Terminal, server: string): void {
  const minor = (version: string) => version.split('.').slice(0, 2).join('.');
  if (minor(server) === minor(CLIENT_VERSION)) return;
  const line = '-'.repeat(72);
  const text = `gatewayctl is ${CLIENT_VERSION}, the gateway is ${server}; use the gatewayctl of the gateway's version:`;
  err(colors.yellow(`${line}\n${text}\n  npx @edge-gateway/cli@${server}\n${line}`));
}
