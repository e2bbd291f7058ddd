import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { skip } from '../parts/skip.ts';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { numbersOf } from '../../apps/gateway/test/workers/requests.ts';
import { mountSmallDisk, type SmallDisk } from '../parts/small-disk.ts';
import { echoUpstream, forwarded, services, versionOf } from './plane-services.ts';
import { underTraffic } from './traffic.ts';

const SERVICES = 200;
const CALM_MS = 1000;

/** A Gateway with an access log in a file. */
const gateway = (log: string): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy }
spec:
  bindAddress: '::'
  bindPort: 0
  httpGateway: {}
  options: { accessLoggingService: { accessLog: [{ fileSink: { path: '${log}', stringFormat: "%REQ(:PATH)%\\n" } }] } }
`;

describe('a full disk, under traffic', function () {
  this.timeout(300_000);
  let disk: SmallDisk;
  let backend: Server;
  let controlPlane: GatewayProcess;
  let proxy: GatewayProcess;
  before(async function () {
    const mounted = await mountSmallDisk(4);
    if (!mounted) return skip(this, 'this user may not mount a small disk');
    disk = mounted;
    backend = createServer((req, res) => res.end(req.url)).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    controlPlane = new GatewayProcess();
    proxy = new GatewayProcess();
    controlPlane.write('upstream.yaml', echoUpstream((backend.address() as AddressInfo).port));
    controlPlane.write('gateway.yaml', gateway(join(disk.path, 'access.log')));
    write('v1');
    await startControlPlane(controlPlane);
    await startServing();
  });
  after(async () => {
    if (!disk) return;
    await proxy.close();
    await controlPlane.close();
    backend.close();
    backend.closeAllConnections();
    await disk.close();
  });

  async function startServing(): Promise<void> {
    await startProxy(proxy, [controlPlane.ready.xdsPort], '--snapshot-file', join(disk.path, 'state'));
    // On a busy machine the first state may arrive later.
    await until(() => proxy.ready.listeners.length > 0, 'the listener');
  }
  const write = (version: string): void => controlPlane.write('services.yaml', services(SERVICES, version));
  const failures = async (): Promise<number> =>
    Object.values(await numbersOf(proxy, 'control_plane.snapshot_file_write_failures'))[0] ?? 0;
  const logged = (): number => readFileSync(join(disk.path, 'access.log'), 'utf8').split('\n').length;

  it('serves and applies changes, reports that the snapshot file is not written, and recovers', async () => {
    expect(await versionOf(proxy, 3)).to.equal('200 v1');
    await underTraffic('full disk', [forwarded(proxy, SERVICES)], async (phase) => {
      await wait(CALM_MS);
      phase('full');
      disk.fill();
      write('v2');
      await until(async () => (await versionOf(proxy, 3)) === '200 v2', 'the change');
      await until(async () => (await failures()) > 0, 'failed writes are counted');
      const reported = /"file":"[^"]*state","reason":"ENOSPC".*"failed to write snapshot file"/;
      await until(() => reported.test(proxy.errors), 'the report of failed writes');
      expect(await (await fetch(`${proxy.admin}/ready`)).text()).to.equal('LIVE\n');
      await wait(CALM_MS);
      const before = logged();
      phase('free');
      disk.free();
      await until(() => proxy.errors.includes('snapshot file written again'), 'the snapshot file');
      await until(() => logged() > before + 100, 'the access log');
    });
    const logFailures = await numbersOf(proxy, 'access_log');
    console.log(
      `        ${await failures()} failed writes of the snapshot file; access log ${JSON.stringify(logFailures)}`,
    );
    // The state of the file is the newest one.
    controlPlane.child.kill('SIGKILL');
    await controlPlane.ended();
    proxy.child.kill('SIGTERM');
    expect(await proxy.ended()).to.equal(0);
    await startServing();
    expect(await versionOf(proxy, 3)).to.equal('200 v2');
  });
});
