import type { IncomingMessage, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import { PAGE_HEADERS } from '../html.ts';
import { startService, type Service } from '../backends/http-service.ts';
import { configurationOf, type DemoClient, type Lifetimes } from './configuration.ts';
import { loginEndedPage, loginPage } from './login-page.ts';
import { userOf } from './users.ts';

export interface IdentityProviderOptions {
  readonly client: DemoClient;
  /** 0 is any free one. */
  readonly port?: number;
  readonly lifetimes?: Partial<Lifetimes>;
}

const LIFETIMES: Lifetimes = { token: 600, session: 14 * 24 * 3600 };
const INTERACTION = /^\/interaction\/([\w-]+)$/;
const MAX_FORM_BYTES = 10_000;

/**
 * Starts an OpenID Connect provider on loopback, whose issuer is its own address, with two users, a plain login form,
 * rotating refresh tokens, logout by the client and back-channel logout. Its state is in memory.
 */
export async function startIdentityProvider({ client, port, lifetimes }: IdentityProviderOptions): Promise<Service> {
  let serve: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => void res.writeHead(503).end();
  const service = await startService('identity-provider', (req, res) => serve(req, res), { port });
  const provider = new Provider(
    `http://${service.host}:${service.port}`,
    configurationOf(client, { ...LIFETIMES, ...lifetimes }),
  );
  const serveProvider = provider.callback();
  serve = (req, res) => {
    const uid = INTERACTION.exec(req.url ?? '')?.[1];
    if (uid === undefined) return void serveProvider(req, res);
    interact(provider, { req, res, uid }).catch(() => {
      if (!res.headersSent) res.writeHead(400, PAGE_HEADERS);
      res.end(loginEndedPage(accountUrlOf(client)));
    });
  };
  return service;
}

async function interact(
  provider: Provider,
  { req, res, uid }: { req: IncomingMessage; res: ServerResponse; uid: string },
): Promise<void> {
  await provider.interactionDetails(req, res);
  if (req.method !== 'POST') {
    res.writeHead(200, PAGE_HEADERS).end(loginPage(uid));
    return;
  }
  const form = await readForm(req);
  const user = userOf(form.get('email') ?? '', form.get('password') ?? '');
  if (!user) {
    res.writeHead(200, PAGE_HEADERS).end(loginPage(uid, 'failed'));
    return;
  }
  await provider.interactionFinished(req, res, { login: { accountId: user.email } });
}

async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of req) {
    text += String(chunk);
    if (text.length > MAX_FORM_BYTES) throw new Error('the form is too large');
  }
  return new URLSearchParams(text);
}

/** The account page begins a new login. */
function accountUrlOf({ redirectUris }: DemoClient): string {
  return new URL('/account', redirectUris[0]).href;
}
