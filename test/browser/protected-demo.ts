import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  DEMO_PORTS,
  demoClient,
  ensureSecrets,
  startDemo,
  startIdentityProvider,
  type Demo,
  type DemoClient,
  type Service,
} from '@edge-gateway/demo';
import { GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';
import { ROOT } from '../docs/workspace.ts';

const FILES = ['protected-route.yaml', 'upstreams.yaml', 'graphql.yaml'];

/** The protected pages of the demo, on ports of their own. */
export interface ProtectedDemo {
  /** `https://localhost:…` */
  readonly appUrl: string;
  readonly issuer: string;
  readonly gateway: GatewayProcess;
  /** Ends the identity provider, with all that it knows. */
  stopProvider(): Promise<void>;
  /** Starts it again at the same address, with new keys. */
  startProvider(): Promise<void>;
  close(): Promise<void>;
}

export interface ProtectedDemoOptions {
  /** Changes the text of the demo's resources. */
  readonly change?: (resources: string) => string;
  /** False leaves the identity provider out at first. */
  readonly withProvider?: boolean;
  /** Starts what serves the resources in the directory of the process at a port. Default: a gateway in one process. */
  readonly serve?: (gateway: GatewayProcess, port: number) => Promise<unknown>;
  /** The port of `appUrl`. Default: a free one. */
  readonly port?: number;
  /** Starts another identity provider, in the place of the demo's. */
  readonly otherProvider?: (client: DemoClient) => Promise<OtherProvider>;
}

export interface OtherProvider {
  readonly issuer: string;
  readonly port: number;
  readonly jwksUri: string;
  close(): Promise<void>;
}

/** Starts the backends of the demo and the gateway with the resources of its protected pages. */
export async function startProtectedDemo(options: ProtectedDemoOptions = {}): Promise<ProtectedDemo> {
  const { change = (same) => same, withProvider = true, otherProvider } = options;
  const { serve = (one, at) => one.start('--https-port', String(at)) } = options;
  const gateway = new GatewayProcess();
  const [port, providerPort] = [options.port ?? (await freePort()), await freePort()];
  const appUrl = `https://localhost:${port}`;
  const { clientSecret } = await ensureSecrets(join(gateway.dir, 'generated'));
  const anyPorts = Object.fromEntries(Object.keys(DEMO_PORTS).map((name) => [name, 0]));
  const demo = await startDemo({ ports: anyPorts as Record<keyof typeof DEMO_PORTS, number> });
  const client = demoClient(clientSecret, appUrl);
  const other = await otherProvider?.(client);
  const issuer = other?.issuer ?? `http://127.0.0.1:${providerPort}`;
  const written = `http://127.0.0.1:${DEMO_PORTS.identityProvider}`;
  let provider: Service | undefined;
  const startProvider = async (): Promise<void> => {
    provider = await startIdentityProvider({ client, port: providerPort });
  };
  const stopProvider = async (): Promise<void> => {
    await provider?.close();
    provider = undefined;
  };
  if (withProvider && !other) await startProvider();
  for (const file of FILES) {
    const text = readFileSync(join(ROOT, 'apps', 'gateway', 'demo', file), 'utf8')
      .replaceAll('localhost:8443', `localhost:${port}`)
      .replaceAll(`${written}/jwks`, other?.jwksUri ?? `${issuer}/jwks`)
      .replaceAll(written, issuer)
      .replaceAll(String(DEMO_PORTS.identityProvider), String(other?.port ?? providerPort))
      .replaceAll(String(DEMO_PORTS.accountPage), String(portOf(demo, 'account-page')))
      .replaceAll(String(DEMO_PORTS.bookinfo), String(portOf(demo, 'bookinfo')));
    gateway.write(file, change(text));
  }
  await serve(gateway, port);
  return {
    appUrl,
    issuer,
    gateway,
    startProvider,
    stopProvider,
    async close() {
      await gateway.close();
      await stopProvider();
      await other?.close();
      await demo.close();
    },
  };
}

function portOf({ services }: Demo, name: string): number {
  return services.find((each) => each.name === name)!.port;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
