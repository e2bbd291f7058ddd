import { expect } from 'chai';
import {
  NO_REASONS,
  reasonsOfListener,
  reasonsOfRoutes,
  reasonsOfUpstream,
  wholeListenerReasons,
  type Reasons,
} from '../../src/envoy/hand-over.ts';
import type { Listener, Route, SnapshotSettings, SnapshotUpstream, VirtualHost } from '../../src/index.ts';

const CONTEXT = { services: {}, settings: { requireRbac: false } };
const LIMIT = { rateLimits: [{ actions: [{ remoteAddress: {} }] }] };
const RATE_LIMIT = { services: { rateLimit: { host: 'limits', port: 18081 } } };
const to = (more: object = {}) => ({ upstream: 'app', weight: 1, options: {}, ...more });
const forward = (...destinations: object[]) => ({ type: 'forward', destinations });
const direct = { type: 'direct', status: 200, body: '' };
const route = (options: object = {}, action: object = forward(to()), more: object = {}) =>
  ({ name: 'r', matchers: [{ prefix: '/' }], options, action, ...more }) as unknown as Route;

function reasonsOf(routes: readonly Route[], options: object = {}, more: object = {}): readonly Reasons[] {
  const {
    rateLimitConfigs = [],
    upstreams = {},
    ...context
  } = more as {
    rateLimitConfigs?: object[];
    upstreams?: Readonly<Record<string, Reasons>>;
  };
  const host = { name: 'h', options, routes, rateLimitConfigs } as unknown as VirtualHost;
  return reasonsOfRoutes(host, {
    ...CONTEXT,
    ...context,
    reasonsOf: (upstream) => upstreams[upstream] ?? NO_REASONS,
  });
}

describe('routes that are handed over to Node proxies', () => {
  const config = (raw: object) => ({ ref: { namespace: 'gw-system', name: 'few' }, spec: { raw } });
  const refs = { rateLimitConfigs: { refs: [{ namespace: 'gw-system', name: 'few' }] } };
  const mirrored = { shadowing: { upstream: { name: 'copy', namespace: 'gw-system' }, percentage: 1 } };
  const cases: readonly (readonly [what: string, reasons: Reasons, route: Route, more?: object])[] = [
    ['nothing', [], route()],
    ['an option', ['options.dlp'], route({ dlp: { actions: [] } })],
    ['a GraphQLApi', ['graphqlApiRef'], route({}, { type: 'graphql', api: { name: 'a', namespace: 'b' } })],
    ['a direct response', [], route({}, direct)],
    ['a redirect', [], route({}, { type: 'redirect', redirect: { pathRedirect: '/' } })],
    ['a function', ['destinationSpec.rest'], route({}, forward(to({ rest: { functionName: 'f' } })))],
    ['a transcoder', ['grpcJsonTranscoder'], route({}, forward(to({ transcoder: { upstream: 'app', version: '1' } })))],
    [
      'a cluster named by a header',
      ['routeAction.clusterHeader'],
      route({}, forward(to({ dynamic: { type: 'clusterHeader', header: 'x' } }))),
    ],
    [
      'an upstream named by a header',
      ['routeAction.dynamicForwardProxy'],
      route({}, forward(to({ dynamic: { type: 'host' } }))),
    ],
    [
      'an option of a destination',
      ['options.transformations'],
      route({}, forward(to({ options: { transformations: {} } }))),
    ],
    ['one broken destination', [], route({}, forward(to({ broken: { status: 503, body: '' } })))],
    [
      'a broken destination beside another',
      ['a broken destination among others'],
      route({}, forward(to(), to({ broken: { status: 503, body: '' } }))),
    ],
    ['an upstream', ['upstream app: aws'], route(), { upstreams: { app: ['aws'] } }],
    [
      'the upstream of copies',
      ['upstream copy_gw-system: aws'],
      route(mirrored),
      { upstreams: { 'copy_gw-system': ['aws'] } },
    ],
    ['limits without a server', ['options.ratelimit'], route({ ratelimit: LIMIT })],
    ['limits with a server', [], route({ ratelimit: LIMIT }), RATE_LIMIT],
    [
      'limits of a direct response',
      ['rate limits without an upstream'],
      route({ ratelimit: LIMIT }, direct),
      RATE_LIMIT,
    ],
    [
      'limits by the tokens of a response',
      ['options.ratelimit'],
      route({ ratelimit: { rateLimits: [{ ...LIMIT.rateLimits[0], type: 'TOKEN' }] } }),
      RATE_LIMIT,
    ],
    ['a RateLimitConfig', [], route(refs), { ...RATE_LIMIT, rateLimitConfigs: [config(LIMIT)] }],
    [
      'a RateLimitConfig with a cost',
      ['RateLimitConfig gw-system.few'],
      route(refs),
      { ...RATE_LIMIT, rateLimitConfigs: [config({ rateLimits: [{ cost: { header: { headerName: 'x' } } }] })] },
    ],
    ['a missing RateLimitConfig', ['RateLimitConfig gw-system.few'], route(refs), RATE_LIMIT],
  ];
  for (const [what, reasons, given, more] of cases) {
    it(`${reasons.length > 0 ? 'have' : 'do not have'} ${what}`, () => {
      expect(reasonsOf([given], {}, more)).to.deep.equal([reasons]);
    });
  }

  it('are all of a virtual host with such an option, or whose header changes apply to all', () => {
    const [plain, other] = [route(), route({ dlp: { actions: [] } })];
    expect(reasonsOf([plain, other], { dlp: { actions: [] } })).to.deep.equal([
      ['virtualHost.options.dlp'],
      ['virtualHost.options.dlp', 'options.dlp'],
    ]);
    for (const option of ['headerManipulation', 'includeRequestAttemptCount', 'includeAttemptCountInResponse']) {
      const beside = [`virtualHost.options.${option} beside a route handed over`];
      expect(reasonsOf([plain, other], { [option]: {} }), option).to.deep.equal([beside, ['options.dlp']]);
      expect(reasonsOf([plain, plain], { [option]: {} }), option).to.deep.equal([[], []]);
    }
  });
});

