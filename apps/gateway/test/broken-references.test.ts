import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startEcho, type Service } from '@edge-gateway/demo';
import { staticUpstream } from '../../../test/parts/static-upstream.ts';
import { call } from '../../../packages/cli/test/support/captured-io.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const service = (name: string, prefix: string, to: string): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: ${prefix} }]
        routeAction: { single: { upstream: { name: ${to} } } }
`;

const AUTH = `apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: users }
spec: { configs: [{ basicAuth: { apr: { users: { alice: { salt: s, hashedPassword: h } } } } }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualHostOption
metadata: { name: guard }
spec: { options: { extauth: { configRef: { name: users, namespace: gw-system } } } }
`;

describe('a broken reference in a running gateway', () => {
  let gateway: GatewayProcess;
  let echo: Service;
  beforeEach(async () => {
    gateway = new GatewayProcess();
    echo = await startEcho();
    gateway.write('v1.yaml', staticUpstream('v1', echo.port));
    gateway.write('v2.yaml', staticUpstream('v2', echo.port));
    gateway.write('shop.yaml', service('shop', '/', 'v2'));
    await gateway.start();
  });
  afterEach(async () => {
    await gateway.close();
    await echo.close();
  });

  const get = async (): Promise<{ status: number; text: string }> => {
    const response = await fetch(gateway.url, { signal: AbortSignal.timeout(5000) });
    return { status: response.status, text: await response.text() };
  };
  const warned = (text: string) => until(() => gateway.errors.includes(text), `the log says ${text}`);

  it('keeps the last good destination, and logs the nearest name with file and line', async () => {
    expect((await get()).status).to.equal(200);
    gateway.write('shop.yaml', service('shop', '/', 'v22'));
    await warned('did you mean v2?');
    expect(gateway.errors).to.match(/shop\.yaml:9:\d+ .*gw-system\.v22 \} not found/);
    expect((await get()).status).to.equal(200);
    gateway.write('v22.yaml', staticUpstream('v22', 1));
    await until(async () => (await get()).status === 503, 'the upstream that came later is used');
  });

  it('has the same count in the log, the metrics, /zpages, /problems and check', async () => {
    const routes = Array.from(
      { length: 40 },
      (_, i) =>
        `      - matchers: [{ prefix: /r${i} }]\n        routeAction: { single: { upstream: { name: gone } } }\n`,
    );
    gateway.write('shop.yaml', service('shop', '/', 'v2').replace('    routes:\n', `    routes:\n${routes.join('')}`));
    await warned('39 more places');
    const page = async (path: string): Promise<any> => (await fetch(`${gateway.stats}${path}`)).json();
    const { total, problems } = await page('/problems');
    expect([total, problems.length]).to.deep.equal([40, 40]);
    expect(problems[0]).to.include({ severity: 'warning', code: 'MISSING_REFERENCE', line: 9, name: 'shop' });
    expect((await page('/zpages?format=json')).translations[0].problems).to.equal(40);
    const metrics = await (await fetch(`${gateway.stats}/metrics`)).text();
    expect(metrics).to.match(/^validation_gateway_vendor_io_problems(\{.*\})? 40$/m);
    expect(gateway.errors).to.match(/"problems":40,/);
    expect(gateway.errors.match(/gone \} not found/g)).to.have.length(1);
    const { stdout } = await call(['check', '--server', gateway.stats, '--proxy-admin', gateway.admin]);
    expect(stdout).to.contain('40 problems in the configuration, with 1 cause\n');
  });

  it('returns 503 when the upstream is deleted, and serves again when it is restored', async () => {
    rmSync(join(gateway.dir, 'v2.yaml'));
    await until(async () => (await get()).status === 503, 'the route answers 503');
    expect((await get()).text).to.equal('no healthy upstream');
    gateway.write('v2.yaml', staticUpstream('v2', echo.port));
    await until(async () => (await get()).status === 200, 'the upstream is back');
  });

  it('requires credentials after the reference to shared options is misspelt, and after they are deleted', async () => {
    gateway.write('auth.yaml', AUTH);
    const guarded = (name: string): string =>
      service('shop', '/', 'v2').replace(
        "    domains: ['*']\n",
        `    domains: ['*']\n    optionsConfigRefs: { delegateOptions: [{ name: ${name}, namespace: gw-system }] }\n`,
      );
    gateway.write('shop.yaml', guarded('guard'));
    await until(async () => (await get()).status === 401, 'credentials are asked for');
    gateway.write('shop.yaml', guarded('gaurd'));
    await warned('gw-system.gaurd not found (did you mean guard?); its last good options stay in use');
    expect((await get()).status).to.equal(401);
    gateway.write('shop.yaml', guarded('guard'));
    gateway.write('auth.yaml', AUTH.split('---\n')[0]!);
    await warned('VirtualHostOption gw-system.guard not found; its last good options stay in use');
    expect((await get()).status).to.equal(401);
    gateway.write('shop.yaml', service('shop', '/', 'v2'));
    await until(async () => (await get()).status === 200, 'without the reference no login is required');
  });

  it('returns the replacement for a route that never had a destination, without advice for operators', async () => {
    gateway.write(
      'shop.yaml',
      service('shop', '/', 'v2').replace(
        '    routes:\n',
        `    routes:\n      - matchers: [{ prefix: /new }]\n        routeAction: { single: { upstream: { name: v22 } } }\n`,
      ),
    );
    await warned('did you mean v2?');
    const response = await fetch(`${gateway.url}/new`);
    expect(response.status).to.equal(404);
    expect(await response.text()).to.equal('The requested resource is not available.');
    expect((await get()).status).to.equal(200);
  });
});
