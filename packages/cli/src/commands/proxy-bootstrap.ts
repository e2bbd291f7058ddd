import { isIP } from 'node:net';
import type { Command } from 'commander';
import { addExamples, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { outputOption } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';

interface BootstrapFlags {
  readonly dataPlane: string;
  readonly xds: string;
  readonly name: string;
  readonly adminPort: string;
  readonly bindAddress?: string;
  readonly snapshotFile?: string;
  readonly workers?: string;
  readonly xdsTlsCa?: string;
  readonly xdsTlsCert?: string;
  readonly xdsTlsKey?: string;
  readonly xdsTlsServerName?: string;
  readonly output: 'command' | 'env';
}

/** `proxy bootstrap`: the command line that starts a proxy. */
export function addProxyBootstrap(proxy: Command, io: Terminal): Command {
  const command = proxy
    .command('bootstrap')
    .description('Print the command, or the environment, that starts a proxy.')
    .option('--data-plane <kind>', 'kind of the proxy: node', 'node')
    .requiredOption('--xds <addresses>', 'host:port of the control plane; several are separated by commas')
    .option('--admin-port <port>', 'admin port of the proxy', '19000')
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
  ]);
  return command.action(() => {
    const flags = command.optsWithGlobals<BootstrapFlags>();
    checkFlags(flags);
    const settings = settingsOf(flags);
    if (flags.output === 'env')
      return io.out(settings.map(([, variable, value]) => `${variable}=${quoted(value)}`).join('\n'));
    const words = settings.map(([flag, , value]) => `${flag} ${quoted(value)}`);
    io.out(['edge-gateway', 'proxy', ...words].join(' '));
  });
}

/** The flags of the proxy that are set, each with its variable. */
function settingsOf(flags: BootstrapFlags): (readonly [flag: string, variable: string, value: string])[] {
  const all = [
    ['--xds', 'GATEWAY_XDS', flags.xds],
    ['--xds-tls-ca', 'GATEWAY_XDS_TLS_CA', flags.xdsTlsCa],
    ['--xds-tls-cert', 'GATEWAY_XDS_TLS_CERT', flags.xdsTlsCert],
    ['--xds-tls-key', 'GATEWAY_XDS_TLS_KEY', flags.xdsTlsKey],
    ['--xds-tls-server-name', 'GATEWAY_XDS_TLS_SERVER_NAME', flags.xdsTlsServerName],
    ['--proxy-name', 'GATEWAY_PROXY_NAME', flags.name],
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
  const { dataPlane, xds, adminPort, bindAddress, workers, xdsTlsCa, xdsTlsCert, xdsTlsKey, xdsTlsServerName } = flags;
  if (dataPlane === 'envoy') throw cliError('ERR_CLI_USAGE', '--data-plane envoy is not supported yet: only node');
  if (dataPlane !== 'node') throw cliError('ERR_CLI_USAGE', `--data-plane must be node, not '${dataPlane}'`);
  const wrong = xds.split(',').find((address) => !isAddress(address));
  if (wrong !== undefined) throw cliError('ERR_CLI_USAGE', `--xds: invalid address '${wrong}': write host:port`);
  if (!isPort(adminPort, 0)) throw cliError('ERR_CLI_USAGE', `--admin-port must be a port, not '${adminPort}'`);
  if (bindAddress !== undefined && isIP(bindAddress) === 0)
    throw cliError('ERR_CLI_USAGE', `--bind-address must be an IP address, not '${bindAddress}'`);
  if ((xdsTlsCert === undefined) !== (xdsTlsKey === undefined))
    throw cliError('ERR_CLI_USAGE', '--xds-tls-cert and --xds-tls-key must be used together');
  if (xdsTlsCa === undefined && (xdsTlsCert ?? xdsTlsServerName) !== undefined)
    throw cliError('ERR_CLI_USAGE', '--xds-tls-cert and --xds-tls-server-name require --xds-tls-ca');
  if (workers !== undefined && workers !== 'auto' && !/^[1-9]\d{0,3}$/.test(workers))
    throw cliError('ERR_CLI_USAGE', `--workers must be a number from 1, or auto, not '${workers}'`);
}

function isAddress(address: string): boolean {
  const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([\w.-]+)):(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined || !isPort(port, 1)) return false;
  return bracketed === undefined ? name !== undefined : isIP(bracketed) === 6;
}

function isPort(text: string, lowest: number): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= lowest && Number(text) <= 65_535;
}
