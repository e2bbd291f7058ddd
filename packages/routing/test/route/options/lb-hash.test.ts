import { expect } from 'chai';
import type { RouteOptions } from '@edge-gateway/core/schema';
import { compileLbHash, type HashedRequest } from '../../../src/route/options/lb-hash.ts';
import { xxHash64 } from '../../../src/upstream/balance/xx-hash.ts';
import { numberedUpstream } from '../../numbered.ts';
import { served, type Served } from '../../served.ts';

type Policies = NonNullable<NonNullable<RouteOptions['lbHash']>['hashPolicies']>;

const CONNECTION = { directAddress: '10.0.0.9', directPort: 5000, localAddress: '10.0.0.1', localPort: 8080 };

function requestOf(...headers: string[]): HashedRequest {
  return { head: { headers, clientAddress: '192.0.2.7' }, connection: CONNECTION };
}

function hashOf(hashPolicies: Policies, request = requestOf(), cookies: string[] = []): bigint | undefined {
  return compileLbHash({ hashPolicies })!(request, (value) => void cookies.push(value));
}

describe('the hash of a request', () => {
  it('is that of a header, in whatever order several values are', () => {
    expect(hashOf([{ header: 'X-User' }], requestOf('x-user', 'ann'))).to.equal(xxHash64('ann'));
    expect(hashOf([{ header: 'x-user' }])).to.equal(undefined);
    const both = hashOf([{ header: 'x-user' }], requestOf('x-user', 'a', 'x-user', 'b'));
    expect(both).to.equal(xxHash64('b', xxHash64('a')));
    expect(hashOf([{ header: 'x-user' }], requestOf('x-user', 'b', 'x-user', 'a'))).to.equal(both);
  });

  it('is that of the address of the client', () => {
    expect(hashOf([{ sourceIp: true }])).to.equal(xxHash64('192.0.2.7'));
    expect(compileLbHash({ hashPolicies: [{ sourceIp: false }] })).to.equal(undefined);
  });

  it('is that of a cookie; a missing one is only created with a ttl', () => {
    const cookies: string[] = [];
    const cookie = { name: 'user', ttl: '90s', path: '/shop' };
    const given = requestOf('cookie', 'a=b; user="ann"');
    expect(hashOf([{ cookie }], given, cookies)).to.equal(xxHash64('ann'));
    const several = requestOf('cookie', 'user=ann; user=ben');
    expect(hashOf([{ cookie }], several, cookies), 'the first value, as in Envoy').to.equal(xxHash64('ann'));
    expect(hashOf([{ cookie: { name: 'user' } }], requestOf(), cookies)).to.equal(undefined);
    expect(cookies).to.deep.equal([]);
    const value = xxHash64('10.0.0.9:500010.0.0.1:8080').toString(16).padStart(16, '0');
    expect(hashOf([{ cookie }], requestOf(), cookies)).to.equal(xxHash64(value));
    expect(hashOf([{ cookie: { name: 'user', ttl: '0s' } }], requestOf('cookie', 'user='), cookies)).not.to.equal(
      undefined,
    );
    expect(cookies).to.deep.equal([`user="${value}"; Max-Age=90; Path=/shop; HttpOnly`, `user="${value}"; HttpOnly`]);
  });

  it('combines policies by rotating and exclusive or, until a terminal one has a hash', () => {
    const a = xxHash64('1');
    const b = xxHash64('2');
    const rotated = BigInt.asUintN(64, a << 1n) | (a >> 63n);
    const request = requestOf('x-a', '1', 'x-b', '2');
    expect(hashOf([{ header: 'x-a' }, { header: 'x-b' }], request)).to.equal(rotated ^ b);
    expect(hashOf([{ header: 'x-a' }, { header: 'x-a' }], request)).not.to.equal(0n);
    expect(hashOf([{ header: 'x-a', terminal: true }, { header: 'x-b' }], request)).to.equal(a);
    expect(hashOf([{ header: 'x-c', terminal: true }, { header: 'x-b' }], request)).to.equal(b);
  });
});

describe('lbHash', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  for (const algorithm of ['ringHash', 'maglev'] as const)
    it(`sends requests of the same user to the same host of ${algorithm}`, async () => {
      gateway = await served({
        upstreams: [await numberedUpstream(4, { loadBalancerConfig: { [algorithm]: {} } })],
        options: { lbHash: { hashPolicies: [{ header: 'x-user' }] } },
      });
      const hosts = new Set<string>();
      for (let user = 0; user < 12; user++) {
        const headers = { 'x-user': `user-${user}` };
        const { body } = await gateway.ask('/', { headers });
        for (let i = 0; i < 2; i++) expect((await gateway.ask('/', { headers })).body).to.equal(body);
        hosts.add(body);
      }
      expect(hosts.size).to.be.above(1);
    });

  it('creates the cookie once, and follows it', async () => {
    gateway = await served({
      upstreams: [await numberedUpstream(4, { loadBalancerConfig: { maglev: {} } })],
      options: { lbHash: { hashPolicies: [{ cookie: { name: 'shop', ttl: '3600s', path: '/' } }] } },
    });
    const first = await gateway.ask('/');
    const [cookie = ''] = first.headers['set-cookie'] as string[];
    expect(cookie).to.match(/^shop="[0-9a-f]{16}"; Max-Age=3600; Path=\/; HttpOnly$/);
    for (let i = 0; i < 5; i++) {
      const next = await gateway.ask('/', { headers: { cookie: cookie.split(';')[0]! } });
      expect(next.body).to.equal(first.body);
      expect(next.headers).not.to.have.property('set-cookie');
    }
  });
});
