import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createIssuer, ISSUER, type Issuer } from '../../../packages/core/test/security/jwt/issuer.ts';
import { makeCertificates, type Certificates } from '../../parts/certificates.ts';
import { freePorts } from '../../parts/free-port.ts';
import { ENVOY, NODE, startBothPlanes } from './both-planes.ts';
import { until } from '../../parts/until.ts';

const NAMESPACE = 'gw-system';
const v1 = (kind: string, name: string, spec: object) => ({
  apiVersion: kind === 'Upstream' ? 'gw.vendor.io/v1' : 'gateway.vendor.io/v1',
  kind,
  metadata: { name, namespace: NAMESPACE },
  spec,
});
const gateway = (bindPort: number, more: object = {}, name = 'gateway') =>
  v1('Gateway', name, { bindAddress: ENVOY, bindPort, httpGateway: {}, ...more });
const upstream = (name: string, ...ports: readonly number[]) =>
  v1('Upstream', name, { static: { hosts: ports.map((port) => ({ addr: '127.0.0.1', port })) } });
const to = (name: string) => ({ routeAction: { single: { upstream: { name } } } });
const service = (name: string, routes: readonly object[], options: object = {}) =>
  v1('VirtualService', name, { virtualHost: { domains: [`${name}.test`], routes, options } });

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request to one of the planes. */
async function call(
  host: string,
  port: number,
  url: string,
  headers: object = {},
  tls?: object,
  localAddress?: string,
): Promise<Answer> {
  const { hostname, pathname, search } = new URL(url);
  const send = tls ? httpsRequest : request;
  const options = {
    host,
    localAddress,
    port,
    path: pathname + search,
    headers: { host: hostname, ...headers },
    agent: false,
  };
  const req = send({ ...options, ...tls }).end();
  const [res] = await once(req, 'response');
  let body = '';
  for await (const chunk of res) body += chunk;
  return { status: res.statusCode, headers: res.headers, body };
}

/** A backend that responds with its name, and the request that it received. */
async function backend(name: string): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((req, res) =>
    res.end(JSON.stringify({ name, url: req.url, headers: req.headers })),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

const seen = ({ body }: Answer): { readonly name: string; readonly headers: Record<string, string> } =>
  JSON.parse(body);

const tlsSecret = ({ cert, key }: Certificates) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name: 'tls', namespace: NAMESPACE },
  data: {
    'tls.crt': readFileSync(cert).toString('base64'),
    'tls.key': readFileSync(key).toString('base64'),
  },
});

