import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';
import { createBrowser, type Browser } from '../../packages/oidc/test/parts/browser.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
  type IdentityProvider,
  type ProviderTimes,
} from '../../packages/oidc/test/parts/identity-provider.ts';
import { startSite, type Site } from '../../packages/oidc/test/parts/site.ts';

/** Gateways that share a login, an upstream behind them that shows what it got, and the identity provider. */
export interface LoginNodes {
  readonly idp: IdentityProvider;
  readonly site: Site;
  readonly nodes: readonly GatewayProcess[];
  /** `http://127.0.0.1:…/private`, behind the login. */
  privateUrl(node?: number): string;
  /** Writes other sessions into the resources of every gateway. */
  setSession(session: string): void;
  close(): Promise<void>;
}

export interface LoginNodesOptions {
  /** Block `session` of the AuthConfig, as JSON. */
  readonly session: string;
  readonly count?: number;
  readonly times?: ProviderTimes;
  /** True: the identity provider answers nobody until `idp.intercept` is taken away. */
  readonly withoutProvider?: boolean;
}

const CALL_LIMIT = '12s';

/** Starts gateways as processes of their own. `/public` is open, `/private` needs a login, `/token` a bearer token. */
export async function startLoginNodes(options: LoginNodesOptions): Promise<LoginNodes> {
  const { session, count = 1, times, withoutProvider = false } = options;
  const ports: number[] = [];
  for (let i = 0; i < count; i++) ports.push(await freePort());
  const appUrl = `http://127.0.0.1:${ports[0]}`;
  const idp = await startIdentityProvider({
    redirectUris: [`${appUrl}/private/callback`],
    postLogout: [`${appUrl}/public`],
    ...(times && { times }),
  });
  if (withoutProvider) idp.intercept = refuseAll;
  const site = await startSite();
  site.listen((req, res) => {
    site.seen.push({ url: `${req.method} ${req.url}`, headers: req.headers });
    res.end(JSON.stringify({ url: req.url, headers: req.headers }));
  });
  const nodes = ports.map(() => new GatewayProcess());
  const write = (block: string): void => {
    for (const node of nodes) node.write('all.yaml', resources({ appUrl, idp, site, session: block }));
  };
  write(session);
  await Promise.all(nodes.map((node, i) => node.start('--http-port', String(ports[i]))));
  return {
    idp,
    site,
    nodes,
    privateUrl: (node = 0) => `http://127.0.0.1:${ports[node]}/private`,
    setSession: write,
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await idp.close();
      await site.close();
    },
  };
}

/** An identity provider that is away: whoever connects is cut off. */
export const refuseAll: NonNullable<IdentityProvider['intercept']> = (req) => {
  req.socket.destroy();
  return true;
};

/** Sessions in this Redis, as the block `session` of an AuthConfig. */
export function redisSession(host: string): string {
  return JSON.stringify({
    failOnFetchFailure: true,
    cookieOptions: { notSecure: true },
    redis: { options: { host }, allowRefreshing: true, preExpiryBuffer: '0s' },
  });
}

/** The status that a browser gets at one of the gateways; redirects are not followed. */
export async function statusAt(world: LoginNodes, browser: Browser, node: number): Promise<number> {
  const url = world.privateUrl(node);
  return (await atAnotherNode(browser, url).send(url)).status;
}

/** A browser that is logged in. */
export async function loggedIn(world: LoginNodes, email = 'admin@example.com'): Promise<Browser> {
  const browser = createBrowser(email);
  const { status, body } = await browser.visit(world.privateUrl());
  if (status !== 200) throw new Error(`the login ended with ${status}: ${body}`);
  return browser;
}

interface Parts {
  readonly appUrl: string;
  readonly idp: IdentityProvider;
  readonly site: Site;
  readonly session: string;
}

const hostOf = (url: string): string => `{ addr: 127.0.0.1, port: ${new URL(url).port} }`;

function resources({ appUrl, idp, site, session }: Parts): string {
  return `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: site }
spec: { static: { hosts: [${hostOf(site.url)}] } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: idp }
spec: { static: { hosts: [${hostOf(idp.issuer)}] } }
---
apiVersion: v1
kind: Secret
metadata: { name: client }
type: extauth.vendor.io/oauth
stringData: { client-secret: ${CLIENT_SECRET} }
---
apiVersion: gw.vendor.io/v1
kind: Settings
metadata: { name: default }
spec: { extauth: { requestTimeout: ${CALL_LIMIT} } }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: ${idp.issuer}
          appUrl: ${appUrl}
          callbackPath: /private/callback
          clientId: ${CLIENT_ID}
          clientSecretRef: { name: client, namespace: gw-system }
          scopes: [email]
          headers: { idTokenHeader: jwt }
          session: ${session}
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: site }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /private }]
        routeAction: { single: { upstream: { name: site } } }
        options: { extauth: { configRef: { name: login, namespace: gw-system } } }
      - name: token
        matchers: [{ prefix: /token }]
        routeAction: { single: { upstream: { name: site } } }
        options:
          jwtProvidersStaged:
            afterExtAuth:
              providers:
                main:
                  issuer: ${idp.issuer}
                  jwks: { remote: { url: '${idp.issuer}/jwks', upstreamRef: { name: idp }, cacheDuration: 1s } }
      - matchers: [{ prefix: /public }]
        routeAction: { single: { upstream: { name: site } } }
`;
}

/** The same person with the same browser at another gateway: cookies are for the host, whatever its port. */
function atAnotherNode(browser: Browser, url: string): Browser {
  const other = createBrowser();
  for (const [key, cookie] of browser.jar) {
    const { host } = new URL(url);
    other.jar.set(key.replace(cookie.host, host), { ...cookie, host });
  }
  return other;
}

/** A port nobody listens on now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
