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

/** A virtual service for every domain: `/protected` requires an API key, which is in a Secret, everything else nothing. */
export const PROTECTED_SITE = `
apiVersion: v1
kind: Secret
metadata: { name: alice }
type: extauth.vendor.io/apikey
stringData: { api-key: open-sesame }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: keys }
spec:
  configs:
    - apiKeyAuth:
        headerName: x-api-key
        k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: alice, namespace: gw-system }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: site }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /protected }]
        directResponseAction: { status: 200, body: protected }
        options: { extauth: { configRef: { name: keys, namespace: gw-system } } }
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: public }
`;

/** Requests a path of {@link PROTECTED_SITE} with the API key, on a connection that does not delay the end of the proxy. */
export async function ask({ url }: GatewayProcess, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, { headers: { 'x-api-key': 'open-sesame', connection: 'close' } });
  return { status: response.status, text: await response.text() };
}

export async function isReady({ admin }: GatewayProcess): Promise<boolean> {
  return (await fetch(`${admin}/ready`)).ok;
}
