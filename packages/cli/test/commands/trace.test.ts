import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, loadSource, memorySource, silentLoggers, type RequestRecording } from '@edge-gateway/core';
import { rbacConcern } from '@edge-gateway/rbac';
import { createRecordings, createRouter, type Router } from '@edge-gateway/routing';
import { expect } from 'chai';
import { createProxyAdmin, type AdminServer } from '../../../admin/src/index.ts';
import { answer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';

const resources = (port: number) => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: cart }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: away }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: [shop.example]
    options: { cors: { allowOrigin: [https://a.example] } }
    routes:
      - name: away
        matchers: [{ prefix: /away }]
        routeAction: { single: { upstream: { name: away } } }
        options: { retries: { retryOn: connect-failure, numRetries: 1 } }
      - name: admin
        matchers: [{ prefix: /admin }]
        routeAction: { single: { upstream: { name: cart } } }
        options: { rbac: { policies: { admins: { principals: [{ jwtPrincipal: { claims: { role: admin } } }] } } } }
      - name: cart
        matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: cart } } }
`;

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const close = async (server: Server): Promise<void> => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
};

describe('trace', () => {
  const received: IncomingMessage[] = [];
  let backend: Server;
  let front: Server;
  let router: Router;
  let admin: AdminServer;
  let port: number;
  let adminUrl: string;

  before(async () => {
    backend = createServer((req, res) => {
      received.push(req);
      req.resume().once('end', () => res.writeHead(201).end('created'));
    });
    const source = memorySource({ shop: resources(await listen(backend)) });
    const { snapshots } = await loadSource(source);
    const snapshot = [...snapshots.values()][0]!;
    const context = createContext({ log: silentLoggers });
    const recordings = createRecordings();
    router = createRouter({ concerns: [rbacConcern], context, recordings });
    router.apply(snapshot);
    const listener = router.listener(snapshot.listeners[0]!.name);
    front = createServer((req, res) => listener(req, res, () => res.writeHead(404).end()));
    port = await listen(front);
    admin = createProxyAdmin({
      context,
      snapshot: () => snapshot,
      lastUpdated: () => new Date(),
      listeners: () => [{ name: snapshot.listeners[0]!.name, address: '127.0.0.1', port }],
      readiness: () => 'LIVE',
      info: { version: '0.0.0', startedAt: 0, commandLineOptions: {} },
      recordings,
    });
    adminUrl = `http://127.0.0.1:${(await admin.listen(0)).port}`;
  });
  after(async () => {
    await Promise.all([admin.close(), close(front), close(backend)]);
    await router.close();
  });
  beforeEach(() => received.splice(0));
  const trace = (...argv: string[]) => call(['trace', ...argv, '--proxy-admin', adminUrl]);
  const recordingOf = async (...argv: string[]): Promise<RequestRecording> => {
    const { code, stdout, stderr } = await trace(...argv, '-o', 'json');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout) as RequestRecording;
  };

  it('prints each step of a request with its time', async () => {
    const { code, stdout, stderr } = await trace(
      'GET',
      'http://shop.example/cart?x=1',
      '--connect',
      `127.0.0.1:${port}`,
    );
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const times = stdout.replaceAll(/\d+(?:\.\d)? ms/g, 'N ms').replaceAll(String(port), 'PORT');
    expect(times).to.match(/^GET shop\.example\/cart\?x=1: 201 in N ms\n\nListener {6}listener-::-8080\n/);
    expect(times).to.match(/^Virtual host {2}gw-system\.shop$/m);
    expect(times).to.match(/^Route {9}gw-system\.shop-route-2-cart-matcher-0$/m);
    expect(times).to.match(/^Upstream {6}cart_gw-system$/m);
    expect(times).to.match(/\| attempt 1 +\| N ms +\| N ms +\| 127\.0\.0\.1:\d+: 201 +\|/);
    expect(times).to.match(/\| response +\| N ms +\| +\| 201 \(via_upstream\) +\|/);
  });

  it('sends method, headers and body, and removes the token', async () => {
    const { steps, status, method } = await recordingOf(
      'POST',
      'http://shop.example/',
      '-H',
      'x-a: b',
      '--data',
      'text',
    );
    expect({ method, status }).to.deep.equal({ method: 'POST', status: 201 });
    expect(steps.map(({ name }) => name)).to.include('attempt 1');
    const [request] = received;
    expect(request!.method).to.equal('POST');
    expect(request!.headers).to.include({ 'x-a': 'b' }).and.to.not.have.property('x-gateway-trace');
  });

  it('sends the host of a header instead of that of the URL', async () => {
    const url = `http://127.0.0.1:${port}/cart`;
    const { host, status } = await recordingOf('GET', url, '-H', 'Host: shop.example');
    expect({ host, status }).to.deep.equal({ host: 'shop.example', status: 201 });
  });

  it('sends a repeated header', async () => {
    await recordingOf('GET', 'http://shop.example/', '-H', 'x-a: b', '-H', 'x-a: c');
    expect(received[0]!.headersDistinct['x-a']).to.deep.equal(['b', 'c']);
  });

  it('shows the stage that rejects a request', async () => {
    const { steps, status, upstream, route } = await recordingOf('GET', 'http://shop.example/admin');
    expect({ status, route }).to.deep.equal({ status: 403, route: 'gw-system.shop-route-1-admin-matcher-0' });
    expect(upstream).to.equal('cart_gw-system');
    expect(steps.at(-1)!.name).to.match(/rbac/i);
    expect(received).to.deep.equal([]);
  });

  it('shows each attempt and why it failed', async () => {
    const { steps, status, flags } = await recordingOf('GET', 'http://shop.example/away');
    expect(status).to.equal(503);
    expect(flags).to.match(/UF/);
    const attempts = steps.filter(({ name }) => name.startsWith('attempt'));
    expect(attempts.map(({ name, result }) => `${name} ${result}`)).to.deep.equal([
      'attempt 1 127.0.0.1:1: UF',
      'attempt 2 127.0.0.1:1: UF',
    ]);
  });

  it('shows a request that no route matches, and hides secrets in the path', async () => {
    const { virtualHost, route, status, path } = await recordingOf('GET', 'http://other.example/x?access_token=hush');
    expect({ virtualHost, route, status }).to.deep.equal({ virtualHost: '', route: '', status: 404 });
    expect(path).to.not.contain('hush');
  });

  it('records only the request with the token, once', async () => {
    const { token } = (await (await fetch(`${adminUrl}/trace`, { method: 'POST' })).json()) as { token: string };
    const state = async () => (await fetch(`${adminUrl}/trace?token=${token}`)).text();
    const send = async (value: string) =>
      (await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-gateway-trace': value } })).text();
    await send('0'.repeat(32));
    expect(JSON.parse(await state())).to.deep.equal({ state: 'pending' });
    await send(token);
    await send(token);
    expect(JSON.parse(await state())).to.have.nested.property('recording.path', '/');
    expect(await state()).to.equal('error: the token is unknown or has expired\n');
  });

  it('needs POST for a token, and limits their number', async () => {
    expect((await fetch(`${adminUrl}/trace`)).status).to.equal(405);
    const statuses: number[] = [];
    const tokens: string[] = [];
    for (let i = 0; i < 17; i++) {
      const response = await fetch(`${adminUrl}/trace`, { method: 'POST' });
      statuses.push(response.status);
      if (response.ok) tokens.push(((await response.json()) as { token: string }).token);
    }
    expect(statuses.filter((status) => status === 200).length).to.be.within(15, 16);
    expect(statuses.at(-1)).to.equal(503);
    for (const token of tokens) {
      await (await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-gateway-trace': token } })).text();
      await (await fetch(`${adminUrl}/trace?token=${token}`)).text();
    }
    expect((await fetch(`${adminUrl}/trace`, { method: 'POST' })).status).to.equal(200);
  });

  it('forgets tokens after a minute', () => {
    let now = 0;
    const recordings = createRecordings({ now: () => now });
    const token = recordings.create()!;
    expect(recordings.isArmed).to.equal(true);
    now = 59_999;
    expect(recordings.take(token)).to.equal('pending');
    now = 60_000;
    const headers = ['x-gateway-trace', token];
    expect(recordings.begin(headers)).to.equal(undefined);
    expect(headers).to.deep.equal([]);
    expect(recordings.take(token)).to.equal(undefined);
    expect(recordings.isArmed).to.equal(false);
  });

  for (const [argv, code, message] of [
    [['GET'], 2, "missing required argument 'url'"],
    [['GET', '/cart'], 2, "invalid URL '/cart'"],
    [['GET', '*'], 2, 'the URL must have a host'],
    [['GET', 'http://a/', '-H', 'host: a', '-H', 'Host: b'], 2, 'the header host must not be repeated'],
    [['G T', 'http://a/'], 2, "invalid method 'G T'"],
    [['GET', 'http://a/', '-H', 'x'], 2, "invalid header 'x'"],
    [['GET', 'http://a/', '--connect', 'a'], 2, "--connect must be host:port, not 'a'"],
    [['GET', 'http://a/', '--timeout', '0'], 2, "--timeout must be a number of seconds above 0, not '0'"],
    [['GET', 'http://a:9/'], 1, 'named port 9 not found'],
    [['GET', 'http://a/', '--connect', '127.0.0.1:1'], 1, 'the request to 127.0.0.1:1 failed: ECONNREFUSED'],
  ] as const)
    it(`rejects ${argv.join(' ')}`, async () => {
      const outcome = await trace(...argv);
      expect(outcome).to.include({ code, stdout: '' });
      expect(outcome.stderr).to.contain(`Error: ${message}`);
    });

  it('says that a proxy records no requests', async () => {
    const other = await answer({});
    const argv = ['trace', 'GET', 'http://a/', '--connect', '127.0.0.1:1', '--proxy-admin', other.url];
    expect((await call(argv)).stderr).to.equal('Error: the proxy records no requests: it is older than this command\n');
    await other.close();
  });
});
