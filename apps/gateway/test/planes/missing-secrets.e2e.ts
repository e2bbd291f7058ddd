import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { GatewayProcess, until } from '../gateway-process.ts';
import { ask, isReady, PROTECTED_SITE, startControlPlane, startProxy } from './planes.ts';

describe('a proxy whose snapshot file has no secrets, and whose control plane does not respond', function () {
  this.timeout(120_000);
  let controlPlane: GatewayProcess;
  let proxy: GatewayProcess;
  let dir: string;
  before(() => {
    controlPlane = new GatewayProcess();
    proxy = new GatewayProcess();
    dir = mkdtempSync(join(tmpdir(), 'snapshot-'));
    controlPlane.write('resources.yaml', PROTECTED_SITE);
  });
  after(async () => {
    await proxy.close();
    await controlPlane.close();
    rmSync(dir, { recursive: true });
  });

  it('becomes ready, and still rejects requests that need a secret', async () => {
    await startControlPlane(controlPlane);
    const { xdsPort } = controlPlane.ready;
    const flags = ['--snapshot-file', join(dir, 'file')];
    await startProxy(proxy, [xdsPort], ...flags);
    await until(async () => (await ask(proxy, '/protected')).status === 200, 'the protected route');
    for (const each of [proxy, controlPlane]) {
      each.child.kill('SIGTERM');
      await each.ended();
    }
    await startProxy(proxy, [xdsPort], ...flags);
    await until(() => isReady(proxy), 'readiness');
    await until(() => proxy.errors.includes('ready without secrets'), 'the warning');
    expect((await ask(proxy, '/protected')).status).to.equal(503);
    expect((await ask(proxy, '/')).text).to.equal('public');
  });
});
