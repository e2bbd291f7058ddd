import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { GatewayProcess, until } from '../apps/gateway/test/gateway-process.ts';
import { call, type Outcome } from '../packages/cli/test/support/captured-io.ts';

const SERVICE = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: shop, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: in }
`;
const LOGIN = `--enable-oidc-auth --oidc-auth-client-id shop --oidc-auth-client-secret-name shop
  --oidc-auth-issuer-url http://127.0.0.1:9 --oidc-auth-app-url https://shop.example
  --oidc-auth-callback-path /callback`.split(/\s+/);

describe('the output of create', () => {
  let gateway: GatewayProcess;
  before(async () => {
    gateway = new GatewayProcess();
    gateway.write('shop.yaml', SERVICE);
    await gateway.start();
  });
  after(() => gateway.close());

  const at = (...argv: string[]): Promise<Outcome> =>
    call([...argv, '--server', gateway.stats, '--proxy-admin', gateway.admin]);
  const create = (...argv: string[]) => call(['create', ...argv, '--config', gateway.dir]);
  const checkSays = (text: string | RegExp) =>
    until(async () => {
      const { stdout, stderr } = await at('check');
      const all = stdout + stderr;
      return typeof text === 'string' ? all.includes(text) : text.test(all);
    }, `check says ${text}`);

  it('is accepted by the gateway, and check reports what is still missing', async () => {
    await checkSays(/shop\.yaml:7:27  VirtualService gw-system\/shop .*AuthConfig gw-system\.shop not found/);
    expect((await create('authconfig', 'shop', ...LOGIN)).code).to.equal(0);
    await checkSays(/AuthConfig gw-system\/shop .*secret gw-system\.shop not found/);
    await checkSays(/VirtualService gw-system\/shop .*secret gw-system\.shop not found/);
    expect((await fetch(`${gateway.url}/`).catch(() => ({ status: 0 }))).status).to.not.equal(200);
    expect((await create('secret', 'oauth', 'shop', '--client-secret', 'hush-hush')).code).to.equal(0);
    // Nothing else is missing than the provider itself.
    await checkSays(/^(?:Checking \w+\.\.\. (?:OK|1 warning)\n)+[^!]*does not respond to this machine[^!]*$/);
    const { stdout } = await at('get', 'authconfigs');
    expect(stdout).to.contain('| shop       | OAuth2 |');
    const served = await fetch(`${gateway.url}/`, { redirect: 'manual' });
    expect(served.status, 'a script without session').to.equal(401);
  });

  it('never exposes its values in the running gateway', async () => {
    const file = readFileSync(join(gateway.dir, 'secret-gw-system-shop.yaml'), 'utf8');
    expect(file).to.contain(Buffer.from('hush-hush').toString('base64'));
    for (const path of ['/snapshots/input', '/snapshots/proxies']) {
      const text = await (await fetch(gateway.stats + path)).text();
      expect(text).to.not.contain('hush-hush').and.to.not.contain(Buffer.from('hush-hush').toString('base64'));
    }
    expect(gateway.output + gateway.errors).to.not.contain('hush-hush');
  });

  it('is rejected by check after an invalid edit', async () => {
    gateway.write(
      'secret-gw-system-shop.yaml',
      'apiVersion: v1\nkind: Secret\nmetadata: { name: shop }\ndata: { a: "%" }\n',
    );
    await checkSays(/secret-gw-system-shop\.yaml:4:\d+  Secret gw-system\/shop/);
  });
});
