import { startAccountPage } from './backends/account-page.ts';
import { startBookinfo } from './backends/bookinfo.ts';
import { startEcho } from './backends/echo.ts';
import type { Service } from './backends/http-service.ts';
import type { DemoClient } from './identity-provider/configuration.ts';
import { startIdentityProvider } from './identity-provider/identity-provider.ts';
import { startTodos } from './backends/todos.ts';
import { startUsersGrpc } from './backends/users-grpc.ts';

/** Ports that the demo's resources name as upstreams. */
export const DEMO_PORTS = {
  echo: 18081,
  bookinfo: 18082,
  identityProvider: 18083,
  accountPage: 18084,
  todos: 18085,
  users: 18086,
} as const;

/** Where the demo's resources serve the protected pages. */
export const DEMO_APP_URL = 'https://localhost:8443';

/** The running backends. */
export interface Demo {
  readonly services: readonly Service[];
  close(): Promise<void>;
}

export interface DemoOptions {
  /** The client secret of the gateway. Without it, no identity provider is started. */
  readonly clientSecret?: string;
  /** Default {@link DEMO_APP_URL}. */
  readonly appUrl?: string;
  /** Default {@link DEMO_PORTS}; 0 is any free one. */
  readonly ports?: Readonly<Record<keyof typeof DEMO_PORTS, number>>;
}

/** Starts every backend of the demo on loopback. Rejects when a port is taken; those already started are stopped again. */
export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const { ports = DEMO_PORTS, clientSecret, appUrl = DEMO_APP_URL } = options;
  const client = clientSecret === undefined ? undefined : demoClient(clientSecret, appUrl);
  const starting = [
    startEcho({ port: ports.echo }),
    startBookinfo({ port: ports.bookinfo }),
    ...(client ? [startIdentityProvider({ client, port: ports.identityProvider })] : []),
    startAccountPage({ port: ports.accountPage }),
    startTodos({ port: ports.todos }),
    startUsersGrpc({ port: ports.users }),
  ];
  const settled = await Promise.allSettled(starting);
  const services = settled.filter((each) => each.status === 'fulfilled').map((each) => each.value);
  const close = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.close()));
  };
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  return { services, close };
}

/** Returns the client of the gateway that serves the demo's protected pages at `appUrl`. */
export function demoClient(clientSecret: string, appUrl: string): DemoClient {
  return {
    clientId: 'demo',
    clientSecret,
    redirectUris: [`${appUrl}/callback`, `${appUrl}/cookies/callback`],
    postLogoutRedirectUris: [`${appUrl}/goodbye`],
  };
}

/** Returns why the demo cannot start while another program has one of its ports, and what to do. */
export function portInUse(port: number | undefined): string {
  const [key] = Object.entries(DEMO_PORTS).find(([, own]) => own === port) ?? [];
  const service = key === undefined ? '' : ` (${key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)})`;
  return `port ${port}${service} is in use by another program.
Is a demo already running in another terminal? Stop it, then run the command again.
If not, "lsof -i :${port}" shows the program; "npm start -- --config DIR" needs no port of the demo.`;
}
