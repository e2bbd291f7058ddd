import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { expect } from 'chai';
import {
  createContext,
  type ActionKind,
  factsOf,
  type Concern,
  type Context,
  type Route,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { createRouter, type Router, type RouterOptions } from '../../src/router.ts';
import { directOf, echo, endpointOf, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';
import { ask as askServer, listenOn } from '../served.ts';
import { startOtlp, until, type OtlpServer } from './otlp-server.ts';

type Tracing = Record<string, unknown>;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${CALLER}-01`;

const ask = (port: number, path: string, headers: Record<string, string> = {}) => askServer(port, path, { headers });

describe('tracing', () => {
  let collector: OtlpServer;
  let router: Router | undefined;
  let context: Context;

  beforeEach(async () => {
    collector = await startOtlp();
    context = createContext({ env: { REGION: 'eu' } });
  });
  afterEach(async () => {
    await router?.close();
    router = undefined;
    await collector.close();
    await stopAll();
  });

  const collectorUpstream = (port = collector.port): SnapshotUpstream => upstreamOf([endpointOf(port)], 'collector');

  const optionsOf = (tracing: Tracing, settings: object = {}) => ({
    httpOptions: {
      httpConnectionManagerSettings: {
        ...settings,
        tracing: { openTelemetryConfig: { collectorUpstreamRef: { name: 'collector' } }, ...tracing },
      },
    },
  });

  async function serve(
    routes: readonly Route[],
    { tracing = {}, settings = {}, upstreams = [], ...options }: RouterOptions & ServeParts = {},
  ): Promise<number> {
    router = createRouter({ context, ...options });
    const all = [collectorUpstream(), ...upstreams];
    router.apply(snapshotOf([hostOf(routes)], all, optionsOf(tracing, settings) as never));
    return await listenOn(router);
  }

  /** Closes the router, which sends what is queued. */
  async function received(count: number): Promise<void> {
    await router!.close();
    router = undefined;
    expect(collector.spans).to.have.lengthOf(count);
  }

  interface ServeParts {
    readonly tracing?: Tracing;
    readonly settings?: object;
    readonly upstreams?: readonly SnapshotUpstream[];
  }

  const backend = async (): Promise<SnapshotUpstream> => upstreamOf([endpointOf((await start(echo)).port)]);

  it('sends a span of each request with the tags of Envoy', async () => {
    const port = await serve([routeOf()], { upstreams: [await backend()] });
    const { body } = await ask(port, '/a?x=1&access_token=secret', { host: 'a.example', 'user-agent': 'curl' });
    await received(1);
    const [span] = collector.spans;
    expect(span).to.include({ name: 'ingress', kind: 2, parentId: '', status: 0, service: 'gateway-proxy' });
    expect(span!.endMs).to.be.at.least(span!.startMs);
    expect(Math.abs(span!.startMs - Date.now())).to.be.below(10_000);
    const sent = JSON.parse(body).headers as Record<string, string>;
    expect(sent['traceparent']).to.equal(`00-${span!.traceId}-${span!.spanId}-01`);
    expect(span!.tags).to.include({
      component: 'proxy',
      node_id: hostname(),
      'guid:x-request-id': sent['x-request-id'],
      'http.method': 'GET',
      'http.url': 'http://a.example/a?x=1&access_token=[redacted]',
      'http.protocol': 'HTTP/1.1',
      'http.status_code': '200',
      response_flags: '-',
      upstream_cluster: 'up_gw-system',
      'upstream_cluster.name': 'up_gw-system',
      'peer.address': '127.0.0.1',
      user_agent: 'curl',
      downstream_cluster: '-',
      request_size: '0',
    });
    expect(span!.tags).not.to.have.property('error');
    expect(collector.authority).to.equal('collector_gw-system');
  });

  it('continues the trace of the caller, and passes on its state', async () => {
    const port = await serve([routeOf()], { upstreams: [await backend()] });
    const { body } = await ask(port, '/', { traceparent: PARENT, tracestate: 'a=1' });
    await received(1);
    expect(collector.spans[0]).to.include({ traceId: TRACE, parentId: CALLER, state: 'a=1' });
    const { traceparent, tracestate } = JSON.parse(body).headers;
    expect(traceparent).to.equal(`00-${TRACE}-${collector.spans[0]!.spanId}-01`);
    expect(tracestate).to.equal('a=1');
  });

  for (const [name, headers] of [
    ['several headers', { 'x-b3-traceid': TRACE, 'x-b3-spanid': CALLER, 'x-b3-sampled': '1' }],
    ['one header', { b3: `${TRACE}-${CALLER}-1` }],
  ] as const) {
    it(`continues a trace of B3 in ${name}, and sends the same format upstream`, async () => {
      const port = await serve([routeOf()], { upstreams: [await backend()] });
      const { body } = await ask(port, '/', headers);
      await received(1);
      const { spanId } = collector.spans[0]!;
      expect(collector.spans[0]).to.include({ traceId: TRACE, parentId: CALLER });
      const sent = JSON.parse(body).headers;
      expect(sent.traceparent).to.equal(`00-${TRACE}-${spanId}-01`);
      expect(sent.b3 ?? sent['x-b3-spanid']).to.contain(spanId);
    });
  }

  it('records nothing for a caller that is not sampled, but passes the trace on', async () => {
    const port = await serve([routeOf()], { upstreams: [await backend()] });
    const { body } = await ask(port, '/', { traceparent: `00-${TRACE}-${CALLER}-00` });
    expect(JSON.parse(body).headers.traceparent).to.match(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    await ask(port, '/sampled');
    await received(1);
    expect(collector.spans.map(({ tags }) => tags['http.url'])).to.deep.equal(['http://a.example/sampled']);
  });

  for (const bad of [
    '',
    '00-0-0-01',
    `ff-${TRACE}-${CALLER}-01`,
    `00-${'0'.repeat(32)}-${CALLER}-01`,
    'é',
    `${PARENT}-x`,
  ]) {
    it(`begins a new trace for the malformed context ${JSON.stringify(bad)}`, async () => {
      const port = await serve([routeOf()], { upstreams: [await backend()] });
      const { body } = await ask(port, '/', { traceparent: bad, 'x-b3-traceid': 'x', 'x-datadog-trace-id': '-1' });
      await received(1);
      const sent = JSON.parse(body).headers;
      expect(collector.spans[0]!.traceId).not.to.equal(TRACE);
      expect(sent.traceparent).to.contain(collector.spans[0]!.traceId);
      expect(sent).not.to.have.any.keys('x-b3-traceid', 'x-datadog-trace-id');
    });
  }

  it('marks failed requests', async () => {
    const port = await serve([routeOf({ to: 'gone_gw-system' })]);
    expect((await ask(port, '/')).status).to.equal(503);
    await received(1);
    expect(collector.spans[0]).to.include({ status: 2 });
    expect(collector.spans[0]!.tags).to.include({ 'http.status_code': '503', response_flags: 'NC', error: 'true' });
  });

  it('adds tags of literals, the environment, headers and metadata, without secrets', async () => {
    const tracing = {
      literalsForTags: [{ tag: 'team', value: 'edge' }],
      environmentVariablesForTags: [
        { tag: 'region', name: 'REGION' },
        { tag: 'zone', name: 'ZONE', defaultValue: 'none' },
        { tag: 'missing', name: 'MISSING' },
      ],
      requestHeadersForTags: ['X-Tenant', 'Authorization', 'x-forwarded-jwt', 'x-absent'],
      metadataForTags: [
        { tag: 'plan', value: { namespace: 'ns', key: 'a/b', nestedFieldDelimiter: '/' } },
        { tag: 'sub', value: { key: 'claims.sub' }, defaultValue: 'nobody' },
        { tag: 'list', value: { namespace: 'ns', key: 'list' } },
      ],
    };
    const concern = {
      name: 'facts',
      option: 'extensions',
      stage: 'jwt' as const,
      compile: () =>
        function facts(req: Parameters<NonNullable<Concern['compile']>>[0], _res: unknown, next: () => void) {
          factsOf(req as never).metadata.set('ns', { a: { b: 'gold' }, list: [1, 2] });
          next();
        },
    };
    const route = routeOf({ options: { extensions: { x: 1 } } as never });
    const port = await serve([route], { tracing, upstreams: [await backend()], concerns: [concern as never] });
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln';
    await ask(port, '/', { 'x-tenant': 'acme', authorization: 'Basic eA==', 'x-forwarded-jwt': jwt });
    await received(1);
    const { tags } = collector.spans[0]!;
    expect(tags).to.include({
      team: 'edge',
      region: 'eu',
      zone: 'none',
      'X-Tenant': 'acme',
      plan: 'gold',
      list: '[1,2]',
    });
    expect(tags).to.include({ Authorization: '[redacted]', 'x-forwarded-jwt': '[redacted]', sub: 'nobody' });
    expect(tags).not.to.have.any.keys('missing', 'x-absent');
  });

  it('adds metadata of the endpoint', async () => {
    const metadataForTags = [
      { tag: 'zone', kind: 'ENDPOINT', value: { namespace: 'envoy.lb', key: 'zone' } },
      { tag: 'rack', kind: 'ENDPOINT', value: { namespace: 'envoy.lb', key: 'rack' }, defaultValue: 'none' },
    ];
    const { port: target } = await start(echo);
    const endpoint = { ...endpointOf(target), metadata: { zone: 'a' } };
    const port = await serve([routeOf()], { tracing: { metadataForTags }, upstreams: [upstreamOf([endpoint])] });
    await ask(port, '/');
    await received(1);
    expect(collector.spans[0]!.tags).to.include({ zone: 'a', rack: 'none' });
  });

  it('passes its context to actions of other packages, and takes the name that a policy sets', async () => {
    const contexts: (string | undefined)[] = [];
    const action: ActionKind = {
      action: 'graphql',
      compile: () =>
        function respond({ req, res, writeHead }) {
          contexts.push(factsOf(req).header('traceparent'));
          writeHead(200, ['content-length', '0']);
          res.end();
        },
    };
    const concern = {
      name: 'rename',
      option: 'extensions',
      stage: 'jwt' as const,
      compile: () =>
        function rename(req: IncomingMessage, _res: unknown, next: () => void) {
          factsOf(req).spanName = 'books';
          next();
        },
    };
    const api = { name: 'api', namespace: 'gw-system' };
    const route = routeOf({ action: { type: 'graphql', api }, options: { extensions: {} } as never });
    const port = await serve([route], { actions: [action], concerns: [concern as never] });
    await ask(port, '/', { traceparent: PARENT });
    await received(1);
    const [span] = collector.spans;
    expect(span).to.include({ name: 'books', traceId: TRACE });
    expect(contexts).to.deep.equal([`00-${TRACE}-${span!.spanId}-01`]);
  });

  it('applies name, percentages and propagation of the route', async () => {
    const none = { randomSamplePercentage: 0 };
    const routes = [
      routeOf({ matchers: [{ prefix: '/named' }], options: { tracing: { routeDescriptor: 'orders' } } }),
      routeOf({ matchers: [{ prefix: '/alone' }], options: { tracing: { propagate: false } } }),
      routeOf({ matchers: [{ prefix: '/never' }], options: { tracing: { tracePercentages: none } } }),
    ];
    const port = await serve(routes, { upstreams: [await backend()] });
    await ask(port, '/never');
    await ask(port, '/named');
    const { body } = await ask(port, '/alone', { traceparent: PARENT, b3: '0' });
    expect(JSON.parse(body).headers).not.to.have.any.keys('traceparent', 'b3');
    await received(2);
    expect(collector.spans.map(({ name }) => name)).to.deep.equal(['orders', 'ingress']);
  });

  it('samples clients that join a trace by id, and writes the decision into the request id', async () => {
    const tracing = { tracePercentages: { randomSamplePercentage: 0 } };
    const port = await serve([routeOf()], { tracing, upstreams: [await backend()] });
    const without = JSON.parse((await ask(port, '/no')).body).headers;
    const joined = JSON.parse((await ask(port, '/yes', { 'x-client-trace-id': 'mine' })).body).headers;
    await received(1);
    expect(collector.spans[0]!.tags).to.include({ 'guid:x-client-trace-id': 'mine' });
    expect(without['x-request-id'][14]).to.equal('4');
    expect(joined['x-request-id'][14]).to.equal('b');
    expect(collector.spans[0]!.tags['guid:x-request-id']).to.equal(joined['x-request-id']);
  });

  describe('headers of callers', () => {
    const internalAddressConfig = { cidrRanges: [{ addressPrefix: '127.0.0.0', prefixLen: 8 }] };
    const tracing = { tracePercentages: { randomSamplePercentage: 0 } };
    const headers = { 'x-envoy-force-trace': 'true', 'x-envoy-decorator-operation': 'checkout' };
    const route = routeOf({ options: { tracing: { routeDescriptor: 'orders' } } });

    it('traces what an internal caller forces, by the name that it sends', async () => {
      const settings = { internalAddressConfig };
      const port = await serve([route], { tracing, settings, upstreams: [await backend()] });
      const { body } = await ask(port, '/forced', headers);
      await ask(port, '/other', { 'x-envoy-decorator-operation': 'other' });
      await received(1);
      const sent = JSON.parse(body).headers as Record<string, string>;
      expect(collector.spans[0]).to.include({ name: 'checkout' });
      expect(sent['x-request-id']![14]).to.equal('a');
      expect(sent['traceparent']).to.contain(collector.spans[0]!.spanId);
      expect(sent).not.to.have.property('x-envoy-decorator-operation');
    });

    for (const [name, settings, forwardedFor] of [
      ['without internal addresses', {}, undefined],
      [
        'from another address',
        { internalAddressConfig: { cidrRanges: [{ addressPrefix: '10.0.0.0', prefixLen: 8 }] } },
        undefined,
      ],
      ['that an internal proxy forwards', { internalAddressConfig }, '203.0.113.9'],
    ] as const) {
      it(`ignores and removes those of a request ${name}`, async () => {
        const port = await serve([route], { tracing, settings, upstreams: [await backend()] });
        const more: Record<string, string> = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
        const { body } = await ask(port, '/', { ...headers, ...more });
        await ask(port, '/', { traceparent: PARENT, ...headers, ...more });
        await received(1);
        const sent = JSON.parse(body).headers as Record<string, string>;
        expect(sent).not.to.have.any.keys(...Object.keys(headers));
        expect(sent['x-request-id']![14]).to.equal('4');
        expect(collector.spans[0]).to.include({ name: 'orders', traceId: TRACE });
      });
    }
  });

  it('tells the caller the operation of the route, unless the caller named it', async () => {
    const internalAddressConfig = { cidrRanges: [{ addressPrefix: '127.0.0.0', prefixLen: 8 }] };
    const options = { tracing: { routeDescriptor: 'orders' } };
    const forged = await start((_req, res) => res.writeHead(200, { 'x-envoy-decorator-operation': 'other' }).end());
    const routes = [
      directOf('ok', { matchers: [{ prefix: '/direct' }], options }),
      routeOf({ matchers: [{ prefix: '/forwarded' }], options }),
      directOf('ok'),
    ];
    const upstreams = [upstreamOf([endpointOf(forged.port)])];
    const port = await serve(routes, { settings: { internalAddressConfig }, upstreams });
    const told = async (path: string, headers: Record<string, string> = {}): Promise<string | null> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).headers.get('x-envoy-decorator-operation');
    expect(await told('/direct')).to.equal('orders');
    expect(await told('/forwarded')).to.equal('orders');
    expect(await told('/plain')).to.equal(null);
    expect(await told('/direct', { 'x-envoy-decorator-operation': 'mine' })).to.equal(null);
  });

  it('adds a span for each attempt, whose context the upstream receives', async () => {
    const port = await serve([routeOf()], { tracing: { spawnUpstreamSpan: true }, upstreams: [await backend()] });
    const { body } = await ask(port, '/');
    await received(2);
    const attempt = collector.spans.find(({ kind }) => kind === 3)!;
    const request = collector.spans.find(({ kind }) => kind === 2)!;
    expect(attempt).to.include({
      name: 'router up_gw-system egress',
      parentId: request.spanId,
      traceId: request.traceId,
    });
    expect(attempt.tags).to.include({ 'http.status_code': '200', 'upstream_cluster.name': 'up_gw-system' });
    expect(attempt.tags['upstream_address']).to.match(/^127\.0\.0\.1:\d+$/);
    expect(JSON.parse(body).headers.traceparent).to.contain(attempt.spanId);
  });

  it('marks an attempt that cannot connect', async () => {
    const { port: closed, server } = await start(echo);
    await new Promise((resolve) => server.close(resolve));
    const port = await serve([routeOf()], {
      tracing: { spawnUpstreamSpan: true },
      upstreams: [upstreamOf([endpointOf(closed)])],
    });
    expect((await ask(port, '/')).status).to.equal(503);
    await received(2);
    const attempt = collector.spans.find(({ kind }) => kind === 3)!;
    expect(attempt.tags).to.include({ 'http.status_code': '0', response_flags: 'UF', error: 'true' });
  });

  it('adds spans of policies and events if it is verbose', async () => {
    const concern = {
      name: 'check',
      option: 'extensions',
      stage: 'rbac' as const,
      compile: () =>
        function check(_req: unknown, _res: unknown, next: () => void) {
          setImmediate(next);
        },
    };
    const port = await serve([routeOf({ options: { extensions: {} } as never })], {
      tracing: { verbose: true },
      upstreams: [await backend()],
      concerns: [concern as never],
    });
    await ask(port, '/');
    await received(2);
    const [stage, request] = collector.spans;
    expect(stage).to.include({ name: 'check', kind: 1, parentId: request!.spanId });
    expect(request!.events).to.include.members(['first_upstream_tx_byte_sent', 'last_downstream_tx_byte_sent']);
  });

  it('serves without a collector, counts dropped spans, and sends again once it is available', async () => {
    const port = await serve([directOf('ok')]);
    const address = collector.port;
    await collector.close();
    expect(await ask(port, '/')).to.include({ status: 200, body: 'ok' });
    const dropped = context.metrics.counter({
      path: 'tracing.collector_gw-system.spans_dropped',
      metric: 'tracing_spans_dropped',
      labels: { collector: 'collector_gw-system' },
    });
    await until(() => dropped.value === 1);
    collector = await startOtlp(address);
    for (let i = 0; collector.spans.length === 0; i++) {
      await ask(port, `/${i}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (i > 150) throw new Error('no spans after the collector returned');
    }
  }).timeout(20_000);

  it('sends the spans of a listener that a reload removes', async () => {
    const port = await serve([directOf('ok')]);
    await ask(port, '/last');
    router!.apply(snapshotOf([hostOf([directOf('ok')])], [collectorUpstream()]));
    await ask(port, '/untraced');
    await until(() => collector.spans.length === 1);
    expect(collector.spans[0]!.tags['http.url']).to.contain('/last');
  });

  it('sends queued spans before it closes', async () => {
    const port = await serve([directOf('ok')]);
    await ask(port, '/');
    await router!.close();
    router = undefined;
    expect(collector.spans).to.have.lengthOf(1);
  });
});
