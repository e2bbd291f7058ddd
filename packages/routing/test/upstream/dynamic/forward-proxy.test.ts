import { expect } from 'chai';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { request } from 'node:http';
import { connect } from 'node:net';
import { mock } from 'node:test';
import {
  claimOwnPort,
  createContext,
  type Context,
  type Destination,
  type DynamicDestination,
} from '@edge-gateway/core';
import { createRouter, type Router } from '../../../src/router.ts';
import { Deadlines } from '../../../src/upstream/deadlines.ts';
import { createLookup } from '../../../src/upstream/dns/lookup.ts';
import { createWatchedNames } from '../../../src/upstream/dns/watched-names.ts';
import {
  ForwardProxy,
  type ChosenHost,
  type ForwardProxyOptions,
} from '../../../src/upstream/dynamic/forward-proxy.ts';
import { closeAll, listen, until, whenDone } from '../../forward/harness.ts';
import { echo, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll } from '../../snapshots.ts';
import { certificates, certificatePath, secretsOf } from '../certificates.ts';
import { dnsServer, type DnsServer, type Zone } from '../dns/dns-server.ts';

const LOOPBACK = { allowedAddresses: ['127.0.0.1/32'] };

interface Setup {
  readonly router: Router;
  readonly dns: DnsServer;
  readonly context: Context;
  /** Sends a request that names its host in `x-host`, or for a fixed host without it. */
  ask(host?: string): Promise<{ status: number; body: string }>;
  readonly port: number;
}

interface SetupOptions {
  readonly zones?: Record<string, Zone>;
  readonly options?: ForwardProxyOptions;
  readonly dynamic?: Partial<DynamicDestination>;
  /** False leaves out `dynamicForwardProxy` of the listener. */
  readonly enabled?: boolean;
}

async function setUp({ zones = {}, options = LOOPBACK, dynamic, enabled = true }: SetupOptions): Promise<Setup> {
  const dns = await dnsServer(zones);
  const [address, portValue] = dns.address.split(':');
  const caresDns = { resolvers: [{ socketAddress: { address, portValue: Number(portValue) } }] };
  const dnsCacheConfig = { dnsQueryTimeout: '0.3s', caresDns, ...options.dnsCacheConfig };
  const destination: Destination = {
    upstream: 'dynamic_forward_proxy',
    weight: 1,
    options: {},
    dynamic: { type: 'host', hostRewriteHeader: 'x-host', ...dynamic } as DynamicDestination,
  };
  const context = createContext({ secrets: secretsOf({}) });
  const router = createRouter({ context });
  const route = routeOf({
    action: { type: 'forward', destinations: [destination] },
    options: { upgrades: [{ websocket: {} }] },
  });
  const httpOptions = enabled ? { dynamicForwardProxy: { ...options, dnsCacheConfig } } : {};
  router.apply(snapshotOf([hostOf([route])], [], { httpOptions }));
  whenDone(() => router.close());
  const handler = router.listener(LISTENER);
  const { port, server } = await start((req, res) => handler(req, res, () => res.destroy()));
  server.on('upgrade', (req, socket, head) => handler.upgrade!(req, socket, head));
  const ask: Setup['ask'] = async (host) => {
    const req = request({
      port,
      host: '127.0.0.1',
      path: '/x',
      agent: false,
      headers: host === undefined ? {} : { 'x-host': host },
    });
    const [res] = await once(req.end(), 'response');
    let body = '';
    for await (const chunk of res) body += String(chunk);
    return { status: res.statusCode, body };
  };
  return { router, dns, context, ask, port };
}

/** A server that answers with the host it was asked for. */
async function origin(): Promise<number> {
  return (await start((req, res) => void res.end(`${req.headers.host} ${String(req.headers['x-forwarded-host'])}`)))
    .port;
}