describe('an Envoy that our control plane configures', function () {
  this.timeout(60_000);
  let one: Awaited<ReturnType<typeof backend>>;
  let two: Awaited<ReturnType<typeof backend>>;
  let planes: Awaited<ReturnType<typeof startBothPlanes>> | undefined;
  let port: number;
  let tlsPort: number;

  before(async () => {
    [one, two] = await Promise.all([backend('one'), backend('two')]);
  });

  beforeEach(async () => {
    [port, tlsPort] = (await freePorts(2)) as [number, number];
  });

  afterEach(async () => {
    await planes?.close();
    planes = undefined;
  });

  after(() => {
    one.server.close();
    two.server.close();
  });

  const onEnvoy = (url: string, headers?: object) => call(ENVOY, port, url, headers);
  /** From another address than the Envoy, whose connections begin with a PROXY header. */
  const onNode = (url: string, headers?: object) => call(NODE, port, url, headers, undefined, '127.0.0.3');

  for (const [protocol, type] of [
    ['delta', 'DELTA_GRPC'],
    ['state of the world', 'GRPC'],
  ] as const)
    it(`serves changes without failed requests, by the protocol ${protocol}`, async () => {
      planes = await startBothPlanes({
        resources: [gateway(port), upstream('app', one.port), service('shop', [to('app')])],
        bootstrap: ({ dynamic_resources: dynamic, ...rest }) => {
          const { ads_config: ads, ...others } = dynamic as { readonly ads_config: object };
          return { ...rest, dynamic_resources: { ...others, ads_config: { ...ads, api_type: type } } };
        },
      });
      const { set } = planes;
      const statuses = new Map<number, number>();
      const load = new AbortController();
      const loaded = (async () => {
        while (!load.signal.aborted) {
          const { status } = await onEnvoy('http://shop.test/');
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      })();
      // Another endpoint, another route, and another upstream.
      set('resources', [gateway(port), upstream('app', two.port), service('shop', [to('app')])]);
      await until(async () => seen(await onEnvoy('http://shop.test/')).name === 'two', 'the new endpoint');
      const blog = service('blog', [{ matchers: [{ prefix: '/a' }], ...to('next') }]);
      set('resources', [
        gateway(port),
        upstream('app', two.port),
        upstream('next', one.port),
        service('shop', [to('app')]),
        blog,
      ]);
      await until(async () => (await onEnvoy('http://blog.test/a')).status === 200, 'the new virtual service');
      set('resources', [gateway(port), upstream('next', one.port), service('shop', [to('next')]), blog]);
      await until(async () => seen(await onEnvoy('http://shop.test/')).name === 'one', 'the new upstream');
      load.abort();
      await loaded;
      expect([...statuses.keys()]).to.deep.equal([200]);
      await until(() => planes!.server.proxies().every(({ current }) => current), 'all acknowledgements');
      expect(planes.server.proxies().map(({ node }) => node)).to.deep.equal(['gateway-proxy']);
    });

  it('reports the traffic of its upstreams', async () => {
    planes = await startBothPlanes({
      resources: [gateway(port), upstream('app', one.port), service('shop', [to('app')])],
    });
    const { server } = planes;
    const reported = () => server.proxies().find(({ traffic }) => (traffic?.total.requests ?? 0) > 0)?.traffic;
    await until(
      async () => (await onEnvoy('http://shop.test/')).status === 200 && reported() !== undefined,
      'a report',
    );
    const { upstreams, total, isStale } = reported()!;
    expect(upstreams.map(({ name }) => name)).to.deep.equal(['app_gw-system']);
    expect([upstreams[0]!.requests, total.serverErrors, isStale]).to.deep.equal([total.requests, 0, false]);
  });

  it('rejects paths that hide a dot segment, as a Node proxy does', async () => {
    const admin = { matchers: [{ prefix: '/admin' }], directResponseAction: { status: 403 } };
    planes = await startBothPlanes({
      resources: [gateway(port), upstream('app', one.port), service('shop', [admin, to('app')])],
    });
    for (const [path, status] of [
      ['/public/..%2fadmin', 400],
      ['/public/%2e%2e%2Fadmin', 400],
      ['/public/%252e%252e/admin', 400],
      ['/public/x%2f..%2f..%2fadmin?q', 400],
      ['/public/..%5cadmin', 400],
      ['/public/a%2fb', 200],
      ['/public/..a/.b/c..%2f', 200],
      ['/admin', 403],
    ] as const)
      for (const send of [onEnvoy, onNode])
        expect((await send(`http://shop.test${path}`)).status, `${path} (${send.name})`).to.equal(status);
  });

  it('reports what an Envoy rejects, by the name of the part', async () => {
    const taken = createServer().listen(0, ENVOY);
    await once(taken, 'listening');
    const { port: used } = taken.address() as AddressInfo;
    planes = await startBothPlanes({
      resources: [gateway(port), gateway(used, {}, 'other'), upstream('app', one.port), service('shop', [to('app')])],
    });
    const { server } = planes;
    await until(() => server.rejections().length > 0, 'the rejection');
    const [{ rejection }] = server.rejections() as [ReturnType<typeof server.rejections>[number]];
    expect(rejection).to.include({
      type: 'type.googleapis.com/envoy.config.listener.v3.Listener',
      resource: `listener-${ENVOY}-${used}`,
    });
    expect(server.proxies()[0]).to.deep.include({ current: false });
    expect((await onEnvoy('http://shop.test/')).status).to.equal(200);
    taken.close();
    await once(taken, 'close');
    planes.set('resources', [gateway(port), upstream('app', one.port), service('shop', [to('app')])]);
    await until(() => server.proxies().every(({ current }) => current), 'the acknowledgement');
    expect(server.rejections()).to.deep.equal([]);
  });

  describe('for HTTPS', () => {
    let first: Certificates;
    let second: Certificates;
    before(() => {
      [first, second] = [makeCertificates(), makeCertificates()];
    });
    after(() => {
      first.remove();
      second.remove();
    });

    const resources = (certificates: Certificates) => [
      gateway(tlsPort, { ssl: true }),
      tlsSecret(certificates),
      upstream('app', one.port),
      v1('VirtualService', 'shop', {
        sslConfig: { secretRef: { name: 'tls', namespace: NAMESPACE }, sniDomains: ['shop.test'] },
        virtualHost: {
          domains: ['shop.test'],
          routes: [
            { matchers: [{ prefix: '/own' }], ...to('app'), options: { stagedTransformations: SETS_HEADER } },
            to('app'),
          ],
        },
      }),
    ];
    const SETS_HEADER = {
      regular: {
        requestTransforms: [
          { requestTransformation: { transformationTemplate: { headers: { 'x-own': { text: 'yes' } } } } },
        ],
      },
    };
    const secure = (path: string, { ca }: Certificates) =>
      call(
        ENVOY,
        tlsPort,
        `http://shop.test${path}`,
        {},
        {
          servername: 'shop.test',
          ca: readFileSync(ca),
          checkServerIdentity: () => undefined,
        },
      );

    it('uses certificates and their replacements, and hands over routes over TLS', async () => {
      planes = await startBothPlanes({ resources: resources(first), services: { nodeProxies: NODE } });
      expect((await secure('/', first)).status).to.equal(200);
      const handedOver = await secure('/own', first);
      expect(handedOver.status).to.equal(200);
      expect(seen(handedOver).headers).to.include({ 'x-own': 'yes', 'x-forwarded-proto': 'https' });
      planes.set('resources', resources(second));
      await until(
        () =>
          secure('/own', second).then(
            ({ status }) => status === 200,
            () => false,
          ),
        'the new certificate',
      );
    });
  });

  it('receives no listener with a key that it would reject, which is reported', async () => {
    const certificates = makeCertificates('secp256k1');
    const served = [gateway(port), upstream('app', one.port), service('shop', [to('app')])];
    try {
      planes = await startBothPlanes({
        resources: [
          ...served,
          gateway(tlsPort, { ssl: true }, 'secure'),
          tlsSecret(certificates),
          v1('VirtualService', 'secure', {
            sslConfig: { secretRef: { name: 'tls', namespace: NAMESPACE } },
            virtualHost: { domains: ['*'], routes: [to('app')] },
          }),
        ],
      });
      expect(planes.problems).to.deep.equal([
        {
          kind: 'Gateway',
          ref: { name: 'secure', namespace: NAMESPACE },
          options: ['sslConfig with a key on the curve secp256k1'],
        },
      ]);
      expect((await onEnvoy('http://shop.test/')).status).to.equal(200);
      expect(planes.server.rejections()).to.deep.equal([]);
      expect(planes.server.proxies().every(({ current }) => current)).to.equal(true);
    } finally {
      certificates.remove();
    }
  });

  it('names the file of an access log that it cannot open', async () => {
    const accessLoggingService = {
      accessLog: [{ fileSink: { path: '/nowhere/access.log', stringFormat: '%PROTOCOL%\n' } }],
    };
    planes = await startBothPlanes({
      resources: [
        gateway(port),
        gateway(tlsPort, { options: { accessLoggingService } }, 'logged'),
        upstream('app', one.port),
        service('shop', [to('app')]),
      ],
    });
    const { server } = planes;
    expect(planes.problems).to.deep.equal([]);
    await until(() => server.rejections().length > 0, 'the rejection');
    const [{ rejection }] = server.rejections() as [ReturnType<typeof server.rejections>[number]];
    expect(rejection.resource).to.equal(`listener-${ENVOY}-${tlsPort}`);
    expect(rejection.message).to.include('/nowhere/access.log').and.to.include('No such file or directory');
    expect((await onEnvoy('http://shop.test/')).status).to.equal(200);
  });

  describe('for protected routes', () => {
    let issuer: Issuer;
    before(async () => {
      issuer = await createIssuer();
    });

    const guarded = () =>
      service(
        'shop',
        [
          {
            matchers: [{ prefix: '/open' }],
            ...to('app'),
            options: { jwtStaged: { afterExtAuth: { disable: true } }, rbac: { disable: true } },
          },
          { matchers: [{ prefix: '/' }], ...to('app') },
        ],
        {
          jwtStaged: {
            afterExtAuth: {
              providers: {
                idp: {
                  issuer: ISSUER,
                  jwks: { local: { key: issuer.keySet } },
                  claimsToHeaders: [{ claim: 'team', header: 'x-team' }],
                },
              },
            },
          },
          rbac: {
            policies: {
              readers: {
                principals: [{ jwtPrincipal: { claims: { team: 'a' } } }],
                permissions: { methods: ['GET'], pathPrefix: '/a' },
              },
            },
          },
        },
      );

    it('decides like a Node proxy', async () => {
      planes = await startBothPlanes({ resources: [gateway(port), upstream('app', one.port), guarded()] });
      const far = Math.floor(Date.now() / 1000) + 600;
      const token = async (claims: Record<string, unknown>) => ({
        authorization: `Bearer ${await issuer.sign({ exp: far, ...claims })}`,
      });
      const cases: readonly (readonly [path: string, headers: object, status: number])[] = [
        ['/a', {}, 401],
        ['/a', { authorization: 'Bearer nothing' }, 401],
        ['/a', await token({ team: 'a', exp: 1 }), 401],
        ['/a', await token({ team: 'b' }), 403],
        ['/a', await token({}), 403],
        ['/a', await token({ team: ['a'] }), 403],
        ['/b', await token({ team: 'a' }), 403],
        ['/a//b', await token({ team: 'a' }), 403],
        ['/a', await token({ team: 'a' }), 200],
        ['/open', { 'x-team': 'forged' }, 200],
        ['/open', { x_team: 'forged' }, 200],
      ];
      for (const [path, headers, status] of cases) {
        const url = `http://shop.test${path}`;
        const answers = [await onEnvoy(url, headers), await onNode(url, headers)];
        expect(
          answers.map((answer) => answer.status),
          path,
        ).to.deep.equal([status, status]);
        if (status !== 200) continue;
        for (const answer of answers) {
          const { 'x-team': team, x_team: other, authorization } = seen(answer).headers;
          expect([team, other, authorization]).to.deep.equal([path === '/a' ? 'a' : undefined, undefined, undefined]);
        }
      }
    });
  });

  describe('with an auth server and a rate limit server', () => {
    const resources = () => [
      gateway(port),
      upstream('app', one.port),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'ada', namespace: NAMESPACE },
        type: 'extauth.vendor.io/apikey',
        stringData: { 'api-key': 'key-of-ada', 'user-id': 'ada', plan: 'gold' },
      },
      {
        apiVersion: 'enterprise.gw.vendor.io/v1',
        kind: 'AuthConfig',
        metadata: { name: 'keys', namespace: NAMESPACE },
        spec: {
          configs: [
            {
              apiKeyAuth: {
                headerName: 'x-api-key',
                k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: 'ada', namespace: NAMESPACE }] },
                headersFromMetadataEntry: { 'x-plan': { name: 'plan' } },
              },
            },
          ],
        },
      },
      {
        apiVersion: 'ratelimit.vendor.io/v1alpha1',
        kind: 'RateLimitConfig',
        metadata: { name: 'few', namespace: NAMESPACE },
        spec: {
          raw: {
            descriptors: [{ key: 'generic_key', value: 'all', rateLimit: { requestsPerUnit: 2, unit: 'HOUR' } }],
            rateLimits: [{ actions: [{ genericKey: { descriptorValue: 'all' } }] }],
          },
        },
      },
      service('shop', [
        {
          matchers: [{ prefix: '/keys' }],
          ...to('app'),
          options: { extauth: { configRef: { name: 'keys', namespace: NAMESPACE } } },
        },
        {
          matchers: [{ prefix: '/few' }],
          ...to('app'),
          options: { rateLimitConfigs: { refs: [{ name: 'few', namespace: NAMESPACE }] } },
        },
        { matchers: [{ prefix: '/' }], ...to('app') },
      ]),
      service('blog', [to('app')]),
    ];

    it('decides like a Node proxy', async () => {
      planes = await startBothPlanes({ resources: resources(), withServers: true });
      expect(planes.problems).to.deep.equal([]);
      for (const plane of [onEnvoy, onNode]) {
        await until(async () => (await plane('http://shop.test/keys')).status === 401, 'the auth server');
        expect((await plane('http://shop.test/keys', { 'x-api-key': 'other' })).status).to.equal(401);
        for (const name of ['x-user-id', 'x_user_id']) {
          const forged = { [name]: 'root', 'x-plan': 'forged' };
          const known = seen(await plane('http://shop.test/keys', { 'x-api-key': 'key-of-ada', ...forged })).headers;
          expect([known['x-user-id'], known['x_user_id'], known['x-plan']]).to.deep.equal(['ada', undefined, 'gold']);
          const open = seen(await plane('http://shop.test/', forged)).headers;
          expect([open['x-user-id'], open['x_user_id'], open['x-plan']]).to.deep.equal([
            undefined,
            undefined,
            undefined,
          ]);
        }
        expect((await plane('http://blog.test/')).status).to.equal(200);
        const statuses = [];
        for (let i = 0; i < 3; i++) statuses.push((await plane('http://shop.test/few')).status);
        expect(statuses).to.deep.equal([200, 200, 429]);
      }
    });

    it('rejects requests without the auth server', async () => {
      planes = await startBothPlanes({ resources: resources(), services: { extauth: { host: '127.0.0.1', port: 1 } } });
      expect((await onEnvoy('http://shop.test/keys', { 'x-api-key': 'key-of-ada' })).status).to.equal(403);
      expect((await onEnvoy('http://shop.test/')).status).to.equal(200);
      // Nobody counts.
      expect((await onEnvoy('http://shop.test/few')).status).to.equal(500);
    });
  });

  describe('for options that Envoy cannot express', () => {
    const masked = {
      matchers: [{ prefix: '/masked' }],
      ...to('app'),
      options: { dlp: { actions: [{ actionType: 'SSN' }] } },
    };
    const resources = () => [
      gateway(port),
      upstream('app', one.port),
      service('shop', [masked, { matchers: [{ prefix: '/' }], ...to('app') }]),
    ];

    it('returns 500 without Node proxies, and names the options', async () => {
      planes = await startBothPlanes({ resources: resources() });
      expect((await onEnvoy('http://shop.test/masked')).status).to.equal(500);
      expect((await onEnvoy('http://shop.test/other')).status).to.equal(200);
      expect(planes.problems).to.deep.equal([
        {
          kind: 'VirtualService',
          ref: { name: 'shop', namespace: NAMESPACE },
          route: 'gw-system.shop-route-0',
          options: ['options.dlp'],
        },
      ]);
    });

    it('hands the route over to Node proxies, with the address of the client', async () => {
      planes = await startBothPlanes({ resources: resources(), services: { nodeProxies: NODE } });
      const answer = await onEnvoy('http://shop.test/masked?a=1', { 'x-team': 'kept' });
      expect(answer.status).to.equal(200);
      const { headers } = seen(answer);
      expect(headers).to.include({ 'x-team': 'kept', host: 'shop.test' });
      expect(headers['x-forwarded-for']!.split(/, ?/).at(-1)).to.equal('127.0.0.1');
      expect(planes.problems).to.deep.equal([]);
      // Without Node proxies the route fails; it never loses its option.
      expect(seen(await onEnvoy('http://shop.test/other')).headers['x-envoy-expected-rq-timeout-ms']).to.equal('15000');
    });

    it('hands a whole listener over', async () => {
      const options = { httpConnectionManagerSettings: { normalizePath: false } };
      planes = await startBothPlanes({
        resources: [
          gateway(port, { httpGateway: { options } }),
          upstream('app', one.port),
          service('shop', [to('app')]),
        ],
        services: { nodeProxies: NODE },
      });
      const answer = await onEnvoy('http://shop.test/a');
      expect(seen(answer).headers['x-forwarded-for']).to.equal('127.0.0.1');
    });
  });
});
