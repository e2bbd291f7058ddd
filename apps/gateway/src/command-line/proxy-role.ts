import { isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';
import type { ServerAddress } from '@edge-gateway/xds/address';
import { PORT_FLAGS, READ_ONLY_PORT_FLAGS, type ServingSettings } from '../settings.ts';
import * as flags from './flags.ts';
import type { Role, StateSettings } from './role.ts';

const { adminPort } = PORT_FLAGS;

export interface ProxySettings extends ServingSettings, StateSettings {
  /** The control planes; one of them is used. */
  readonly xds: readonly ServerAddress[];
  /** Address that replaces `::` and `0.0.0.0` in listeners. Default: no replacement. */
  readonly bindAddress?: string;
  /** File for the last accepted state; `none` disables it. Default: a file in the state directory. */
  readonly snapshotFile?: string;
  /** How long after its start a proxy that serves a saved state without its secrets is not ready, in seconds. */
  readonly secretsWaitSeconds: number;
  /** PEM file with the CA certificates for control planes. Default: plain text. */
  readonly xdsTlsCa?: string;
  /** PEM files with certificate and private key of this proxy. */
  readonly xdsTlsCert?: string;
  readonly xdsTlsKey?: string;
  /** Expected name in the certificates of control planes. Default: their hosts. */
  readonly xdsTlsServerName?: string;
}

function address(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('the address must be an IP address, such as 127.0.0.1 or ::1.');
  return text;
}

/** A proxy: serves what a control plane sends. */
export const proxyRole: Role<ProxySettings> = {
  name: 'proxy',
  description: 'Serves the configuration that a control plane sends.',
  required: { setting: 'xds', flag: '--xds <addresses>' },
  ports: { adminPort, ...READ_ONLY_PORT_FLAGS },
  options: () => [
    flags
      .option('--xds <addresses>', 'control planes, as host:port separated by commas; one is used at a time')
      .argParser(flags.listOf(flags.addresses)),
    flags.option('--xds-tls-ca <file>', 'PEM file with the CA certificates for control planes; enables TLS'),
    flags.option('--xds-tls-cert <file>', 'PEM file with the certificate of this proxy; requires --xds-tls-key'),
    flags.option('--xds-tls-key <file>', 'PEM file with the private key of the certificate'),
    flags.option('--xds-tls-server-name <name>', 'expected name in the certificates of control planes'),
    flags.portOption(adminPort),
    ...flags.adminOptions(),
    flags.option('--bind-address <address>', 'address for listeners that listen on all addresses').argParser(address),
    flags.option('--snapshot-file <file>', 'file for the last accepted state, or none'),
    ...flags.stateOptions('the secrets in the snapshot file'),
    flags
      .option(
        '--secrets-wait-seconds <s>',
        'maximum time for which a proxy without secrets is not ready after its start',
      )
      .default(10)
      .argParser(flags.seconds),
    flags.proxyNameOption(),
    ...flags.commonOptions(),
    flags.drainSecondsOption(),
    ...flags.servingOptions(),
  ],
  async start(settings, process) {
    const [{ startProxy }, { stateDirectory }] = await Promise.all([
      import('../roles/proxy.ts'),
      import('../roles/state-directory.ts'),
    ]);
    return startProxy({ ...settings, stateDir: stateDirectory(settings.stateDir) }, process);
  },
};
