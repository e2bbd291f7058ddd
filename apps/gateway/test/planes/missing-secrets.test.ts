import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../../../test/parts/free-port.ts';
import { GatewayProcess, until } from '../gateway-process.ts';
import { ask, isReady, PROTECTED_SITE, startControlPlane, startProxy } from './planes.ts';

describe('a proxy that starts from a snapshot file without secrets', () => {
  let controlPlane: GatewayProcess;
  let proxy: GatewayProcess;
  let dir: string;
  beforeEach(() => {
    controlPlane = new GatewayProcess();
    proxy = new GatewayProcess();
    dir = mkdtempSync(join(tmpdir(), 'snapshot-'));
    controlPlane.write('resources.yaml', PROTECTED_SITE);
  });
  afterEach(async () => {
    await proxy.close();
    await controlPlane.close();
    rmSync(dir, { recursive: true });
  });

  for (const workers of ['1', '2'])
    it(`serves public routes, and is ready when a control plane has responded, with ${workers} worker(s)`, async () => {
      const [xdsPort] = (await freePorts(1)) as [number];
      await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
      const flags = ['--snapshot-file', join(dir, 'file'), '--workers', workers];
      await startProxy(proxy, [xdsPort], ...flags);
      await until(() => proxy.ready.listeners.length > 0, 'the listener');
      await until(async () => (await ask(proxy, '/protected')).status === 200, 'the protected route');
      controlPlane.child.kill('SIGKILL');
      proxy.child.kill('SIGTERM');
      await Promise.all([controlPlane.ended(), proxy.ended()]);

      proxy.errors = '';
      await startProxy(proxy, [xdsPort], ...flags);
      await until(() => proxy.ready.listeners.length > 0, 'the listener');
      expect(await ask(proxy, '/')).to.deep.equal({ status: 200, text: 'public' });
      const refused = await ask(proxy, '/protected');
      expect(refused.status).to.equal(503);
      expect(refused.text).to.contain('ERR_ROUTING_SECRETS_PENDING');
      expect(await isReady(proxy)).to.equal(false);
      expect(proxy.errors).to.contain('snapshot file has no secrets').and.to.contain('not ready');
      expect(proxy.errors).to.not.contain('invalid route').and.to.not.contain('rejected');

      await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
      await until(async () => (await ask(proxy, '/protected')).status === 200, 'the protected route again');
      await until(() => isReady(proxy), 'readiness');
    });
});
