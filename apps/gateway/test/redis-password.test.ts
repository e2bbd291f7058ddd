import { expect } from 'chai';
import { call } from '../../../packages/cli/test/support/captured-io.ts';
import { startBadProvider, type BadProvider } from '../../../packages/oidc/test/parts/bad-provider.ts';
import { createBrowser } from '../../../packages/oidc/test/parts/browser.ts';
import { skipWithout } from '../../../test/parts/apt.ts';
import { startRedis, type RedisServer } from '../../../test/parts/redis.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const PORTS = {
  stats: ['/snapshots/input', '/snapshots/edge', '/snapshots/proxies', '/snapshots/xds', '/metrics', '/logging'],
  admin: ['/config_dump', '/clusters', '/init_dump', '/server_info', '/stats', '/listeners'],
} as const;
const PASSWORD = 'hunter2';

describe('the password of the session store', () => {
  let gateway: GatewayProcess;
  let redis: RedisServer;
  let idp: BadProvider;
  const resources = (host: string): string => `apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: ${idp.issuer}
          clientId: web
          clientSecretRef: { name: web, namespace: gw-system }
          appUrl: ${gateway.ready ? gateway.url : 'http://127.0.0.1'}
          callbackPath: /callback
          session:
            failOnFetchFailure: true
            cookieOptions: { notSecure: true }
            redis: { options: { host: '${host}' } }
---
apiVersion: v1
kind: Secret
metadata: { name: web }
type: extauth.vendor.io/oauth
data: { client-secret: ${Buffer.from('a secret of the client').toString('base64')} }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: login, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: in }
`;
  before(async function () {
    await skipWithout(this, 'redis-server');
    redis = await startRedis({ password: PASSWORD });
    idp = await startBadProvider();
    gateway = new GatewayProcess();
    gateway.write('all.yaml', resources(`redis://:old-${PASSWORD}@${redis.host}`));
    await gateway.start();
    gateway.write('all.yaml', resources(`redis://:old-${PASSWORD}@${redis.host}`));
  });
  after(async () => {
    await gateway?.close();
    await idp?.close();
    await redis?.close();
  });

  const shown = async (): Promise<string> => {
    const texts: string[] = [];
    for (const port of ['stats', 'admin'] as const)
      for (const path of PORTS[port]) texts.push(await (await fetch(gateway[port] + path)).text());
    const flags = ['--server', gateway.stats, '--proxy-admin', gateway.admin];
    for (const words of [['get', 'authconfigs', '-o', 'yaml'], ['check'], ['explain', 'GET', `${gateway.url}/`]]) {
      const { stdout, stderr } = await call([...words, ...flags]);
      texts.push(stdout, stderr);
    }
    return texts.join('\n');
  };
  /** Status 0 where the first resources, which do not know the port, still hold. */
  const visit = () =>
    createBrowser()
      .visit(`${gateway.url}/`)
      .catch(() => ({ status: 0, body: '' }));

  it('is never shown, even if it is wrong; the log names the problem', async () => {
    await until(async () => (await visit()).status === 503, '503');
    await until(() => gateway.errors.includes('Redis rejected the user name or password'), 'a line in the log');
    const { body } = await visit();
    const all = await shown();
    expect(all).to.contain(`redis://<redacted>@${redis.host}`);
    expect(all + body + gateway.output + gateway.errors).to.not.contain(PASSWORD);
  });

  it('changes without a restart', async () => {
    gateway.write('all.yaml', resources(`redis://:${PASSWORD}@${redis.host}`));
    await until(async () => (await visit()).status === 200, 'logins with the new password');
    expect((await shown()) + gateway.output + gateway.errors).to.not.contain(PASSWORD);
  });

  it('is not in the status of a resource with an invalid address', async () => {
    gateway.write('all.yaml', resources(`redis://:${PASSWORD}@:x`));
    await until(async () => (await shown()).includes('unix://path'), 'a status');
    expect((await shown()) + gateway.output + gateway.errors).to.not.contain(PASSWORD);
  });
});
