import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { proxiesOf, startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { Link } from './link.ts';
import { echoUpstream, forwarded, service, services, versionOf } from './plane-services.ts';
import { underTraffic as sendUntil } from './traffic.ts';

const SERVICES = 200;

describe('faults between the planes', () => {
  let backend: ReturnType<typeof createServer>;
  let controlPlane: GatewayProcess;
  let proxies: GatewayProcess[];
  let links: Link[];
  beforeEach(async () => {
    backend = createServer((req, res) => res.end(req.url)).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    controlPlane = new GatewayProcess();
    proxies = [];
    links = [];
    controlPlane.write('upstream.yaml', echoUpstream((backend.address() as AddressInfo).port));
    writeAll('v1');
  });
  afterEach(async () => {
    for (const link of links) link.close();
    for (const each of [...proxies, controlPlane]) await each.close();
    backend.closeAllConnections();
    backend.close();
  });

  const writeAll = (version: string): void => controlPlane.write('services.yaml', services(SERVICES, version));

  async function connectProxy(port: number, ...flags: string[]): Promise<GatewayProcess> {
    const proxy = new GatewayProcess();
    proxies.push(proxy);
    return startProxy(proxy, [port], ...flags);
  }

  async function link(): Promise<Link> {
    const { xdsPort } = controlPlane.ready;
    const made = await new Link(() => xdsPort).start();
    links.push(made);
    return made;
  }

  /** Sends requests to a proxy until `fault` is over. */
  async function underTraffic(title: string, proxy: GatewayProcess, fault: () => Promise<void>): Promise<void> {
    await sendUntil(title, [forwarded(proxy, SERVICES)], fault);
  }

  it('loses no request when the control plane is killed during an update, and completes the update later', async () => {
    await startControlPlane(controlPlane);
    const { xdsPort } = controlPlane.ready;
    const slow = await link();
    const proxy = await connectProxy(slow.port);
    await underTraffic('control plane killed', proxy, async () => {
      slow.mode = 'slow';
      const applied = () => controlPlane.errors.split('configuration applied').length;
      const before = applied();
      writeAll('v2');
      await until(() => applied() > before, 'the change');
      controlPlane.child.kill('SIGKILL');
      await controlPlane.ended();
      await until(() => proxy.errors.includes('connection to control plane lost'), 'the loss');
      // All of the update, or nothing.
      const seen = new Set(await Promise.all(Array.from({ length: SERVICES }, (_, i) => versionOf(proxy, i))));
      expect([...seen]).to.have.length(1);
      slow.mode = 'open';
      await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
      await until(async () => (await versionOf(proxy, 199)) === '200 v2', 'the update');
      await until(async () => (await proxiesOf(controlPlane))[0]?.current, 'acknowledged');
    });
  });

  it('keeps serving when the network is cut, slow or half-open, and receives updates when it is back', async () => {
    await startControlPlane(controlPlane);
    const made = await link();
    const proxy = await connectProxy(made.port);
    await underTraffic('network cut', proxy, async () => {
      made.cut();
      writeAll('cut');
      await until(() => proxy.errors.includes('connection to control plane lost'), 'the loss');
      expect(await versionOf(proxy, 0)).to.equal('200 v1');
      made.mode = 'open';
      await until(async () => (await versionOf(proxy, 0)) === '200 cut', 'the change');
    });
    await underTraffic('network slow', proxy, async () => {
      made.mode = 'slow';
      writeAll('slow');
      await until(async () => (await versionOf(proxy, 0)) === '200 slow', 'the change');
      made.mode = 'open';
    });
    await underTraffic('network half-open', proxy, async () => {
      made.mode = 'silent';
      writeAll('silent');
      const losses = () => proxy.errors.split('connection to control plane lost').length;
      const before = losses();
      await until(() => losses() > before, 'the silence is noticed');
      made.mode = 'open';
      await until(async () => (await versionOf(proxy, 0)) === '200 silent', 'the change');
    });
  });

  it('serves the state of its file when it starts without a control plane', async () => {
    await startControlPlane(controlPlane);
    const { xdsPort } = controlPlane.ready;
    const file = join(controlPlane.dir, '.proxy.snapshot');
    const first = await connectProxy(xdsPort, '--snapshot-file', file);
    await until(async () => (await proxiesOf(controlPlane))[0]?.current, 'acknowledged');
    first.child.kill('SIGTERM');
    expect(await first.ended()).to.equal(0);
    controlPlane.child.kill('SIGKILL');
    await controlPlane.ended();
    const proxy = await connectProxy(xdsPort, '--snapshot-file', file);
    expect(await (await fetch(`${proxy.admin}/ready`)).text()).to.equal('LIVE\n');
    expect(proxy.errors).to.contain('serving the state of the snapshot file');
    await underTraffic('control plane away, data plane restarted', proxy, async () => {
      expect(await versionOf(proxy, 7)).to.equal('200 v1');
      const stats = await (await fetch(`${proxy.admin}/stats?filter=control_plane`)).text();
      expect(stats).to.contain('control_plane.connected_state: 0');
      await until(async () => {
        const age = await (await fetch(`${proxy.admin}/stats?filter=snapshot_age_seconds`)).text();
        return Number(/: (\d+)/.exec(age)![1]) > 0;
      }, 'an age');
      writeAll('v2');
      await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
      await until(async () => (await versionOf(proxy, 7)) === '200 v2', 'the update');
    });
  });

  it('rejects damaged snapshot files, and serves when a control plane responds', async () => {
    await startControlPlane(controlPlane);
    const { xdsPort } = controlPlane.ready;
    const file = join(controlPlane.dir, '.proxy.snapshot');
    const first = await connectProxy(xdsPort, '--snapshot-file', file);
    first.child.kill('SIGTERM');
    await first.ended();
    controlPlane.child.kill('SIGKILL');
    await controlPlane.ended();
    const good = readFileSync(file);
    const flipped = Buffer.from(good);
    flipped[Math.floor(good.length / 2)]! ^= 4;
    const newer = Buffer.from(good.toString('latin1').replace(/snapshot \d+ /, 'snapshot 99 '), 'latin1');
    expect(newer).to.not.deep.equal(good);
    let last: GatewayProcess | undefined;
    for (const [bytes, reason] of [
      [good.subarray(0, good.length - 100), 'is damaged'],
      [flipped, 'is damaged'],
      [newer, 'was written by a newer version of the gateway'],
    ] as const) {
      writeFileSync(file, bytes);
      last = await connectProxy(xdsPort, '--snapshot-file', file);
      await until(() => last!.errors.includes(reason), reason);
      expect((await fetch(`${last.admin}/ready`)).status).to.equal(503);
      if (bytes !== newer) await last.close();
    }
    await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
    await until(async () => (await fetch(`${last!.admin}/ready`)).status === 200, 'ready');
  });

  it('serves 900 of 1,000 objects of which 100 are invalid', async () => {
    const invalid = (i: number): boolean => i % 10 === 0;
    for (let i = 0; i < 1000; i++) {
      const text = service(i, 'v3');
      controlPlane.write(
        `many/${i}.yaml`,
        invalid(i) ? text.replace('directResponseAction', 'directRespnseAction') : text,
      );
    }
    controlPlane.write('services.yaml', '');
    await startControlPlane(controlPlane);
    const proxy = await connectProxy(controlPlane.ready.xdsPort);
    const results = await Promise.all(Array.from({ length: 1000 }, (_, i) => versionOf(proxy, i)));
    const wrong = results.filter((got, i) => (got === '200 v3') === invalid(i));
    console.log(
      `      10 % of 1,000 objects invalid: sent 1000, answered ${1000 - wrong.length}, wrong ${wrong.length}, lost 0`,
    );
    expect(wrong).to.deep.equal([]);
    expect((await proxiesOf(controlPlane))[0]).to.not.have.property('nack');
  });

  it('loses nothing of the other proxy, and finishes its own requests, when one of two gets SIGTERM', async () => {
    await startControlPlane(controlPlane);
    const [one, two] = [await connectProxy(controlPlane.ready.xdsPort), await connectProxy(controlPlane.ready.xdsPort)];
    await until(async () => (await proxiesOf(controlPlane)).length === 2, 'two proxies');
    await underTraffic('SIGTERM of one of two proxies', two, async () => {
      one.child.kill('SIGTERM');
      expect(await one.ended()).to.equal(0);
      await until(async () => (await proxiesOf(controlPlane)).length === 1, 'one proxy');
      writeAll('v2');
      await until(async () => (await versionOf(two, 3)) === '200 v2', 'a change');
    });
  });
});
