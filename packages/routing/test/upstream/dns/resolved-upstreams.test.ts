import { expect } from 'chai';
import { pbkdf2 } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { createContext, createLoggers, type SnapshotUpstream } from '@edge-gateway/core';
import { skip } from '../../../../../test/parts/skip.ts';
import { createLocalNames } from '../../../src/upstream/dns/local-names.ts';
import { createLookup } from '../../../src/upstream/dns/lookup.ts';
import { createUpstreams } from '../../../src/upstream/upstreams.ts';
import {
  closeAll,
  gateway,
  get,
  httpUpstream,
  snapshotOf,
  until,
  whenDone,
  type Gateway,
} from '../../forward/harness.ts';
import { certificates, secretsOf } from '../certificates.ts';
import { dnsServer, type DnsServer, type Zone } from './dns-server.ts';

const NO_FILES = createLocalNames({ hosts: '/nonexistent', resolver: '/nonexistent' });

/** The same server on several addresses of this machine, which answers with the address. */
async function serverOn(port: number, address: string, answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  server.listen(port, address);
  await once(server, 'listening');
  whenDone(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

async function serversOn(...addresses: string[]): Promise<number> {
  let port = 0;
  for (const address of addresses) port = await serverOn(port, address, (_req, res) => void res.end(address));
  return port;
}

interface Setup {
  readonly gw: Gateway;
  readonly dns: DnsServer;
}

async function resolvedGateway(zones: Record<string, Zone>, port: number, parts: Partial<SnapshotUpstream> = {}) {
  const dns = await dnsServer(zones);
  const lookup = createLookup({ servers: [dns.address], localNames: NO_FILES, timeoutMs: 300 });
  const endpoints = [{ address: 'api.test', port, weight: 1 }];
  const spec = { dnsRefreshRate: '0.02s', ...parts.spec };
  const upstream = snapshotOf(port, { endpoints, ...parts, spec });
  const context = parts.tls
    ? createContext({ secrets: secretsOf({ tls: { 'ca.crt': certificates().ca } }) })
    : undefined;
  const gw = await gateway({ upstream, lookup, ...(context && { context }) });
  return { gw, dns } satisfies Setup;
}

const hosts = ({ gw }: Setup): string[] =>
  gw.upstreams
    .get('echo_gw-system')!
    .hostStates.map(({ address }) => address)
    .sort();

describe('an upstream with a DNS name', () => {
  afterEach(closeAll);

  it('serves the first request, and then has a host for each address', async () => {
    const port = await serversOn('127.0.0.1', '127.0.0.2');
    const setup = await resolvedGateway({ 'api.test': { a: ['127.0.0.1', '127.0.0.2'] } }, port);
    expect((await get(setup.gw.url)).status).to.equal(200);
    await until(() => hosts(setup).length === 2);
    expect(hosts(setup)).to.deep.equal(['127.0.0.1', '127.0.0.2']);
    const bodies = new Set([(await get(setup.gw.url)).body, (await get(setup.gw.url)).body]);
    expect(bodies).to.deep.equal(new Set(['127.0.0.1', '127.0.0.2']));
    expect(setup.gw.stat('membership_total')).to.equal(2);
  });

  it('uses a changed address without a failed request', async () => {
    const port = await serversOn('127.0.0.1', '127.0.0.2');
    const setup = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'] } }, port);
    const counts: Record<string, number> = {};
    const ask = async (): Promise<void> => {
      const { status, body } = await get(setup.gw.url);
      const answer = `${status} ${body}`;
      counts[answer] = (counts[answer] ?? 0) + 1;
    };
    for (let i = 0; i < 50; i++) await ask();
    setup.dns.zones.set('api.test', { a: ['127.0.0.2'] });
    await until(() => hosts(setup).join() === '127.0.0.2');
    for (let i = 0; i < 50; i++) await ask();
    expect(counts).to.deep.equal({ '200 127.0.0.1': 50, '200 127.0.0.2': 50 });
  });

  for (const fails of ['NXDOMAIN', 'SERVFAIL', 'silent', 'empty'] as const) {
    it(`keeps its last addresses when lookups fail (${fails}), and follows new ones afterwards`, async () => {
      const port = await serversOn('127.0.0.1', '127.0.0.2');
      const setup = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'] } }, port);
      await until(() => hosts(setup).join() === '127.0.0.1');
      setup.dns.zones.set('api.test', { fails });
      await until(() => setup.gw.stat('update_failure') >= 2, 'two failures');
      const answers = await Promise.all(Array.from({ length: 20 }, () => get(setup.gw.url)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(20);
      setup.dns.zones.set('api.test', { a: ['127.0.0.2'] });
      await until(() => hosts(setup).join() === '127.0.0.2');
      expect((await get(setup.gw.url)).body).to.equal('127.0.0.2');
    });
  }

  it('responds with 503 while it was never resolved, or if the lookup takes too long', async () => {
    const missing = await resolvedGateway({}, 80);
    expect((await get(missing.gw.url)).status).to.equal(503);
    expect(missing.gw.outcomes[0]!.cause).to.contain('ENOTFOUND');
    const spec = { connectionConfig: { connectTimeout: '0.1s' } };
    const silent = await resolvedGateway({ 'api.test': { fails: 'silent' } }, 80, { spec });
    expect((await get(silent.gw.url)).status).to.equal(503);
    expect(silent.gw.outcomes[0]!.cause).to.contain('no connection after 100 ms');
  });

  it('logs the first failure of a name, and whether it has addresses', async () => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push((JSON.parse(line) as { msg: string }).msg);
    const dns = await dnsServer({});
    const upstreams = createUpstreams(
      createContext({ log: createLoggers({ destination: { write } }) }),
      createLookup({ servers: [dns.address], localNames: NO_FILES, timeoutMs: 300 }),
    );
    whenDone(() => upstreams.close());
    const endpoints = [{ address: 'api.test', port: 80, weight: 1 }];
    upstreams.apply([snapshotOf(80, { endpoints, spec: { dnsRefreshRate: '0.02s' } })]);
    await until(() => lines.length === 1);
    dns.zones.set('api.test', { a: ['127.0.0.1'] });
    await until(() => lines.length === 2);
    dns.zones.set('api.test', { fails: 'NXDOMAIN' });
    await until(() => lines.length === 3);
    expect(lines).to.deep.equal([
      'name cannot be resolved',
      'name resolved again',
      'name cannot be resolved, last addresses stay in use',
    ]);
  });

  it('backs off when lookups fail', async () => {
    const setup = await resolvedGateway({}, 80);
    await until(() => setup.dns.asked('api.test') >= 3);
    const before = setup.dns.asked('api.test');
    const start = performance.now();
    await until(() => setup.dns.asked('api.test') >= before + 3);
    // The rate of 20 ms alone would take 60 ms.
    expect(performance.now() - start).to.be.greaterThan(200);
  });

  it('never delays other names, nor the thread pool, with names whose servers are silent', async () => {
    const port = await serversOn('127.0.0.1');
    const zones: Record<string, Zone> = { 'api.test': { a: ['127.0.0.1'] } };
    for (let i = 0; i < 50; i++) zones[`silent-${i}.test`] = { fails: 'silent' };
    const dns = await dnsServer(zones);
    const upstreams = createUpstreams(
      createContext(),
      createLookup({ servers: [dns.address], localNames: NO_FILES, timeoutMs: 20_000 }),
    );
    whenDone(() => upstreams.close());
    upstreams.apply(
      Object.keys(zones).map((address) =>
        snapshotOf(port, { name: address, endpoints: [{ address, port, weight: 1 }] }),
      ),
    );
    const start = performance.now();
    await promisify(pbkdf2)('a', 'b', 1, 16, 'sha256');
    await until(() => upstreams.get('api.test')!.hostStates[0]?.address === '127.0.0.1');
    expect(performance.now() - start).to.be.lessThan(2000);
    await until(() => dns.questions.filter((each) => each.startsWith('A silent')).length >= 50);
  });

  it('looks up at dnsRefreshRate, or with respectDnsTtl when the TTL has expired', async () => {
    const often = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'], ttl: 3600 } }, 80);
    await until(() => often.dns.asked('api.test') >= 3);
    const spec = { dnsRefreshRate: '3600s', respectDnsTtl: true };
    const byTtl = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'], ttl: 1 } }, 80, { spec });
    await until(() => byTtl.dns.asked('api.test') >= 2);
    const rarely = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'], ttl: 3600 } }, 80, {
      spec: { dnsRefreshRate: '0.02s', respectDnsTtl: true },
    });
    await until(() => rarely.dns.asked('api.test') === 1);
    const before = often.dns.asked('api.test');
    await until(() => often.dns.asked('api.test') >= before + 10);
    expect(rarely.dns.asked('api.test')).to.equal(1);
  });

  it('is reached at its IPv6 address if the IPv4 one refuses', async function () {
    const port = await serversOn('::1').catch(() => skip(this, 'this machine has no IPv6 loopback'));
    const setup = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'], aaaa: ['::1'] } }, port);
    await until(() => hosts(setup).join() === '127.0.0.1');
    expect((await get(setup.gw.url)).body).to.equal('::1');
  });

  it('has a host for each IPv6 address if it has no IPv4 address', async function () {
    const port = await serversOn('::1').catch(() => skip(this, 'this machine has no IPv6 loopback'));
    const setup = await resolvedGateway({ 'api.test': { aaaa: ['::1'] } }, port);
    await until(() => hosts(setup).join() === '::1');
    expect((await get(setup.gw.url)).body).to.equal('::1');
  });

  it('is not asked for IPv6 addresses with ipV4Only', async () => {
    const setup = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'] } }, 80, { dns: { ipV4Only: true } });
    await until(() => setup.dns.asked('api.test') >= 2);
    expect(setup.dns.questions.filter((each) => each.startsWith('AAAA'))).to.deep.equal([]);
  });

  it('polls failover endpoints at their own rate', async () => {
    const endpoints = [
      { address: 'api.test', port: 80, weight: 1 },
      { address: 'spare.test', port: 80, weight: 1, priority: 1 },
    ];
    const zones = { 'api.test': { a: ['127.0.0.1'] }, 'spare.test': { a: ['127.0.0.2'] } };
    const parts = { endpoints, spec: { dnsRefreshRate: '3600s' }, dns: { failoverRate: '0.02s' } };
    const setup = await resolvedGateway(zones, 80, parts);
    await until(() => setup.dns.asked('spare.test') >= 3);
    expect(setup.dns.asked('api.test')).to.equal(1);
  });

  it('stops looking up names of a removed upstream', async () => {
    const setup = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'] } }, 80);
    await until(() => setup.dns.asked('api.test') >= 2);
    setup.gw.upstreams.apply([]);
    await until(() => setup.gw.upstreams.get('echo_gw-system') === undefined);
    const other = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'] } }, 80);
    const before = setup.dns.asked('api.test');
    await until(() => other.dns.asked('api.test') >= 5);
    expect(setup.dns.asked('api.test') - before).to.be.at.most(1);
  });

  it('is sent its name as Host where the client sends none, and verified by its name', async () => {
    const { server } = certificates();
    const { createServer: createTls } = await import('node:https');
    const secure = createTls(server, (_req, res) => void res.end('safe'));
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    whenDone(() => {
      secure.closeAllConnections();
      secure.close();
    });
    const { port } = secure.address() as { port: number };
    const endpoints = [{ address: 'api.example.com', port, weight: 1 }];
    for (const autoSniRewrite of [true, false]) {
      const spec = { sslConfig: { secretRef: { name: 'tls' } }, static: { autoSniRewrite } };
      const zones = { 'api.example.com': { a: ['127.0.0.1'] } };
      const setup = await resolvedGateway(zones, port, { tls: true, endpoints, spec });
      await until(() => hosts(setup).join() === '127.0.0.1');
      expect((await get(setup.gw.url)).body).to.equal('safe');
    }
    const wrong = await resolvedGateway({ 'other.test': { a: ['127.0.0.1'] } }, port, {
      tls: true,
      endpoints: [{ address: 'other.test', port, weight: 1 }],
      spec: { sslConfig: { secretRef: { name: 'tls' } } },
    });
    expect((await get(wrong.gw.url)).status).to.equal(503);
  });

  it('keeps its hosts when only another option of it changes', async () => {
    const port = await httpUpstream((_req, res) => void res.end('ok'));
    const setup = await resolvedGateway({ 'api.test': { a: ['127.0.0.1'] } }, port);
    await until(() => hosts(setup).join() === '127.0.0.1');
    const { snapshot } = setup.gw.upstreams.get('echo_gw-system')!;
    setup.dns.zones.set('api.test', { fails: 'SERVFAIL' });
    setup.gw.upstreams.apply([{ ...snapshot }]);
    expect(hosts(setup)).to.deep.equal(['127.0.0.1']);
    expect((await get(setup.gw.url)).body).to.equal('ok');
  });
});