describe('upstreams that are not clusters of an Envoy', () => {
  const upstream = (spec: object, endpoints: object[] = [{ address: '10.0.0.1', port: 443 }], tls = true) =>
    reasonsOfUpstream({ name: 'app', spec, endpoints, tls } as unknown as SnapshotUpstream, CONTEXT);

  it('have an option that Envoy does not have', () => {
    expect(upstream({ httpProxyHostname: 'a:1' })).to.deep.equal(['httpProxyHostname']);
    expect(upstream({ healthChecks: [{ customHealthCheck: {} }] })).to.deep.equal([
      'healthChecks[0].customHealthCheck',
    ]);
    expect(upstream({ circuitBreakers: { maxRequests: 1 } })).to.deep.equal([]);
  });

  it('have TLS of their own for failover', () => {
    const spare = { address: '10.0.0.2', port: 443, sslConfig: { sni: 'b' } };
    expect(upstream({}, [spare, spare])).to.deep.equal(['failover.upstreamSslConfig']);
  });

  it('have several names that certificates are compared with', () => {
    const hosts = ['a.test', 'b.test'].map((address) => ({ address, port: 443 }));
    const addresses = ['10.0.0.1', '10.0.0.2'].map((address) => ({ address, port: 443 }));
    const names = ['sslConfig with hosts of different server names'];
    expect(upstream({ static: {} }, hosts)).to.deep.equal(names);
    expect(upstream({ static: {} }, hosts, false), 'without TLS').to.deep.equal([]);
    expect(upstream({ sslConfig: { sni: 'c.test' } }, hosts)).to.deep.equal([]);
    const several = ['sslConfig without sni and verifySubjectAltName for several addresses'];
    expect(upstream({}, addresses)).to.deep.equal(several);
    expect(upstream({ sslConfig: { verifySubjectAltName: ['c.test'] } }, addresses)).to.deep.equal([]);
    expect(upstream({}, addresses.slice(1))).to.deep.equal([]);
  });
});

