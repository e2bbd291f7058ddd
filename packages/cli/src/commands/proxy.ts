import { gatewayNamespace, printable, redact } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { asGroup, addExamples, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { openCluster, wantsCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import { serviceAddress } from '../cluster/service-address.ts';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { chooseListening, readListening } from '../gateway/listening.ts';
import { readSnapshots } from '../gateway/pages.ts';
import { yamlDocuments } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { addProxyBootstrap } from './proxy-bootstrap.ts';
import { addProxyLogs } from './proxy-logs.ts';
import { addProxyStatus } from './proxy-status.ts';

interface ProxyFlags extends ClusterFlags {
  readonly namespace: string;
  readonly name: string;
  readonly port: string;
  readonly localCluster?: boolean;
  readonly localClusterName?: string;
}

interface Subcommand {
  readonly name: string;
  readonly description: string;
  /** The flags of `proxy` that it does not read. */
  readonly unused: readonly string[];
  readonly options?: readonly Option[];
  /** Returns what it prints. */
  readonly print: (connection: Connection, flags: ProxyFlags, io: Terminal) => Promise<string>;
}

const UNUSED = ['--port'];
/** Flags of addresses. */
const LOCAL_CLUSTER = [
  new Option('-l, --local-cluster', 'address of a node and node port, as a local cluster such as minikube has them'),
  new Option('-p, --local-cluster-name <name>', 'profile of minikube').default('minikube'),
];
const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: 'address',
    description: 'Print host:port of the proxy.',
    unused: [],
    options: LOCAL_CLUSTER,
    print: address,
  },
  {
    name: 'url',
    description: 'Print the URL of the proxy.',
    unused: [],
    options: LOCAL_CLUSTER,
    print: (connection, flags, io) => url(connection, flags, io),
  },
  {
    name: 'dump',
    description: 'Print the configuration dump of the proxy, with endpoints.',
    unused: UNUSED,
    print: (connection) => connection.proxy('/config_dump?include_eds', 'POST'),
  },
  {
    name: 'stats',
    description: 'Print the statistics of the proxy.',
    unused: UNUSED,
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
    .option('--port <port>', 'listener: http, https, or a port number', 'http')
    .addOption(
      new Option('-n, --namespace <namespace>', 'namespace of the gateway in a cluster').default(gatewayNamespace()),
    );
  addExamples(proxy, [
    ['curl $(gatewayctl proxy url)/', 'where requests go'],
    ['gatewayctl proxy dump', 'the complete configuration of the proxy'],
  ]);
  for (const subcommand of SUBCOMMANDS) addSubcommand(proxy, io, subcommand);
  hideGlobalFlags(addProxyLogs(proxy, io), UNUSED);
  addProxyStatus(proxy, io);
  addProxyBootstrap(proxy, io);
  addSubcommand(proxy, io, SERVED_CONFIG);
}

function addSubcommand(proxy: Command, io: Terminal, subcommand: Subcommand): void {
  const { name, description, unused, options = [], print } = subcommand;
  const command = proxy.command(name).description(description);
  for (const option of options) command.addOption(option);
  command.action(async () => io.out(printable(await print(gatewayOf(io, command), command.optsWithGlobals(), io))));
  hideGlobalFlags(command, unused);
}

/** Where requests go: in a cluster the address of the Service of the proxy, else that of a listener. */
async function address(connection: Connection, flags: ProxyFlags, io: Terminal): Promise<string> {
  const { host, port } = wantsCluster(flags)
    ? await addressInCluster(flags, io)
    : chooseListening(await readListening(connection), flags.port);
  return `${host}:${port}`;
}

async function addressInCluster(flags: ProxyFlags, io: Terminal) {
  const { localCluster = false, localClusterName } = flags;
  const local = { isLocal: localCluster, minikubeProfile: localClusterName };
  const found = await serviceAddress(await openCluster(io, flags), { ...flags, ...local });
  if (found.isInternal)
    io.err(io.colors.yellow(`Warning: the Service ${flags.name} is only reachable inside the cluster`));
  return found;
}

/** The address with a scheme, for the named ports only. */
async function url(connection: Connection, flags: ProxyFlags, io: Terminal): Promise<string> {
  const isNamed = flags.port === 'http' || flags.port === 'https';
  const scheme = (protocol: string): string => (isNamed ? `${protocol}://` : '');
  if (wantsCluster(flags)) return `${scheme(flags.port)}${await address(connection, flags, io)}`;
  const { protocol, host, port } = chooseListening(await readListening(connection), flags.port);
  return `${scheme(protocol)}${host}:${port}`;
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
