import { expect } from 'chai';
import type { DynamicDestination } from '@edge-gateway/core';
import type { ExplainedDestination, Outcome } from '../../src/explain/explanation.ts';
import { explainRequest } from '../../src/explain/explain.ts';
import { directOf, endpointOf, hostOf, LISTENER, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

const UPSTREAM = upstreamOf([endpointOf(9001), endpointOf(9002)]);

function destinationsOf(outcome: Outcome): readonly ExplainedDestination[] {
  if (outcome.type !== 'forward') throw new Error(`outcome is ${outcome.type}`);
  return outcome.destinations;
}

describe('explain', () => {
  it('names the cluster that a header chooses, and the host that a request names', () => {
    const dynamicRoute = (prefix: string, dynamic: DynamicDestination) =>
      routeOf({
        matchers: [{ prefix }],
        action: { type: 'forward', destinations: [{ upstream: 'dynamic', weight: 1, options: {}, dynamic }] },
      });
    const routes = [
      dynamicRoute('/cluster', { type: 'clusterHeader', header: 'x-cluster' }),
      dynamicRoute('/host', { type: 'host', hostRewriteHeader: 'x-host' }),
    ];
    const snapshot = snapshotOf([hostOf(routes)], [UPSTREAM], { httpOptions: { dynamicForwardProxy: {} } });
    const destinationFor = (path: string, headers: Record<string, string>) =>
      destinationsOf(explainRequest(snapshot, { method: 'GET', url: `http://a${path}`, headers }).outcome)[0]!;
    const chosen = destinationFor('/cluster', { 'x-cluster': 'up_gw-system' });
    expect([chosen.upstream, chosen.reply, chosen.url]).to.deep.equal([
      'up_gw-system',
      undefined,
      'http://127.0.0.1:9001/cluster',
    ]);
    expect(destinationFor('/cluster', {}).reply).to.include({ status: 503 });
    const named = destinationFor('/host', { 'x-host': 'api.example.com' });
    expect([named.reply, Object.fromEntries(named.headers)['host']]).to.deep.equal([undefined, 'api.example.com']);
    expect(destinationFor('/host', { 'x-host': 'a b' }).reply).to.include({ status: 400 });
  });

  it('says that no listener has the port of the URL, and chooses one', () => {
    const snapshot = snapshotOf([hostOf([directOf('x')])], [UPSTREAM]);
    const reasons = [1234, 8080].map((port) => {
      const { listeners } = explainRequest(snapshot, { method: 'GET', url: `http://a.example:${port}/` });
      return listeners.map(({ chosen, reason }) => [chosen, reason]);
    });
    expect(reasons).to.deep.equal([
      [[true, 'no listener has port 1234: it is the first one without TLS']],
      [[true, 'it listens on the port of the URL']],
    ]);
  });

  it('names listener, domain, route, destination and the request to the upstream', () => {
    const options = { prefixRewrite: '/v1', hostRewrite: 'up.example', timeout: '3s' };
    const routes = [
      directOf('x', { name: 'r0', matchers: [{ prefix: '/other', methods: ['POST'] }] }),
      routeOf({ name: 'r1', matchers: [{ prefix: '/api' }], options }),
      directOf('y', { name: 'r2' }),
    ];
    const snapshot = snapshotOf([hostOf(routes, { domains: ['*.example'] })], [UPSTREAM]);
    const explained = explainRequest(snapshot, {
      method: 'GET',
      url: 'http://a.example/api/pets?x=1',
      headers: { 'X-Own': '1', 'x-envoy-force-trace': '1' },
    });
    expect(explained.request).to.deep.equal({ method: 'GET', host: 'a.example', path: '/api/pets?x=1' });
    expect(explained.listeners).to.deep.equal([
      { name: LISTENER, address: '::', port: 8080, chosen: true, reason: 'it is the first one without TLS' },
    ]);
    expect(explained.virtualHost).to.include({ name: 'gw-system.host', domain: '*.example' });
    expect(explained.routes.map(({ name, matched }) => [name, matched])).to.deep.equal([
      ['r0', false],
      ['r1', true],
    ]);
    expect(explained.routes[0]!.matchers[0]!.mismatches).to.deep.equal([
      { on: 'path', wanted: 'prefix /other', found: '/api/pets' },
      { on: 'method', wanted: 'POST', found: 'GET' },
    ]);
    const [destination] = destinationsOf(explained.outcome);
    expect(destination).to.include({
      upstream: 'up_gw-system',
      share: 100,
      url: 'http://127.0.0.1:9001/v1/pets?x=1',
      timeoutMs: 3000,
    });
    expect(destination!.endpoints).to.have.length(2);
    expect(Object.fromEntries(destination!.headers)).to.deep.equal({
      host: 'up.example',
      'x-own': '1',
      'x-request-id': '(generated)',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'a.example',
      'x-envoy-original-host': 'a.example',
      'x-envoy-original-path': '/api/pets?x=1',
      'x-envoy-expected-rq-timeout-ms': '3000',
    });
  });

  it('is the same twice', () => {
    const snapshot = snapshotOf([hostOf([routeOf()])], [UPSTREAM]);
    const asked = { method: 'GET', url: 'http://a/' };
    expect(explainRequest(snapshot, asked)).to.deep.equal(explainRequest(snapshot, asked));
  });

  it('shows the expected and the actual value of each condition, but not those of credentials', () => {
    const matchers = [
      {
        exact: '/a',
        headers: [
          { name: 'x-a', value: '1' },
          { name: 'x-b', invertMatch: true },
          { name: 'x-c', value: 'v[0-9]', regex: true },
          { name: 'X-Api-Key', value: 's3cret' },
          { name: 'authorization', value: 's3cret.*', regex: true },
        ],
        queryParameters: [{ name: 'page' }, { name: 'token', value: 's3cret' }, { name: 'key', value: 's3cret' }],
      },
    ];
    const snapshot = snapshotOf([hostOf([directOf('x', { matchers })])]);
    const { routes, outcome } = explainRequest(snapshot, {
      method: 'GET',
      url: 'http://a/a',
      headers: { 'x-b': 'here', 'x-c': 'v10' },
    });
    expect(routes[0]!.matchers[0]!.mismatches).to.deep.equal([
      { on: 'header x-a', wanted: '1', found: undefined },
      { on: 'header x-b', wanted: 'absent', found: 'here' },
      { on: 'header x-c', wanted: 'full match of v[0-9]', found: 'v10' },
      { on: 'header x-api-key', wanted: '<redacted>', found: undefined },
      { on: 'header authorization', wanted: '<redacted>', found: undefined },
      { on: 'query parameter page', wanted: 'present', found: undefined },
      { on: 'query parameter token', wanted: '<redacted>', found: undefined },
      { on: 'query parameter key', wanted: '<redacted>', found: undefined },
    ]);
    expect(outcome).to.include({ type: 'reply', status: 404, reason: 'no route matches' });
  });

  it('lists the domains when none fits', () => {
    const snapshot = snapshotOf([hostOf([], { domains: ['a.example', '*.b.example'] })]);
    const { otherDomains, outcome } = explainRequest(snapshot, { method: 'GET', url: 'http://c.example/' });
    expect(otherDomains).to.deep.equal(['a.example', '*.b.example']);
    expect(outcome).to.include({ status: 404, reason: 'no virtual host has this domain' });
  });

  it('names the broken reference of a replaced route', () => {
    const reason = 'upstream echp not found (did you mean echo?)';
    const action = { type: 'replacement', status: 404, body: 'bad', reason } as const;
    const snapshot = snapshotOf([hostOf([routeOf({ matchers: [{ prefix: '/' }], action })])], [UPSTREAM]);
    expect(explainRequest(snapshot, { method: 'GET', url: 'http://a.example/' }).outcome).to.deep.equal({
      type: 'reply',
      status: 404,
      body: 'bad',
      reason: `replacement of a broken route: ${reason}`,
    });
  });

  it('shows replies, redirects, rejections and broken shares', () => {
    const broken = { status: 404, body: 'gone', reason: 'missing' };
    const routes = [
      directOf('hi', { matchers: [{ prefix: '/direct' }] }),
      routeOf({ matchers: [{ prefix: '/redirect' }], action: { type: 'redirect', redirect: { pathRedirect: '/to' } } }),
      routeOf({ matchers: [{ prefix: '/replaced' }], action: { type: 'replacement', status: 404, body: 'bad' } }),
      routeOf({
        matchers: [{ prefix: '/shared' }],
        action: {
          type: 'forward',
          destinations: [
            { upstream: 'up_gw-system', weight: 1, options: {} },
            { upstream: 'none', weight: 3, options: {}, broken },
          ],
        },
      }),
      directOf('', {
        matchers: [{ prefix: '/failed' }],
        options: { headerManipulation: { requestHeadersToRemove: [''] } },
      }),
    ];
    const snapshot = snapshotOf([hostOf(routes)], [UPSTREAM]);
    const outcome = (path: string): Outcome =>
      explainRequest(snapshot, { method: 'GET', url: `http://a${path}` }).outcome;
    expect(outcome('/direct')).to.deep.equal({ type: 'reply', status: 200, body: 'hi', reason: 'direct response' });
    expect(outcome('/redirect')).to.deep.equal({ type: 'redirect', status: 301, location: 'http://a/to' });
    expect(outcome('/replaced')).to.include({ status: 404, body: 'bad' });
    expect(outcome('/a/%2e%2e/direct')).to.deep.equal(outcome('/direct'));
    expect(outcome('/a/%252e%252e/b')).to.include({ status: 400, reason: 'ERR_ROUTING_DOT_SEGMENT' });
    expect(outcome('/failed')).to.include({ status: 500, reason: "invalid header name ''" });
    expect(destinationsOf(outcome('/shared')).map(({ share, reply }) => [share, reply])).to.deep.equal([
      [25, undefined],
      [75, broken],
    ]);
  });

  it('lists options by level, and which of them a more specific one replaces', () => {
    const headerManipulation = { requestHeadersToRemove: ['x-a'] };
    const cors = { allowOrigin: ['*'] };
    const host = hostOf([routeOf({ options: { cors, headerManipulation, timeout: '1s' } })], {
      options: { cors, headerManipulation },
    });
    const { options } = explainRequest(snapshotOf([host], [UPSTREAM]), { method: 'GET', url: 'http://a/' });
    expect(options.map(({ option, from, applies }) => [option, from, applies])).to.deep.equal([
      ['cors', 'route', true],
      ['cors', 'virtual host', false],
      ['headerManipulation', 'route', true],
      ['headerManipulation', 'virtual host', true],
      ['timeout', 'route', true],
    ]);
  });

  it('lists options by the moment when they take effect', () => {
    const stages = { early: {}, regular: {} };
    const host = hostOf(
      [
        routeOf({
          options: {
            jwtProvidersStaged: { beforeExtAuth: {} },
            rbac: {},
            jwtStaged: { afterExtAuth: { disable: false } },
          },
        }),
      ],
      {
        options: {
          rbac: {},
          jwtStaged: { afterExtAuth: {}, beforeExtAuth: {} },
          extauth: { disable: true },
          stagedTransformations: stages,
        },
      },
    );
    const { options } = explainRequest(snapshotOf([host], [UPSTREAM]), { method: 'GET', url: 'http://a/' });
    expect(options.map(({ option, from, applies }) => [option, from, applies])).to.deep.equal([
      ['jwtStaged.beforeExtAuth', 'virtual host', false],
      ['jwtProvidersStaged.beforeExtAuth', 'route', true],
      ['extauth', 'virtual host', true],
      ['stagedTransformations.early', 'virtual host', true],
      ['jwtStaged.afterExtAuth', 'route', true],
      ['jwtStaged.afterExtAuth', 'virtual host', true],
      ['rbac', 'route', true],
      ['rbac', 'virtual host', false],
      ['stagedTransformations.regular', 'virtual host', true],
    ]);
  });

  it('replaces the transformations of a virtual host, of every stage, by any of a route', () => {
    const host = hostOf([routeOf({ options: { stagedTransformations: { early: {} } } })], {
      options: { stagedTransformations: { regular: {} } },
    });
    const { options } = explainRequest(snapshotOf([host], [UPSTREAM]), { method: 'GET', url: 'http://a/' });
    expect(options.map(({ option, applies }) => [option, applies])).to.deep.equal([
      ['stagedTransformations.early', true],
      ['stagedTransformations.regular', false],
    ]);
  });

  it('shows what transformations before the route change, and what they reject', () => {
    const routes = [
      directOf('gold', { name: 'gold', matchers: [{ prefix: '/', headers: [{ name: 'x-tier', value: 'gold' }] }] }),
      routeOf({ name: 'rest' }),
    ];
    const snapshot = snapshotOf([hostOf(routes)], [UPSTREAM]);
    const asked = { method: 'GET', url: 'http://a/x?t=1&b=2', headers: { authorization: 'secret', x_tier: 'forged' } };
    const plain = explainRequest(snapshot, {
      ...asked,
      admit: ({ route, facts }) => {
        expect(route.name).to.equal('rest');
        facts.requestChanges.push({ op: 'remove', name: 'authorization' }, { op: 'set', name: 'x-tier', value: 'tin' });
        facts.path = '/x?b=2';
        return undefined;
      },
    });
    expect(plain.request.path).to.equal('/x?t=1&b=2');
    const [destination] = destinationsOf(plain.outcome);
    expect(destination!.url).to.equal('http://127.0.0.1:9001/x?b=2');
    expect(Object.fromEntries(destination!.headers))
      .to.include({ 'x-tier': 'tin' })
      .and.not.have.any.keys('authorization', 'x_tier');
    const again = explainRequest(snapshot, {
      ...asked,
      admit: ({ facts, reroute }) => {
        facts.requestChanges.push({ op: 'set', name: 'x-tier', value: 'gold' });
        expect(reroute()?.route.name).to.equal('gold');
        return undefined;
      },
    });
    expect(again.outcome).to.include({ type: 'reply', body: 'gold' });
    expect(again.routes.map(({ name, matched }) => [name, matched])).to.deep.equal([['gold', true]]);
    const answer = { status: 403, body: 'no', reason: 'because' };
    const refused = explainRequest(snapshot, { ...asked, admit: () => answer });
    expect(refused.outcome).to.deep.equal({ type: 'reply', ...answer });
  });

  it('rejects an invalid URL', () => {
    expect(() => explainRequest(snapshotOf([]), { method: 'GET', url: 'pets' }))
      .to.throw()
      .with.property('code', 'ERR_ROUTING_BAD_TARGET');
  });

  it('reports that no listener matches the request', () => {
    const { outcome, listeners } = explainRequest(snapshotOf([]), { method: 'GET', url: 'https://a/' });
    expect(listeners[0]).to.include({ chosen: false, reason: 'it does not speak TLS' });
    expect(outcome).to.include({ type: 'reply', status: 0 });
  });
});
