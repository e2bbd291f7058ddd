import { expect } from 'chai';
import type { Concern, Listener, Route, VirtualHost } from '@edge-gateway/core';
import { served, type Served } from '../../served.ts';
import { directOf, routeOf } from '../../snapshots.ts';

/** Policies that allow everything: only where they are counts here. */
const CONCERNS: readonly Concern[] = (['rbac', 'extauth', 'jwt'] as const).map((option) => ({
  name: option,
  option,
  stage: option === 'extauth' ? 'extAuth' : option,
  compile: () => (_req, _res, next) => next(),
}));

const rbac = (...prefixes: string[]): Route['options']['rbac'] => ({
  policies: Object.fromEntries(prefixes.map((pathPrefix, i) => [`p${i}`, { permissions: { pathPrefix } }])),
});
const GUARD = { rbac: rbac('/') };
const routes = (admin: Route['options'], rest: Route['options'] = {}): Route[] => [
  directOf('admin', { name: 'admin', matchers: [{ prefix: '/admin' }], options: admin }),
  directOf('open', { name: 'open', matchers: [{ prefix: '/' }], options: rest }),
];
const guardedDestination = (): Route[] => {
  const [admin, open] = routes({});
  const destinations = [
    {
      upstream: 'gone_gw-system',
      weight: 1,
      options: { extauth: { disable: false } },
      broken: { status: 200, body: '', reason: '' },
    },
  ];
  return [{ ...admin!, action: { type: 'forward', destinations } }, open!];
};

const AMBIGUOUS = [
  '/%2Fadmin',
  '/%252fadmin',
  '/%5Cadmin',
  '//admin',
  '/;/admin',
  '/;x/admin',
  '/%3B/admin',
  '/%20/admin',
  '/%09/admin',
  '/%20admin',
  '/%01/admin',
  '/%0B/%1Fadmin',
  '/%2561dmin',
  '/a%2564min/../%252561dmin',
];
const HARMLESS = [
  '/',
  '/admin',
  '/admin;x',
  '/shop;color=red',
  '/a%2Fb',
  '/a%20b',
  '/shop//cart',
  '/x?next=/;/admin',
  '/100%25',
];

describe('paths that upstreams may read differently', () => {
  let gateway: Served | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const statuses = async (paths: readonly string[], headers = {}): Promise<number[]> =>
    await Promise.all(paths.map(async (path) => (await gateway!.ask(path, { headers })).status));
  const serve = async (parts: { routes: Route[]; host?: VirtualHost['options']; http?: Listener['httpOptions'] }) => {
    gateway = await served({ ...parts, concerns: CONCERNS });
  };

  for (const [title, parts] of [
    ['a policy of the longer path', { routes: routes(GUARD) }],
    ['another policy of the longer path', { routes: routes(GUARD, { extauth: { disable: false } }) }],
    ['a policy that the shorter path disables', { routes: routes({}, { rbac: { disable: true } }), host: GUARD }],
    ['a policy of a destination of the longer path', { routes: guardedDestination() }],
    ['an RBAC policy for a longer path', { routes: routes({}), host: { rbac: rbac('/', '/admin') } }],
  ] as const) {
    it(`are rejected beside ${title}`, async () => {
      await serve(parts);
      expect(await statuses(AMBIGUOUS)).to.deep.equal(AMBIGUOUS.map(() => 400));
      expect(await statuses(HARMLESS)).to.deep.equal(HARMLESS.map(() => 200));
      const { body } = await gateway!.ask('/;/admin');
      expect(JSON.parse(body)).to.include({ code: 'ERR_ROUTING_AMBIGUOUS' });
    });

    it(`are served beside ${title} if the listener allows it`, async () => {
      const http = { httpConnectionManagerSettings: { allowAmbiguousRequests: true } };
      await serve({ ...parts, http });
      expect(await statuses(AMBIGUOUS)).to.deep.equal(AMBIGUOUS.map(() => 200));
    });
  }

  for (const [title, parts] of [
    ['without policies', { routes: routes({}) }],
    ['with one policy for all paths', { routes: routes({}), host: GUARD }],
    ['with a policy that the longer path disables', { routes: routes({ rbac: { disable: true } }), host: GUARD }],
    ['with a policy of the shorter path only', { routes: routes({}, GUARD) }],
  ] as const)
    it(`are served ${title}`, async () => {
      await serve(parts);
      expect(await statuses(AMBIGUOUS)).to.deep.equal(AMBIGUOUS.map(() => 200));
    });

  it('are rejected without normalisation if an escape hides a longer path', async () => {
    const http = { httpConnectionManagerSettings: { normalizePath: false } };
    await serve({ routes: routes(GUARD), http });
    expect(await statuses(['/%61dmin', '/%2561dmin', '/x%61dmin'])).to.deep.equal([400, 400, 200]);
  });

  it('reach the upstream as they were sent if no other policy applies', async () => {
    await serve({ routes: [routes(GUARD)[0]!, routeOf()] });
    for (const path of ['/shop;color=red?x=1', '/a%2Fb', '/shop//cart'])
      expect(await gateway!.seen(path)).to.include({ url: path });
  });

  it('are compared with their query', async () => {
    const matchers = [{ prefix: '/admin', queryParameters: [{ name: 'x', value: '1' }] }];
    await serve({ routes: [directOf('admin', { name: 'admin', matchers, options: GUARD }), routes({})[1]!] });
    expect(await statuses(['/;/admin?x=1', '/;/admin?x=2'])).to.deep.equal([400, 200]);
  });

  it('are rejected beside headers in two spellings, where policies apply', async () => {
    const both = { 'x-team': 'a', x_team: 'b' };
    await serve({ routes: routes(GUARD) });
    expect(await statuses(['/'], both)).to.deep.equal([400]);
    expect(await statuses(['/'], { x_team: 'b', 'x-other': 'a' })).to.deep.equal([200]);
    await gateway!.close();
    await serve({ routes: routes({}), host: GUARD });
    expect(await statuses(['/'], both)).to.deep.equal([400]);
    await gateway!.close();
    await serve({ routes: routes({}) });
    expect(await statuses(['/'], both)).to.deep.equal([200]);
  });
});
