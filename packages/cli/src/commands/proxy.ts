import { printable, redact } from '@edge-gateway/core';
import type { Command } from 'commander';
import { asGroup, addExamples, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { chooseListening, readListening } from '../gateway/listening.ts';
import { readSnapshots } from '../gateway/pages.ts';
import { yamlDocuments } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { addProxyBootstrap } from './proxy-bootstrap.ts';
import { addProxyLogs } from './proxy-logs.ts';
import { addProxyStatus } from './proxy-status.ts';

interface ProxyFlags {
  readonly name: string;
  readonly port: string;
}

interface Subcommand {
  readonly name: string;
  readonly description: string;
  /** The flags of `proxy` that it does not read. */
  readonly unused: readonly string[];
  /** Returns what it prints. */
  readonly print: (connection: Connection, flags: ProxyFlags) => Promise<string>;
}

const BOTH = ['--name', '--port'];
const SUBCOMMANDS: readonly Subcommand[] = [
  { name: 'address', description: 'Print host:port of the proxy.', unused: ['--name'], print: address },
  {
    name: 'url',
    description: 'Print the URL of the proxy.',
    unused: ['--name'],
    print: async (connection, flags) => address(connection, flags, true),
  },
  {
    name: 'dump',
    description: 'Print the configuration dump of the proxy, with endpoints.',
    unused: BOTH,
    print: (connection) => connection.proxy('/config_dump?include_eds', 'POST'),
  },
  {
    name: 'stats',
    description: 'Print the statistics of the proxy.',
    unused: BOTH,
    print: (connection) => connection.proxy('/stats'),
  },
];
const SERVED_CONFIG: Subcommand = {
  name: 'served-config',
  description: 'Print what the control plane serves, as YAML.',
  unused: ['--port'],
  print: servedConfig,
};

/** `proxy`: queries the running data plane. */
export function addProxy(program: Command, io: Terminal): void {
  const proxy = asGroup(program.command('proxy').alias('p').description('Query the proxy of a running gateway.'));
  proxy
    .option('--name <name>', 'name of the proxy', 'gateway-proxy')
    .option('--port <port>', 'listener: http, https, or a port number', 'http');
  addExamples(proxy, [
    ['curl $(gatewayctl proxy url)/', 'where requests go'],
    ['gatewayctl proxy dump', 'the complete configuration of the proxy'],
  ]);
  for (const subcommand of SUBCOMMANDS) addSubcommand(proxy, io, subcommand);
  hideGlobalFlags(addProxyLogs(proxy, io), BOTH);
  addProxyStatus(proxy, io);
  addProxyBootstrap(proxy, io);
  addSubcommand(proxy, io, SERVED_CONFIG);
}

function addSubcommand(proxy: Command, io: Terminal, { name, description, unused, print }: Subcommand): void {
  const command = proxy.command(name).description(description);
  command.action(async () => io.out(printable(await print(gatewayOf(io, command), command.optsWithGlobals()))));
  hideGlobalFlags(command, unused);
}

/** Where requests go; a URL has a scheme for the named ports only. */
async function address(connection: Connection, { port }: ProxyFlags, isUrl = false): Promise<string> {
  const found = chooseListening(await readListening(connection), port);
  const isNamed = port === 'http' || port === 'https';
  return `${isUrl && isNamed ? `${found.protocol}://` : ''}${found.host}:${found.port}`;
}

/** What the control plane serves to a proxy, in the sections of discovery. */
async function servedConfig(connection: Connection, { name }: ProxyFlags): Promise<string> {
  const snapshots = await readSnapshots(connection);
  const found = snapshots.find(({ snapshot }) => snapshot.proxy === name);
  if (!found) {
    const known = snapshots.map(({ snapshot }) => snapshot.proxy).join(', ') || 'none';
    throw cliError('ERR_CLI_NOT_FOUND', `proxy ${name} not found; the control plane serves: ${known}`);
  }
  const { listeners, upstreams } = redact(found.snapshot);
  const sections: [string, unknown[]][] = [
    ['clusters', upstreams.map((one) => ({ ...one, endpoints: undefined }))],
    ['eds', upstreams.map(({ name: cluster, endpoints }) => ({ cluster, endpoints }))],
    ['listeners', listeners.map((one) => ({ ...one, virtualHosts: undefined }))],
    ['rds', listeners.map((one) => ({ name: `${one.name}-routes`, virtualHosts: one.virtualHosts }))],
  ];
  const body = sections.map(([title, values]) => `#${title}\n${yamlDocuments([values])}`).join('\n');
  return `#role: ${found.node}\n\n${body}`;
}
