import { GatewayProcess } from '../gateway-process.ts';

/** The flags of a control plane on free ports. */
const PORTS = [
  '--xds-port',
  '0',
  '--stats-port',
  '0',
  '--dev-admin-port',
  '0',
  '--http-port',
  '0',
  '--https-port',
  '0',
];

/** Starts a control plane on free ports. */
export async function startControlPlane(controlPlane: GatewayProcess, ...flags: string[]): Promise<GatewayProcess> {
  return controlPlane.startRole('control-plane', ...PORTS, ...flags);
}

/** Starts a proxy of these control planes on a free admin port, without a snapshot file. */
export async function startProxy(
  proxy: GatewayProcess,
  ports: readonly number[],
  ...flags: string[]
): Promise<GatewayProcess> {
  const xds = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const file = flags.includes('--snapshot-file') ? [] : ['--snapshot-file', 'none'];
  return proxy.startRole('proxy', '--xds', xds, '--admin-port', '0', '--bind-address', '127.0.0.1', ...file, ...flags);
}

export interface ShownProxy {
  readonly node: string;
  readonly version: string;
  readonly current: boolean;
  readonly nack?: {
    readonly type: string;
    readonly resource: string;
    readonly field: string;
    readonly message: string;
  };
}

export async function proxiesOf({ stats }: GatewayProcess): Promise<ShownProxy[]> {
  return (await (await fetch(`${stats}/proxies`)).json()) as ShownProxy[];
}
