import { expect } from 'chai';
import { csrf } from '../../../src/route/options/csrf.ts';
import { served, type Served } from '../../served.ts';
import { routeOf } from '../../snapshots.ts';

const ALL = { defaultValue: { numerator: 100 } } as const;
const NONE = { defaultValue: { numerator: 0 } } as const;
const ENFORCED = { filterEnabled: ALL };

describe('csrf', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  const post = async (headers: Record<string, string>, method = 'POST') => {
    const { status, body } = await gateway.ask('/', { method, headers, body: method === 'POST' ? 'x' : undefined });
    return status === 200 ? 'passed' : `${status} ${body}`;
  };

  const more = { ...ENFORCED, additionalOrigins: [{ exact: 'more.example' }, { suffix: '.suffix.example' }] };
  for (const [name, headers, result] of [
    ['no origin', {}, '403 Invalid origin'],
    ['the same origin', { origin: 'http://a.example' }, 'passed'],
    ['the same host over https', { origin: 'https://a.example' }, 'passed'],
    ['the same host in upper case', { origin: 'https://A.example' }, 'passed'],
    ['another port', { origin: 'https://a.example:8443' }, '403 Invalid origin'],
    ['another origin', { origin: 'https://evil.example' }, '403 Invalid origin'],
    ['an origin that begins with the host', { origin: 'https://a.example.evil' }, '403 Invalid origin'],
    ['a user like the host', { origin: 'https://a.example@evil' }, '403 Invalid origin'],
    ['an opaque origin with a referer', { origin: 'null', referer: 'http://a.example/' }, '403 Invalid origin'],
    ['a referer', { referer: 'http://a.example/x?y#z' }, 'passed'],
    ['a foreign referer', { referer: 'http://evil.example/a.example' }, '403 Invalid origin'],
    ['a foreign origin with a referer', { origin: 'https://evil', referer: 'http://a.example' }, '403 Invalid origin'],
    ['an additional origin', { origin: 'https://more.example' }, 'passed'],
    ['an additional suffix', { origin: 'https://x.suffix.example' }, 'passed'],
    ['a suffix with a port', { origin: 'https://x.suffix.example:1' }, '403 Invalid origin'],
  ] as const)
    it(`${name}: ${result}`, async () => {
      gateway = await served({ options: { csrf: more } });
      expect(await post(headers)).to.equal(result);
    });

  it('checks methods that change something, and counts', async () => {
    gateway = await served({ options: { csrf: ENFORCED } });
    for (const method of ['PUT', 'DELETE', 'PATCH', 'POST'])
      expect(await post({}, method)).to.equal('403 Invalid origin');
    for (const method of ['GET', 'OPTIONS']) expect(await post({}, method)).to.equal('passed');
    await post({ origin: 'http://a.example' });
    await post({ origin: 'http://evil.example' });
    const stats = ['missing_source_origin', 'request_valid', 'request_invalid'];
    expect(stats.map((name) => gateway.stat(`http.http.csrf.${name}`))).to.deep.equal([4, 1, 1]);
  });

  it('checks nothing by default, and only counts with shadowEnabled', async () => {
    gateway = await served({ options: { csrf: {} } });
    expect(await post({})).to.equal('passed');
    await gateway.close();
    gateway = await served({ options: { csrf: { shadowEnabled: ALL } } });
    expect(await post({})).to.equal('passed');
    expect(gateway.stat('http.http.csrf.missing_source_origin')).to.equal(1);
  });

  it('checks the given share of requests', async () => {
    const filterEnabled = { defaultValue: { numerator: 5000, denominator: 'TEN_THOUSAND' } } as const;
    gateway = await served({ options: { csrf: { filterEnabled } } });
    const results = new Set<string>();
    for (let i = 0; i < 60; i++) results.add(await post({}));
    expect([...results].sort()).to.deep.equal(['403 Invalid origin', 'passed']);
  });

  it('uses the most specific block: destination, route, virtual host, listener', async () => {
    const off = { csrf: { filterEnabled: NONE } };
    const destination = (options: object) =>
      routeOf({
        matchers: [{ prefix: '/' }],
        action: { type: 'forward', destinations: [{ upstream: 'up_gw-system', weight: 1, options }] },
        options: off,
      });
    const levels = [
      [{ http: { csrf: ENFORCED } }, '403 Invalid origin'],
      [{ http: { csrf: ENFORCED }, host: off }, 'passed'],
      [{ http: off, host: { csrf: ENFORCED } }, '403 Invalid origin'],
      [{ host: { csrf: ENFORCED }, options: off }, 'passed'],
      [{ routes: [destination({ csrf: ENFORCED })] }, '403 Invalid origin'],
    ] as const;
    for (const [parts, result] of levels) {
      gateway = await served(parts);
      expect(await post({})).to.equal(result);
      if (parts !== levels.at(-1)![0]) await gateway.close();
    }
  });

  it('compares with the host of the client, not with a rewritten one', async () => {
    gateway = await served({ options: { csrf: ENFORCED, hostRewrite: 'up.example' } });
    expect(await post({ origin: 'https://a.example' })).to.equal('passed');
    expect(await post({ origin: 'https://up.example' })).to.equal('403 Invalid origin');
  });

  it('throws for an invalid expression', async () => {
    gateway = await served();
    expect(() => csrf({ ...ENFORCED, additionalOrigins: [{ safeRegex: { regex: '(' } }] })).to.throw();
  });
});
