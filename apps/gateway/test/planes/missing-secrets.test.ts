import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../../../test/parts/free-port.ts';
import { GatewayProcess, until } from '../gateway-process.ts';
import { startControlPlane, startProxy } from './planes.ts';

const RESOURCES = `
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

describe('a proxy that starts from a snapshot file without secrets', () => {
  let controlPlane: GatewayProcess;
  let proxy: GatewayProcess;
  let dir: string;
  beforeEach(() => {
    controlPlane = new GatewayProcess();
    proxy = new GatewayProcess();
    dir = mkdtempSync(join(tmpdir(), 'snapshot-'));
    controlPlane.write('resources.yaml', RESOURCES);
  });
  afterEach(async () => {
    await proxy.close();
    await controlPlane.close();
    rmSync(dir, { recursive: true });
  });

  async function ask(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(proxy.url + path, { headers: { 'x-api-key': 'open-sesame' } });
    return { status: response.status, text: await response.text() };
  }
  const ready = async () => (await (await fetch(`${proxy.admin}/ready`)).text()).trim();

  for (const workers of ['1', '2'])
    it(`serves public routes, and is ready when a control plane has responded, with ${workers} worker(s)`, async () => {
      const [xdsPort] = (await freePorts(1)) as [number];
      await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
      const flags = ['--snapshot-file', join(dir, 'file'), '--workers', workers];
      await startProxy(proxy, [xdsPort], ...flags);
      await until(() => proxy.ready.listeners.length > 0, 'the listener');
      await until(async () => (await ask('/protected')).status === 200, 'the protected route');
      for (const each of [proxy, controlPlane]) {
        each.child.kill('SIGTERM');
        await each.ended();
      }

      proxy.errors = '';
      await startProxy(proxy, [xdsPort], ...flags);
      await until(() => proxy.ready.listeners.length > 0, 'the listener');
      expect(await ask('/')).to.deep.equal({ status: 200, text: 'public' });
      const refused = await ask('/protected');
      expect(refused.status).to.equal(503);
      expect(refused.text).to.contain('ERR_ROUTING_SECRETS_PENDING');
      expect(await ready()).to.equal('INITIALIZING');
      expect(proxy.errors).to.contain('snapshot file has no secrets').and.to.contain('not ready');
      expect(proxy.errors).to.not.contain('invalid route').and.to.not.contain('rejected');

      await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
      await until(async () => (await ask('/protected')).status === 200, 'the protected route again');
      await until(async () => (await ready()) === 'LIVE', 'readiness');
    });
});