describe('dynamicForwardProxy', () => {
  afterEach(closeAll);
  afterEach(stopAll);

  it('forwards to the host of a header, resolved once for many requests', async () => {
    const port = await origin();
    const { ask, dns } = await setUp({ zones: { 'a.test': { a: ['127.0.0.1'] } } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`a.test:${port}`)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`))).to.deep.equal(
      new Set([`200 a.test:${port} undefined`]),
    );
    expect(dns.asked('a.test')).to.equal(1);
  });

  it('accepts durations that are longer than a timer can be set', async () => {
    const port = await origin();
    const dnsCacheConfig = { hostTtl: '9000h', dnsRefreshRate: '9000h', dnsQueryTimeout: '9000h' };
    const { ask, dns } = await setUp({
      zones: { 'a.test': { a: ['127.0.0.1'] } },
      options: { ...LOOPBACK, dnsCacheConfig },
    });
    for (let i = 0; i < 3; i++) expect((await ask(`a.test:${port}`)).status).to.equal(200);
    expect(dns.asked('a.test')).to.equal(1);
  });

  it('uses port 443 by default with sslConfig, and 80 without', async () => {
    const sslConfig = { sslFiles: { rootCa: certificatePath('ca.crt') } };
    const names = createWatchedNames(createLookup());
    const environment = { deadlines: new Deadlines(), names };
    const parts = { context: createContext(), environment, namespace: 'a' };
    for (const [options, port] of [
      [LOOPBACK, 80],
      [{ ...LOOPBACK, sslConfig }, 443],
    ] as const) {
      const proxy = new ForwardProxy(options, parts);
      whenDone(() => proxy.close());
      const chosen = await new Promise<ChosenHost>((resolve) => proxy.choose('127.0.0.1', resolve));
      expect('cluster' in chosen && chosen.cluster.hosts.all.map((host) => host.port)).to.deep.equal([port]);
    }
  });

  it('forwards to a fixed host with hostRewrite', async () => {
    const port = await origin();
    const zones = { 'fixed.test': { a: ['127.0.0.1'] } };
    const dynamic = { hostRewrite: `fixed.test:${port}`, hostRewriteHeader: undefined };
    const { ask } = await setUp({ zones, dynamic });
    expect(await ask('other.test')).to.deep.equal({ status: 200, body: `fixed.test:${port} undefined` });
  });

  const refused: Record<string, [Zone | undefined, (port: number) => string]> = {
    'a name of a loopback address': [{ a: ['127.0.0.2'] }, (port) => `a.test:${port}`],
    'a name of a private address': [{ a: ['10.0.0.1', '192.168.0.1'] }, () => 'a.test'],
    'a name of a link-local address': [{ a: ['169.254.169.254'] }, () => 'a.test'],
    'a name of a private IPv6 address': [{ aaaa: ['fd00::1', 'fe80::1'] }, () => 'a.test'],
    'a name of an IPv4-mapped address': [{ aaaa: ['::ffff:127.0.0.2'] }, () => 'a.test'],
    'a literal address': [undefined, (port) => `127.0.0.2:${port}`],
    'an address in decimal': [undefined, (port) => `2130706434:${port}`],
    'an address in hex': [undefined, (port) => `0x7f.2:${port}`],
    'an IPv6 address': [undefined, (port) => `[::1]:${port}`],
    'an IPv4-mapped address': [undefined, (port) => `[::ffff:7f00:2]:${port}`],
    'a name of the machine': [undefined, () => 'localhost:1'],
  };
  for (const [name, [zone, hostFor]] of Object.entries(refused)) {
    it(`responds with 403 to ${name} that is not allowed, and never connects`, async () => {
      const port = await origin();
      const options = name === 'a name of the machine' ? {} : LOOPBACK;
      const { ask, context } = await setUp({ zones: zone ? { 'a.test': zone } : {}, options });
      expect((await ask(hostFor(port))).status).to.equal(403);
      const created = context.metrics.list().find((each) => each.name.path.endsWith('upstream_cx_total'));
      expect(created === undefined || (created.type !== 'histogram' && created.stat.value === 0)).to.equal(true);
    });
  }

  it('uses only the allowed ones of several addresses', async () => {
    const port = await origin();
    const { ask } = await setUp({ zones: { 'a.test': { a: ['10.0.0.1', '127.0.0.1', '169.254.1.1'] } } });
    for (let i = 0; i < 5; i++) expect((await ask(`a.test:${port}`)).status).to.equal(200);
  });

  it('connects to the address that was checked, whatever the name resolves to afterwards', async () => {
    const port = await origin();
    const zone = { a: ['127.0.0.1'], ttl: 0 };
    const { ask, dns } = await setUp({ zones: { 'a.test': zone } });
    expect((await ask(`a.test:${port}`)).status).to.equal(200);
    dns.zones.set('a.test', { a: ['127.0.0.2'], ttl: 0 });
    for (let i = 0; i < 10; i++) expect((await ask(`a.test:${port}`)).status).to.equal(200);
    expect(dns.asked('a.test')).to.equal(1);
  });

  it('checks refreshed addresses again: a name that moves to a forbidden address is rejected', async () => {
    const port = await origin();
    const options = { ...LOOPBACK, dnsCacheConfig: { dnsRefreshRate: '0.02s' } };
    const { ask, dns } = await setUp({ zones: { 'a.test': { a: ['127.0.0.1'], ttl: 0 } }, options });
    expect((await ask(`a.test:${port}`)).status).to.equal(200);
    dns.zones.set('a.test', { a: ['127.0.0.2'], ttl: 0 });
    const before = dns.asked('a.test');
    await until(() => dns.asked('a.test') >= before + 2);
    expect((await ask(`a.test:${port}`)).status).to.equal(403);
    dns.zones.set('a.test', { a: ['127.0.0.1'], ttl: 0 });
    const later = dns.asked('a.test');
    await until(() => dns.asked('a.test') >= later + 2);
    expect((await ask(`a.test:${port}`)).status).to.equal(200);
  });

  it('never connects to its own listener', async () => {
    const options = { allowedAddresses: ['0.0.0.0/0', '::/0'] };
    const { ask } = await setUp({ options });
    // The listener of the snapshot has port 8080.
    for (const host of ['127.0.0.1:8080', '[::1]:8080', 'localhost:8080', '0.0.0.0:8080'])
      expect((await ask(host)).status).to.equal(403);
  });

  it('never connects to an own port, also if it opens after the first request', async () => {
    const port = await origin();
    const { ask } = await setUp({ zones: { 'a.test': { a: ['127.0.0.1'] } } });
    const statuses = async () =>
      Promise.all([`127.0.0.1:${port}`, `a.test:${port}`].map(async (host) => (await ask(host)).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    const release = claimOwnPort(port);
    whenDone(release);
    expect(await statuses()).to.deep.equal([403, 403]);
    release();
    expect(await statuses()).to.deep.equal([200, 200]);
  });

  const failing: Record<string, Zone> = {
    'a name that does not exist': { fails: 'NXDOMAIN' },
    'a name without addresses': { fails: 'empty' },
    'a server that fails': { fails: 'SERVFAIL' },
    'a server that does not answer': { fails: 'silent' },
  };
  for (const [name, zone] of Object.entries(failing)) {
    it(`responds with 503 for ${name}, while other hosts work`, async () => {
      const port = await origin();
      const { ask } = await setUp({ zones: { 'bad.test': zone, 'a.test': { a: ['127.0.0.1'] } } });
      const [bad, good] = await Promise.all([ask(`bad.test:${port}`), ask(`a.test:${port}`)]);
      expect([bad.status, good.status]).to.deep.equal([503, 200]);
      expect(bad.body).to.contain('cannot be resolved');
    });
  }

  for (const host of ['a b', 'a/b', 'user@a.test', 'a.test:99999', 'http://a.test', '[::1', '*']) {
    it(`responds with 400 to the host '${host}'`, async () => {
      const { ask } = await setUp({});
      expect((await ask(host)).status).to.equal(400);
    });
  }

  it('responds with 503 to more hosts or waiting requests than allowed', async () => {
    const port = await origin();
    const zones: Record<string, Zone> = { 'slow.test': { fails: 'silent' } };
    for (let i = 0; i < 5; i++) zones[`h${i}.test`] = { a: ['127.0.0.1'] };
    const hosts = await setUp({ zones, options: { ...LOOPBACK, dnsCacheConfig: { maxHosts: 3 } } });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await hosts.ask(`h${i}.test:${port}`)).status);
    expect(statuses).to.deep.equal([200, 200, 200, 503, 503]);
    const dnsCacheConfig = { dnsCacheCircuitBreaker: { maxPendingRequests: 2 } };
    const waiting = await setUp({ zones, options: { ...LOOPBACK, dnsCacheConfig } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => waiting.ask(`slow.test:${port}`)));
    const overflows = answers.filter(({ body }) => body.includes('too many'));
    expect([answers.map(({ status }) => status), overflows.length]).to.deep.equal([[503, 503, 503, 503, 503], 3]);
  });

  it('has room for hosts that exist, after requests for many that do not', async () => {
    const port = await origin();
    const options = { ...LOOPBACK, dnsCacheConfig: { maxHosts: 3 } };
    const { ask } = await setUp({ zones: { 'a.test': { a: ['127.0.0.1'] }, 'b.test': { a: ['127.0.0.1'] } }, options });
    expect((await ask(`a.test:${port}`)).status).to.equal(200);
    for (let i = 0; i < 5; i++) expect((await ask(`10.0.0.${i}`)).status).to.equal(403);
    expect((await ask(`b.test:${port}`)).status).to.equal(200);
    expect((await ask(`a.test:${port}`)).status).to.equal(200);
  });

  it('forgets hosts that are not used for hostTtl, and looks them up again', async () => {
    const port = await origin();
    const options = { ...LOOPBACK, dnsCacheConfig: { hostTtl: '0.05s', maxHosts: 1 } };
    const zones = { 'a.test': { a: ['127.0.0.1'] }, 'b.test': { a: ['127.0.0.1'] } };
    const { ask, dns } = await setUp({ zones, options });
    expect((await ask(`a.test:${port}`)).status).to.equal(200);
    let status = 503;
    const started = Date.now();
    while (status === 503 && Date.now() - started < 10_000) ({ status } = await ask(`b.test:${port}`));
    expect([status, dns.asked('b.test')]).to.deep.equal([200, 1]);
  });

  describe('after hostTtl', () => {
    let nowMs: number;
    const TTL_MS = 10_000;
    beforeEach(() => {
      nowMs = 100_000;
      mock.timers.enable({ apis: ['setInterval'] });
      mock.method(performance, 'now', () => nowMs);
    });
    afterEach(() => {
      mock.timers.reset();
      mock.restoreAll();
    });

    function proxyOf(options: ForwardProxyOptions): ForwardProxy {
      const environment = { deadlines: new Deadlines(), names: createWatchedNames(createLookup()) };
      const proxy = new ForwardProxy(options, { context: createContext(), environment, namespace: 'a' });
      whenDone(() => proxy.close());
      return proxy;
    }

    /** The cluster of a host. */
    const clusterOf = (proxy: ForwardProxy, authority: string): Promise<unknown> =>
      new Promise((resolve) => proxy.choose(authority, (chosen) => resolve('cluster' in chosen && chosen.cluster)));

    it('forgets only hosts that were not used in that time', async () => {
      const proxy = proxyOf({ allowedAddresses: ['127.0.0.0/8'], dnsCacheConfig: { hostTtl: '10s' } });
      const used = await clusterOf(proxy, '127.0.0.1:81');
      const unused = await clusterOf(proxy, '127.0.0.2:81');
      nowMs += TTL_MS - 1;
      mock.timers.tick(TTL_MS);
      expect(await clusterOf(proxy, '127.0.0.1:81')).to.equal(used);
      nowMs += 2;
      mock.timers.tick(TTL_MS);
      expect(await clusterOf(proxy, '127.0.0.1:81')).to.equal(used);
      expect(await clusterOf(proxy, '127.0.0.2:81')).not.to.equal(unused);
    });

    it('keeps a host for which requests wait', async () => {
      const silent = createSocket('udp4').bind(0, '127.0.0.1');
      await once(silent, 'listening');
      whenDone(() => silent.close());
      const caresDns = { resolvers: [{ socketAddress: { address: '127.0.0.1', portValue: silent.address().port } }] };
      const dnsCacheConfig = { hostTtl: '10s', dnsQueryTimeout: '9000h', caresDns };
      const proxy = proxyOf({ ...LOOPBACK, dnsCacheConfig });
      const chosen: ChosenHost[] = [];
      proxy.choose('a.test:81', (each) => void chosen.push(each));
      nowMs += 2 * TTL_MS;
      mock.timers.tick(TTL_MS);
      expect(chosen).to.deep.equal([]);
      await proxy.close();
      expect(chosen).to.have.length(1);
    });
  });

  it('resolves hosts at startup with preresolveHostnames', async () => {
    const options = { ...LOOPBACK, dnsCacheConfig: { preresolveHostnames: [{ address: 'a.test', portValue: 81 }] } };
    const { dns } = await setUp({ zones: { 'a.test': { a: ['127.0.0.1'] } }, options });
    await until(() => dns.asked('a.test') === 1);
  });

  it('looks up only the families of dnsLookupFamily', async () => {
    const port = await origin();
    for (const [dnsLookupFamily, types] of [
      ['V4_ONLY', ['A']],
      ['V6_ONLY', ['AAAA']],
      ['ALL', ['A', 'AAAA']],
    ] as const) {
      const { ask, dns } = await setUp({
        zones: { 'a.test': { a: ['127.0.0.1'] } },
        options: { ...LOOPBACK, dnsCacheConfig: { dnsLookupFamily } },
      });
      expect((await ask(`a.test:${port}`)).status).to.equal(dnsLookupFamily === 'V6_ONLY' ? 503 : 200);
      expect(dns.questions.map((each) => each.split(' ')[0]).sort()).to.deep.equal(types);
    }
  });

  it('uses TLS with sslConfig, and verifies the name that the request chose', async () => {
    const secure = createServer(certificates().server, (req, res) => void res.end(`safe ${req.headers.host}`));
    const port = await listen(secure);
    whenDone(() => {
      secure.closeAllConnections();
      secure.close();
    });
    const zones = { 'api.example.com': { a: ['127.0.0.1'] }, 'evil.test': { a: ['127.0.0.1'] } };
    const sslConfig = { sslFiles: { rootCa: certificatePath('ca.crt') } };
    const { ask } = await setUp({ zones, options: { ...LOOPBACK, sslConfig } });
    expect((await ask(`api.example.com:${port}`)).body).to.equal(`safe api.example.com:${port}`);
    expect((await ask(`evil.test:${port}`)).status).to.equal(503);
  });

  it('forwards WebSockets', async () => {
    const upstream = await start(echo);
    upstream.server.on('upgrade', (_req, socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nhello',
      );
      socket.end();
    });
    const { port } = await setUp({ zones: { 'a.test': { a: ['127.0.0.1'] } } });
    const client = connect(port, '127.0.0.1');
    const lines = [
      'GET / HTTP/1.1',
      'host: gateway',
      `x-host: a.test:${upstream.port}`,
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    client.write(`${lines.join('\r\n')}\r\n\r\n`);
    let text = '';
    for await (const chunk of client) text += String(chunk);
    expect(text)
      .to.match(/^HTTP\/1.1 101 /)
      .and.to.contain('hello');
  });

  it('responds with 503 if the listener has no dynamicForwardProxy', async () => {
    const { ask } = await setUp({ enabled: false });
    expect((await ask('a.test')).status).to.equal(503);
  });
});
