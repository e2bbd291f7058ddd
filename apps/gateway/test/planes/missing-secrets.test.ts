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

  /** Has the proxy write its file, ends both planes, and starts the proxy again. */
  async function startAlone(xdsPort: number, ...flags: string[]): Promise<void> {
    const all = ['--snapshot-file', join(dir, 'file'), ...flags];
    await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
    await startProxy(proxy, [xdsPort], ...all);
    await until(async () => (await ask(proxy, '/protected')).status === 200, 'the protected route');
    controlPlane.child.kill('SIGKILL');
    proxy.child.kill('SIGTERM');
    await Promise.all([controlPlane.ended(), proxy.ended()]);
    proxy.errors = '';
    await startProxy(proxy, [xdsPort], ...all);
  }

  for (const workers of ['1', '2'])
    it(`serves public routes, and is ready when a control plane has responded, with ${workers} worker(s)`, async () => {
      const [xdsPort] = (await freePorts(1)) as [number];
      await startAlone(xdsPort, '--workers', workers, '--secrets-wait-seconds', '3600');
      expect(await ask(proxy, '/')).to.deep.equal({ status: 200, text: 'public' });
      const refused = await ask(proxy, '/protected');
      expect(refused.status).to.equal(503);
      expect(refused.text).to.contain('ERR_ROUTING_SECRETS_PENDING');
      expect(await isReady(proxy)).to.equal(false);
      expect(proxy.errors).to.contain('snapshot file has no secrets').and.to.contain('"waitSeconds":3');
      expect(proxy.errors).to.not.contain('invalid route').and.to.not.contain('rejected');

      await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
      await until(async () => (await ask(proxy, '/protected')).status === 200, 'the protected route again');
      await until(() => isReady(proxy), 'readiness');
    });

  it('is ready after --secrets-wait-seconds, and still rejects requests that need a secret', async () => {
    const [xdsPort] = (await freePorts(1)) as [number];
    await startAlone(xdsPort, '--secrets-wait-seconds', '0.1');
    await until(() => isReady(proxy), 'readiness');
    await until(() => proxy.errors.includes('ready without secrets'), 'the warning');
    expect((await ask(proxy, '/protected')).status).to.equal(503);
    expect((await ask(proxy, '/')).text).to.equal('public');
  });
});
