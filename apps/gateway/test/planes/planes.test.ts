import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { GatewayProcess, until } from '../gateway-process.ts';
import { direct, forwarding, gatewayOn, upstream } from '../workers/resources.ts';
import { proxiesOf, startControlPlane, startProxy } from './planes.ts';

describe('control plane and proxies as processes', () => {
  let controlPlane: GatewayProcess;
  let proxies: GatewayProcess[];
  beforeEach(() => {
    controlPlane = new GatewayProcess();
    proxies = [];
  });
  afterEach(async () => {
    for (const each of [...proxies, controlPlane]) await each.close();
  });
  async function connect(...flags: string[]): Promise<GatewayProcess> {
    const proxy = new GatewayProcess();
    proxies.push(proxy);
    return startProxy(proxy, [controlPlane.ready.xdsPort], ...flags);
  }
  const bodyOf = async (proxy: GatewayProcess) => (await fetch(proxy.url)).text();

  it('ignore a snapshot file whose state cannot be built', async () => {
    const listener = {
      name: 'l',
      bindAddress: '127.0.0.1',
      bindPort: 1,
      gateway: { name: 'g', namespace: 'gw-system' },
      ssl: false,
      sslConfigurations: [],
      options: {},
      httpOptions: {},
      routeOptions: {},
      // Contains itself.
      parts: [
        { name: 'p', match: { tls: false, serverNames: [], sourceRanges: [], passthroughCiphers: [] }, http: 'l' },
      ],
    };
    const snapshot = { proxy: 'gateway-proxy', version: '1', listeners: ['l'], unserved: [], versions: {} };
    const resources = Object.entries({ Listener: listener, Snapshot: snapshot }).map(([type, body]) => [
      `type.googleapis.com/edge_gateway.config.v1.${type}`,
      type === 'Listener' ? 'l' : 'gateway-proxy',
      'a1',
      JSON.stringify(body),
    ]);
    const text = `${JSON.stringify({ acceptedAt: 1, resources })}\n`;
    const dir = mkdtempSync(join(tmpdir(), 'snapshot-'));
    try {
      const file = join(dir, 'file');
      writeFileSync(file, `edge-gateway snapshot 2 ${hash('sha256', text, 'hex')}\n${text}`);
      controlPlane.write('a.yaml', direct('one'));
      await startControlPlane(controlPlane);
      expect(await bodyOf(await connect('--snapshot-file', file))).to.equal('one');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('serve the resources of the control plane, follow changes, and show the state', async () => {
    controlPlane.write('a.yaml', direct('one'));
    await startControlPlane(controlPlane);
    const proxy = await connect();
    expect(await bodyOf(proxy)).to.equal('one');
    expect(await (await fetch(`${proxy.admin}/ready`)).text()).to.equal('LIVE\n');
    await until(async () => (await proxiesOf(controlPlane))[0]?.current, 'the proxy is current');
    const [status] = await proxiesOf(controlPlane);
    controlPlane.write('a.yaml', direct('two'));
    await until(async () => (await bodyOf(proxy)) === 'two', 'the change is served');
    await until(async () => (await proxiesOf(controlPlane))[0]!.version !== status!.version, 'another version');
    const dump = await (await fetch(`${proxy.admin}/config_dump`)).text();
    expect(dump).to.contain('"two"');
    const snapshots = await (await fetch(`${controlPlane.stats}/snapshots/xds`)).text();
    expect(snapshots).to.contain('"two"').and.to.contain('gw-system~gateway-proxy');
    const stats = await (await fetch(`${proxy.admin}/stats?filter=control_plane|update_`)).text();
    expect(stats).to.contain('control_plane.connected_state: 1');
    expect(stats).to.contain('listener_manager.lds.update_success: 1\n');
    expect(stats).to.contain('xds.virtual_host.update_success: 2\n');
    expect(stats).to.contain('cluster_manager.cds.update_rejected: 0\n');
  });

  it('forward requests with two workers', async () => {
    const { createServer } = await import('node:http');
    const backend = createServer((_req, res) => res.end('from the backend')).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    controlPlane.write('a.yaml', forwarding() + '---' + upstream((backend.address() as { port: number }).port));
    await startControlPlane(controlPlane);
    const proxy = await connect('--workers', '2');
    expect(await bodyOf(proxy)).to.equal('from the backend');
    await until(async () => (await proxiesOf(controlPlane))[0]?.current, 'the proxy is current');
    controlPlane.write('a.yaml', direct('two'));
    await until(async () => (await bodyOf(proxy)) === 'two', 'the change is served');
    backend.close();
  });

  it('serve the listeners of their own name only, on the address of the flag', async () => {
    controlPlane.write('a.yaml', direct('one'));
    controlPlane.write(
      'g.yaml',
      `${gatewayOn('public', 0)}---${gatewayOn('internal', 0)}`.replace(
        /bindPort: 0, httpGateway: {} }\n$/,
        'bindPort: 0, proxyNames: [other], httpGateway: {} }\n',
      ),
    );
    await startControlPlane(controlPlane);
    const proxy = await connect('--proxy-name', 'other');
    expect(proxy.ready.listeners.map(({ name }) => name)).to.deep.equal(['listener-::-0-internal']);
    expect(proxy.ready.listeners[0]).to.include({ address: '127.0.0.1' });
    expect(proxy.url).to.match(/^http/);
    expect((await proxiesOf(controlPlane))[0]).to.include({ proxy: 'other' });
  });

  it('keep serving while the control plane is unavailable, and receive updates when it is back', async () => {
    controlPlane.write('a.yaml', direct('one'));
    await startControlPlane(controlPlane);
    const proxy = await connect();
    const { xdsPort } = controlPlane.ready;
    controlPlane.child.kill('SIGKILL');
    await controlPlane.ended();
    await until(() => proxy.errors.includes('connection to control plane lost'), 'the loss');
    expect(await bodyOf(proxy)).to.equal('one');
    expect(await (await fetch(`${proxy.admin}/ready`)).text()).to.equal('LIVE\n');
    expect(await (await fetch(`${proxy.admin}/stats?filter=connected_state`)).text()).to.contain(': 0');
    controlPlane.write('a.yaml', direct('two'));
    await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
    await until(async () => (await bodyOf(proxy)) === 'two', 'the new state');
  });

  it('start without a control plane, and become ready when one responds', async () => {
    controlPlane.write('a.yaml', direct('one'));
    await startControlPlane(controlPlane);
    const { xdsPort } = controlPlane.ready;
    controlPlane.child.kill('SIGKILL');
    await controlPlane.ended();
    const proxy = await connect();
    expect(proxy.ready.listeners).to.deep.equal([]);
    expect((await fetch(`${proxy.admin}/ready`)).status).to.equal(503);
    await until(() => proxy.errors.includes('no state to serve, waiting for a control plane'), 'the warning');
    await startControlPlane(controlPlane, '--xds-port', String(xdsPort));
    await until(async () => (await fetch(`${proxy.admin}/ready`)).status === 200, 'ready');
    await until(() => /"msg":"ready"/.test(proxy.errors), 'the log entry');
    expect(proxy.errors).to.match(/"msg":"started, but not ready"[^]*"listeners":\[\{[^]*"msg":"ready"/);
  });

  for (const workers of ['1', '2'])
    it(`report a listener that cannot open, until it is open, with --workers ${workers}`, async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      controlPlane.write('a.yaml', direct('one'));
      await startControlPlane(controlPlane, '--http-port', String(port));
      const proxy = await connect('--workers', workers);
      const nack = async () => (await proxiesOf(controlPlane))[0]?.nack;
      const found = await until(nack, 'the rejection');
      expect(found).to.deep.include({ field: '' });
      expect(found!.resource).to.match(new RegExp(`^listener-::-${port}`));
      expect(found!.message).to.match(new RegExp(`^not open: .*${port}`));
      expect(proxy.errors).to.contain('started, but not ready');
      taken.close();
      await once(taken, 'close');
      await until(async () => (await proxiesOf(controlPlane))[0]!.current, 'the proxy is current');
      expect(await nack()).to.equal(undefined);
      expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).to.equal('one');
      await until(() => /"msg":"ready"/.test(proxy.errors), 'the log entry');
    });

  it('warn at the start of invalid resources without a last good version', async () => {
    controlPlane.write('a.yaml', direct('one'));
    controlPlane.write('b.yaml', direct('two').replace('name: direct', 'name: broken').replace('status', 'statsu'));
    controlPlane.write('c.yaml', 'kind: [');
    const dangling = forwarding('{}', 'dangling', "['dangling.example']");
    controlPlane.write('d.yaml', dangling);
    await startControlPlane(controlPlane);
    const warning = await until(
      () => /^.*no last good version of invalid resources and routes.*$/m.exec(controlPlane.errors),
      'it',
    );
    const { resources, files } = JSON.parse(warning![0]) as { resources: string[]; files: string[] };
    expect(resources).to.have.members(['VirtualService gw-system/broken', 'VirtualService gw-system/dangling']);
    expect(files).to.have.length(1);
    expect(files[0]).to.match(/c\.yaml$/);
  });

  it('warn of a port for proxies that is open to other machines in plain text', async () => {
    await startControlPlane(controlPlane, '--xds-address', '0.0.0.0');
    await until(() => controlPlane.errors.includes('secrets are not sent to other machines'), 'the warning');
  });

  it('report a snapshot file that cannot be written, and stop at SIGTERM nevertheless', async () => {
    controlPlane.write('a.yaml', direct('one'));
    await startControlPlane(controlPlane);
    const proxy = await connect('--snapshot-file', '/proc/missing/proxy.snapshot');
    await until(() => proxy.errors.includes('failed to write snapshot file'), 'the error');
    expect(await bodyOf(proxy)).to.equal('one');
    const stats = await (await fetch(`${proxy.admin}/stats?filter=write_failures`)).text();
    expect(stats).to.match(/control_plane\.snapshot_file_write_failures: [1-9]/);
    proxy.child.kill('SIGTERM');
    expect(await proxy.ended()).to.equal(0);
    expect(proxy.errors.match(/failed to write snapshot file/g)).to.have.length(1);
  });

  it('exit with 0 at SIGTERM', async () => {
    controlPlane.write('a.yaml', direct('one'));
    await startControlPlane(controlPlane);
    const proxy = await connect();
    for (const each of [proxy, controlPlane]) {
      each.child.kill('SIGTERM');
      expect(await each.ended()).to.equal(0);
    }
  });
});
