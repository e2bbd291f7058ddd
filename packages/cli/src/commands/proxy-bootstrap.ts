import { isIP } from 'node:net';
import { DEFAULT_NAMESPACE, isNamespaceName, MAX_WORKERS } from '@edge-gateway/core';
import type { BootstrapOptions, HostPort } from '@edge-gateway/core/envoy';
import type { Command } from 'commander';
import { addExamples, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { outputOption, yamlText } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';

interface BootstrapFlags {
  readonly dataPlane: string;
  readonly xds: string;
  readonly name: string;
  readonly namespace?: string;
  readonly adminPort: string;
  readonly nodeId?: string;
  readonly bindAddress?: string;
  readonly snapshotFile?: string;
  readonly workers?: string;
  readonly xdsTlsCa?: string;
  readonly xdsTlsCert?: string;
  readonly xdsTlsKey?: string;
  readonly xdsTlsServerName?: string;
  readonly output: 'command' | 'env';
}

/** `proxy bootstrap`: the command line that starts a proxy, or the configuration of an Envoy. */
export function addProxyBootstrap(proxy: Command, io: Terminal): Command {
  const command = proxy
    .command('bootstrap')
    .description('Print the command, or the environment, that starts a proxy, or the configuration of an Envoy.')
    .option('--data-plane <kind>', 'kind of the proxy: node or envoy', 'node')
    .requiredOption('--xds <addresses>', 'host:port of the control plane; several are separated by commas')
    .option('--admin-port <port>', 'admin port of the proxy', '19000')
    .option('--node-id <id>', 'name of this Envoy among those of the proxy (default: the name of the proxy)')
    .option('--bind-address <address>', 'address that replaces :: and 0.0.0.0 of the listeners')
    .option('--snapshot-file <file>', 'file for the last acknowledged version')
    .option('--workers <number>', 'number of worker processes, or auto')
    .option('--xds-tls-ca <file>', 'PEM file with the CA certificates for control planes; enables TLS')
    .option('--xds-tls-cert <file>', 'certificate of the proxy, as PEM')
    .option('--xds-tls-key <file>', 'private key of that certificate')
    .option('--xds-tls-server-name <name>', 'expected name in the certificates of control planes')
    .addOption(outputOption('command', 'env'));
  hideGlobalFlags(command, ['--port', ...CONNECTION_FLAGS]);
  addExamples(command, [
    ['gatewayctl proxy bootstrap --xds control-plane:9977', 'run its output on the machine of the proxy'],
    [
      'gatewayctl proxy bootstrap --data-plane envoy --xds control-plane:9977 > envoy.yaml',
      'then start Envoy: envoy -c envoy.yaml',
    ],
  ]);
  return command.action(async () => {
    const flags = command.optsWithGlobals<BootstrapFlags>();
    checkFlags(flags);
    if (flags.dataPlane === 'envoy') {
      const { envoyBootstrap } = await import('@edge-gateway/core/envoy');
      return io.out(yamlText(envoyBootstrap(bootstrapOf(flags))).trimEnd());
    }
    const settings = settingsOf(flags);
    if (flags.output === 'env')
      return io.out(settings.map(([, variable, value]) => `${variable}=${quoted(value)}`).join('\n'));
    const words = settings.map(([flag, , value]) => `${flag} ${quoted(value)}`);
    io.out(['edge-gateway', 'proxy', ...words].join(' '));
  });
}

function bootstrapOf(flags: BootstrapFlags): BootstrapOptions {
  const { xdsTlsCa: ca, xdsTlsCert: cert, xdsTlsKey: key, xdsTlsServerName: serverName } = flags;
  return {
    xds: flags.xds.split(',').map(hostPortOf) as [HostPort, ...HostPort[]],
    proxy: flags.name,
    nodeId: flags.nodeId,
    adminPort: Number(flags.adminPort),
    namespace: flags.namespace,
    tls: ca === undefined ? undefined : { ca, cert, key, serverName },
  };
}

function hostPortOf(address: string): HostPort {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

/** Flags that only Node proxies have. */
const NODE_FLAGS = [
  ['--bind-address', 'bindAddress'],
  ['--snapshot-file', 'snapshotFile'],
  ['--workers', 'workers'],
] as const satisfies readonly (readonly [flag: string, field: keyof BootstrapFlags])[];

/** The flags of the proxy that are set, each with its variable. */
function settingsOf(flags: BootstrapFlags): (readonly [flag: string, variable: string, value: string])[] {
  const all = [
    ['--xds', 'GATEWAY_XDS', flags.xds],
    ['--xds-tls-ca', 'GATEWAY_XDS_TLS_CA', flags.xdsTlsCa],
    ['--xds-tls-cert', 'GATEWAY_XDS_TLS_CERT', flags.xdsTlsCert],
    ['--xds-tls-key', 'GATEWAY_XDS_TLS_KEY', flags.xdsTlsKey],
    ['--xds-tls-server-name', 'GATEWAY_XDS_TLS_SERVER_NAME', flags.xdsTlsServerName],
    ['--proxy-name', 'GATEWAY_PROXY_NAME', flags.name],
    ['--namespace', 'GATEWAY_NAMESPACE', flags.namespace === DEFAULT_NAMESPACE ? undefined : flags.namespace],
    ['--admin-port', 'GATEWAY_ADMIN_PORT', flags.adminPort],
    ['--bind-address', 'GATEWAY_BIND_ADDRESS', flags.bindAddress],
    ['--snapshot-file', 'GATEWAY_SNAPSHOT_FILE', flags.snapshotFile],
    ['--workers', 'GATEWAY_WORKERS', flags.workers],
  ] as const;
  return all.flatMap(([flag, variable, value]) => (value === undefined ? [] : [[flag, variable, value] as const]));
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

function checkFlags(flags: BootstrapFlags): void {
  const { dataPlane, xds, namespace, adminPort, bindAddress, workers } = flags;
  const { xdsTlsCa, xdsTlsCert, xdsTlsKey, xdsTlsServerName } = flags;
  if (dataPlane !== 'node' && dataPlane !== 'envoy')
    throw cliError('ERR_CLI_USAGE', `--data-plane must be node or envoy, not '${dataPlane}'`);
  if (dataPlane === 'envoy') checkEnvoyFlags(flags);
  else if (flags.nodeId !== undefined) throw cliError('ERR_CLI_USAGE', '--node-id requires --data-plane envoy');
  const wrong = xds.split(',').find((address) => !isAddress(address));
  if (wrong !== undefined) throw cliError('ERR_CLI_USAGE', `--xds: invalid address '${wrong}': write host:port`);
  if (namespace !== undefined && !isNamespaceName(namespace))
    throw cliError('ERR_CLI_USAGE', `--namespace must be the name of a namespace, not '${namespace}'`);
  if (!isPort(adminPort, 0)) throw cliError('ERR_CLI_USAGE', `--admin-port must be a port, not '${adminPort}'`);
  if (bindAddress !== undefined && isIP(bindAddress) === 0)
    throw cliError('ERR_CLI_USAGE', `--bind-address must be an IP address, not '${bindAddress}'`);
  if ((xdsTlsCert === undefined) !== (xdsTlsKey === undefined))
    throw cliError('ERR_CLI_USAGE', '--xds-tls-cert and --xds-tls-key must be used together');
  if (xdsTlsCa === undefined && (xdsTlsCert ?? xdsTlsServerName) !== undefined)
    throw cliError('ERR_CLI_USAGE', '--xds-tls-cert and --xds-tls-server-name require --xds-tls-ca');
  if (
    workers !== undefined &&
    workers !== 'auto' &&
    !(/^[1-9]\d{0,2}$/.test(workers) && Number(workers) <= MAX_WORKERS)
  )
    throw cliError(
      'ERR_CLI_USAGE',
      `--workers must be auto or a number between 1 and ${MAX_WORKERS}, not '${workers}'`,
    );
}

function checkEnvoyFlags(flags: BootstrapFlags): void {
  const unknown = NODE_FLAGS.find(([, field]) => flags[field] !== undefined);
  if (unknown) throw cliError('ERR_CLI_USAGE', `${unknown[0]} has no meaning with --data-plane envoy`);
  if (flags.output === 'env')
    throw cliError('ERR_CLI_USAGE', '-o env has no meaning with --data-plane envoy: an Envoy reads a file');
  if (flags.nodeId !== undefined && !/^[\x21-\x7e]{1,256}$/.test(flags.nodeId))
    throw cliError('ERR_CLI_USAGE', `--node-id must be 1 to 256 visible characters, not '${flags.nodeId}'`);
}

function isAddress(address: string): boolean {
  const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([\w.-]+)):(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined || !isPort(port, 1)) return false;
  return bracketed === undefined ? name !== undefined : isIP(bracketed) === 6;
}

function isPort(text: string, lowest: number): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= lowest && Number(text) <= 65_535;
}
