import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalNames } from '../../../src/upstream/dns/local-names.ts';
import { createLookup } from '../../../src/upstream/dns/lookup.ts';
import { closeAll, whenDone } from '../../forward/harness.ts';
import { dnsServer, type Zone } from './dns-server.ts';

function files(hosts: string, resolver: string) {
  const folder = mkdtempSync(join(tmpdir(), 'dns-'));
  whenDone(() => rmSync(folder, { recursive: true }));
  const paths = { hosts: join(folder, 'hosts'), resolver: join(folder, 'resolv.conf') };
  writeFileSync(paths.hosts, hosts);
  writeFileSync(paths.resolver, resolver);
  return { ...paths, names: createLocalNames(paths) };
}

async function lookupWith(zones: Record<string, Zone>, { hosts = '', resolver = '', timeoutMs = 5000 } = {}) {
  const server = await dnsServer(zones);
  const localNames = files(hosts, resolver).names;
  return { server, lookup: createLookup({ servers: [server.address], localNames, timeoutMs }) };
}

describe('a lookup of a name', () => {
  afterEach(closeAll);

  it('finds addresses of both families, with the lowest TTL', async () => {
    const { lookup } = await lookupWith({
      'a.test': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8::1'], ttl: 9, ttl6: 7 },
    });
    const { v4, v6, ttlMs } = await lookup.resolve('a.test', 'all');
    expect([[...v4].sort(), v6, ttlMs]).to.deep.equal([['192.0.2.1', '192.0.2.2'], ['2001:db8::1'], 7000]);
  });

  it('looks up only the required family', async () => {
    const { lookup, server } = await lookupWith({ 'a.test': { a: ['192.0.2.1'], aaaa: ['2001:db8::1'] } });
    expect(await lookup.resolve('a.test', 'v4')).to.deep.include({ v4: ['192.0.2.1'], v6: [] });
    expect(await lookup.resolve('a.test', 'v6')).to.deep.include({ v4: [], v6: ['2001:db8::1'] });
    expect(server.questions).to.deep.equal(['A a.test', 'AAAA a.test']);
  });

  it('does not wait for IPv6 addresses that never arrive', async () => {
    const { lookup } = await lookupWith({ 'a.test': { a: ['192.0.2.1'], silent: 'AAAA' } });
    const start = performance.now();
    expect(await lookup.resolve('a.test', 'all')).to.deep.include({ v4: ['192.0.2.1'], v6: [] });
    expect(performance.now() - start).to.be.lessThan(1500);
  });

  const failures: Record<string, [Zone, string]> = {
    'a name that does not exist': [{ fails: 'NXDOMAIN' }, 'ENOTFOUND'],
    'a name without addresses': [{ fails: 'empty' }, 'ENODATA'],
    'a server that fails': [{ fails: 'SERVFAIL' }, 'ESERVFAIL'],
    'a server that does not answer': [{ fails: 'silent' }, 'ETIMEOUT'],
  };
  for (const [name, [zone, code]] of Object.entries(failures)) {
    it(`fails for ${name}`, async () => {
      const { lookup } = await lookupWith({ 'a.test': zone }, { timeoutMs: 200 });
      const error = await lookup.resolve('a.test', 'all').catch((reason: unknown) => reason);
      expect(error).to.include({ code });
    });
  }

  it('resolves addresses and localhost without a DNS server', async () => {
    const { lookup, server } = await lookupWith({});
    expect(await lookup.resolve('localhost', 'all')).to.deep.include({ v4: ['127.0.0.1'], v6: ['::1'] });
    expect(await lookup.resolve('api.LOCALHOST.', 'v4')).to.deep.include({ v4: ['127.0.0.1'], v6: [] });
    expect(await lookup.resolve('192.0.2.9', 'all')).to.deep.include({ v4: ['192.0.2.9'] });
    expect(server.questions).to.deep.equal([]);
  });

  it('prefers the hosts file, and reads it again when it changes', async () => {
    const { hosts, names } = files('192.0.2.5 db db.test # main\n2001:db8::5 db\nnonsense x\n', '');
    const lookup = createLookup({ servers: ['127.0.0.1:1'], localNames: names });
    expect(lookup.local('DB', 'all')).to.deep.include({ v4: ['192.0.2.5'], v6: ['2001:db8::5'] });
    expect([lookup.local('x', 'all'), lookup.local('main', 'all')]).to.deep.equal([undefined, undefined]);
    writeFileSync(hosts, '192.0.2.66 db\n');
    expect(lookup.local('db', 'all')).to.deep.include({ v4: ['192.0.2.66'], v6: [] });
    rmSync(hosts);
    expect(lookup.local('db', 'all')).to.equal(undefined);
  });

  it('completes names with fewer dots than ndots first, and all others last', () => {
    const { names } = files('', 'search svc.test\n');
    expect(names.candidates('api')).to.deep.equal(['api.svc.test', 'api']);
    expect(names.candidates('api.shop')).to.deep.equal(['api.shop', 'api.shop.svc.test']);
    const deep = files('', 'search svc.test\noptions ndots:2\n').names;
    expect(deep.candidates('api.shop')).to.deep.equal(['api.shop.svc.test', 'api.shop']);
    expect(deep.candidates('api.shop.eu')).to.deep.equal(['api.shop.eu', 'api.shop.eu.svc.test']);
  });

  it('completes short names with the search domains of the machine', async () => {
    const zones = { 'api.shop.svc.test': { a: ['192.0.2.1'] }, 'api.other.test': { a: ['192.0.2.2'] } };
    const resolver = 'search shop.svc.test svc.test\noptions ndots:5 edns0\n';
    const { lookup, server } = await lookupWith(zones, { resolver });
    expect((await lookup.resolve('api', 'v4')).v4).to.deep.equal(['192.0.2.1']);
    expect((await lookup.resolve('api.shop', 'v4')).v4).to.deep.equal(['192.0.2.1']);
    expect((await lookup.resolve('api.other.test.', 'v4')).v4).to.deep.equal(['192.0.2.2']);
    expect(server.questions).to.deep.equal([
      'A api.shop.svc.test',
      'A api.shop.shop.svc.test',
      'A api.shop.svc.test',
      'A api.other.test',
    ]);
  });
});
