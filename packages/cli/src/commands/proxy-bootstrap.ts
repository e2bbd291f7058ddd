import { isIP } from 'node:net';
import type { Command } from 'commander';
import { addExamples, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import type { Terminal } from '../output/terminal.ts';

interface BootstrapFlags {
  readonly dataPlane: string;
  readonly xds: string;
  readonly name: string;
  readonly adminPort: string;
  readonly bindAddress?: string;
  readonly snapshotFile?: string;
  readonly workers?: string;
}

/** `proxy bootstrap`: the command line that starts a proxy. */
export function addProxyBootstrap(proxy: Command, io: Terminal): Command {
  const command = proxy
    .command('bootstrap')
    .description('Print the command that starts a proxy.')
    .option('--data-plane <kind>', 'kind of the proxy: node', 'node')
    .requiredOption('--xds <addresses>', 'host:port of the control plane; several are separated by commas')
    .option('--admin-port <port>', 'port of the admin of the proxy', '19000')
    .option('--bind-address <address>', 'address that replaces :: and 0.0.0.0 of the listeners')
    .option('--snapshot-file <file>', 'file that keeps the last acknowledged version')
    .option('--workers <number>', 'number of serving processes, or auto');
  hideGlobalFlags(command, ['--port', ...CONNECTION_FLAGS]);
  addExamples(command, [
    ['gatewayctl proxy bootstrap --xds control-plane:9977', 'run its output on the machine of the proxy'],
  ]);
  return command.action(() => {
    const flags = command.optsWithGlobals<BootstrapFlags>();
    checkFlags(flags);
    const { name, xds, adminPort, bindAddress, snapshotFile, workers } = flags;
    const words = [
      ['--xds', xds],
      ['--proxy-name', name],
      ['--admin-port', adminPort],
      ['--bind-address', bindAddress],
      ['--snapshot-file', snapshotFile],
      ['--workers', workers],
    ].flatMap(([flag, value]) => (value === undefined ? [] : [flag!, quoted(value)]));
    io.out(['edge-gateway', 'proxy', ...words].join(' '));
  });
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

function checkFlags({ dataPlane, xds, adminPort, bindAddress, workers }: BootstrapFlags): void {
  if (dataPlane === 'envoy') throw cliError('ERR_CLI_USAGE', '--data-plane envoy is not supported yet: only node');
  if (dataPlane !== 'node') throw cliError('ERR_CLI_USAGE', `--data-plane must be node, not '${dataPlane}'`);
  const wrong = xds.split(',').find((address) => !isAddress(address));
  if (wrong !== undefined) throw cliError('ERR_CLI_USAGE', `--xds: invalid address '${wrong}': write host:port`);
  if (!isPort(adminPort, 0)) throw cliError('ERR_CLI_USAGE', `--admin-port must be a port, not '${adminPort}'`);
  if (bindAddress !== undefined && isIP(bindAddress) === 0)
    throw cliError('ERR_CLI_USAGE', `--bind-address must be an IP address, not '${bindAddress}'`);
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