describe('listeners that are handed over as a whole', () => {
  const listener = (more: object = {}) =>
    ({ options: {}, httpOptions: {}, routeOptions: {}, sslConfigurations: [], ...more }) as unknown as Listener;
  const reasons = (more: object, settings: Partial<SnapshotSettings> = {}) =>
    reasonsOfListener(listener(more), { services: {}, settings: { requireRbac: false, ...settings } });

  it('have an option that Envoy does not have, or parts', () => {
    expect(reasons({})).to.deep.equal([]);
    expect(reasons({ options: { listenerAccessLoggingService: {} } })).to.deep.equal([
      'options.listenerAccessLoggingService',
    ]);
    expect(reasons({ httpOptions: { healthCheck: { path: '/h' } } })).to.deep.equal([
      'httpGateway.options.healthCheck',
    ]);
    expect(reasons({ routeOptions: { ofTomorrow: 1 } })).to.deep.equal(['routeOptions.ofTomorrow']);
    const sslConfigurations = [{ sslConfig: { ocspStaplePolicy: 'MUST_STAPLE' }, sniDomains: [] }];
    expect(reasons({ sslConfigurations })).to.deep.equal(['sslConfig.ocspStaplePolicy']);
    const ofTls = (parameters: object, ...sniDomains: string[]) =>
      reasons({ sslConfigurations: [{ sslConfig: { parameters }, sniDomains }] });
    expect(ofTls({ cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256'], ecdhCurves: ['X25519'] }, '*.a.test', 'b')).to.be
      .empty;
    expect(ofTls({ cipherSuites: ['TLS_AES_128_GCM_SHA256'] })).to.deep.equal(['sslConfig.parameters.cipherSuites']);
    expect(ofTls({ ecdhCurves: ['X448'] })).to.deep.equal(['sslConfig.parameters.ecdhCurves']);
    for (const name of ['*', 'a*.b', '*b']) expect(ofTls({}, name)).to.deep.equal(['sslConfig.sniDomains']);
    expect(reasons({ parts: [] })).to.deep.equal(['tcpGateway, hybridGateway or several server names']);
  });

  it('use external processing of the Settings', () => {
    const stages = [
      ['extProc', 'disableExtProc'],
      ['extProcEarly', 'disableExtProcEarly'],
      ['extProcLate', 'disableExtProcLate'],
    ] as const;
    for (const [stage, disable] of stages) {
      expect(reasons({}, { [stage]: {} })).to.deep.equal([`Settings ${stage}`]);
      expect(reasons({ httpOptions: { [disable]: true } }, { [stage]: {} })).to.deep.equal([]);
    }
  });

  it('log with filters that Envoy does not have', () => {
    const logged = (filter: object, more: object = {}) =>
      reasons({
        options: { accessLoggingService: { accessLog: [{ fileSink: { path: '/dev/stdout' }, filter, ...more }] } },
      });
    const refused = ['options.accessLoggingService'];
    const status = { statusCodeFilter: { comparison: { op: 'GE', value: { defaultValue: 400 } } } };
    expect(logged(status)).to.deep.equal([]);
    expect(logged({ headerFilter: { header: { name: 'a', value: 'b', invertMatch: true } } })).to.deep.equal([]);
    expect(logged({ headerFilter: { header: { name: 'a', invertMatch: true } } })).to.deep.equal(refused);
    for (const filter of [{ traceableFilter: {} }, { runtimeFilter: {} }, { grpcStatusFilter: {} }]) {
      expect(logged(filter)).to.deep.equal(refused);
      expect(logged({ andFilter: { filters: [status, filter] } })).to.deep.equal(refused);
      expect(logged({ orFilter: { filters: [{ andFilter: { filters: [filter] } }] } })).to.deep.equal(refused);
    }
    expect(logged(status, { fileSink: undefined })).to.deep.equal(refused);
  });

  it('must be, with one of their routes, if the Node proxy could not see what it decides by', () => {
    const whole = (settings: object, more: object = {}, asks = false) =>
      wholeListenerReasons(listener({ httpOptions: { httpConnectionManagerSettings: settings }, ...more }), asks);
    const forwarded = ['trusted x-forwarded-for'];
    expect(whole({})).to.deep.equal([]);
    expect(whole({ xffNumTrustedHops: 1 })).to.deep.equal(forwarded);
    expect(whole({ useRemoteAddress: false })).to.deep.equal(forwarded);
    expect(whole({ skipXffAppend: true })).to.deep.equal(forwarded);
    const tls = { sslConfigurations: [{ sslConfig: {} }] };
    expect(whole({}, tls)).to.deep.equal([]);
    expect(whole({}, tls, true)).to.deep.equal(['client certificates']);
  });
});
