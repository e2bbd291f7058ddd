import { expect } from 'chai';
import { call } from '../../../packages/cli/test/support/captured-io.ts';
import { GatewayProcess } from './gateway-process.ts';

/** Base64url, so that it is valid wherever a key, a hash or a text is wanted. */
const MARKER = 'MARKERsecretMARKERsecretMARKERsecretMARKER0';
const JWK = JSON.stringify({ keys: [{ kty: 'oct', alg: 'HS256', k: MARKER }] });
const TOKEN = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.${MARKER}`;

/** Resources with the marker in every place that may hold a secret and is served, or accepted with a Warning. */
const RESOURCES = [
  {
    apiVersion: 'settings.gw.vendor.io/v1',
    kind: 'Settings',
    metadata: { name: 'default' },
    spec: {
      devMode: true,
      consul: { password: MARKER, token: MARKER },
      vaultSecretSource: {
        accessToken: MARKER,
        token: MARKER,
        aws: { secretAccessKey: MARKER, sessionToken: MARKER },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'client', annotations: { copy: MARKER } },
    type: 'extauth.vendor.io/oauth',
    data: { 'client-secret': Buffer.from(MARKER).toString('base64') },
    stringData: { other: MARKER },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'added-headers' },
    type: 'gw.vendor.io/header',
    stringData: { 'x-backend-credential': MARKER },
  },
  {
    apiVersion: 'enterprise.gw.vendor.io/v1',
    kind: 'AuthConfig',
    metadata: { name: 'users' },
    spec: {
      configs: [{ basicAuth: { apr: { users: { ann: { salt: 'MARKER0s', hashedPassword: MARKER.slice(0, 22) } } } } }],
    },
  },
  {
    apiVersion: 'enterprise.gw.vendor.io/v1',
    kind: 'AuthConfig',
    metadata: { name: 'tokens' },
    spec: {
      configs: [{ oauth2: { accessTokenValidation: { jwt: { localJwks: { inlineString: JWK } } } } }],
    },
  },
  {
    apiVersion: 'enterprise.gw.vendor.io/v1',
    kind: 'AuthConfig',
    metadata: { name: 'login' },
    spec: {
      configs: [
        {
          oauth2: {
            oidcAuthorizationCode: {
              issuerUrl: 'http://127.0.0.1:1',
              clientId: 'web',
              clientSecretRef: { name: 'client', namespace: 'gw-system' },
              appUrl: 'http://127.0.0.1',
              callbackPath: '/callback',
              tokenEndpointQueryParams: { any: MARKER },
              session: { redis: { options: { host: `redis://user:${MARKER}@127.0.0.1:1` } } },
            },
          },
        },
        { passThroughAuth: { http: { url: `http://user:${MARKER}@127.0.0.1:1/?key=${MARKER}` } } },
      ],
    },
  },
  {
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name: 'shop' },
    spec: { static: { hosts: [{ addr: '127.0.0.1', port: 1 }] } },
  },
  {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name: 'shop' },
    spec: {
      virtualHost: {
        domains: ['*'],
        options: {
          jwt: { providers: { own: { issuer: 'me', jwks: { local: { key: JWK } } } }, allowMissingOrFailedJwt: true },
          headerManipulation: {
            requestHeadersToAdd: [
              { header: { key: 'Authorization', value: `Basic ${MARKER}` } },
              { headerSecretRef: { name: 'added-headers', namespace: 'gw-system' } },
            ],
          },
        },
        routes: [
          {
            matchers: [
              {
                prefix: '/keyed',
                headers: [{ name: 'x-api-key', value: MARKER }],
                queryParameters: [{ name: 'access_token', value: MARKER }],
              },
            ],
            redirectAction: { pathRedirect: `/there?token=${MARKER}`, hostRedirect: 'shop.example' },
          },
          ...['users', 'tokens', 'login'].map((name) => ({
            matchers: [{ prefix: `/${name}` }],
            options: { extauth: { configRef: { name, namespace: 'gw-system' } } },
            routeAction: { single: { upstream: { name: 'shop', namespace: 'gw-system' } } },
          })),
          {
            matchers: [{ prefix: '/' }],
            options: {
              stagedTransformations: {
                regular: {
                  requestTransforms: [
                    {
                      requestTransformation: {
                        transformationTemplate: { headers: { 'x-api-key': { text: MARKER }, cookie: { text: TOKEN } } },
                      },
                    },
                  ],
                },
              },
            },
            routeAction: { single: { upstream: { name: 'shop', namespace: 'gw-system' } } },
          },
        ],
      },
    },
  },
];

const PAGES = {
  stats: [
    '/',
    '/snapshots/input',
    '/snapshots/edge',
    '/snapshots/proxies',
    '/snapshots/xds',
    '/metrics',
    '/logging',
    '/zpages',
    '/components',
  ],
  admin: [
    '/',
    '/config_dump?include_eds',
    '/clusters?format=json',
    '/init_dump',
    '/server_info',
    '/stats',
    '/stats/prometheus',
    '/listeners',
    '/certs',
    '/runtime',
  ],
} as const;

describe('secrets in resources', () => {
  let gateway: GatewayProcess;

  before(async () => {
    gateway = new GatewayProcess();
    for (const [i, resource] of RESOURCES.entries()) gateway.write(`${i}.yaml`, JSON.stringify(resource));
    await gateway.start('--log-level', 'debug');
  });
  after(() => gateway.close());

  const withoutMarker = (text: string, where: string): void => {
    const at = text.indexOf('MARKER');
    expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 20), where).to.equal('');
  };

  it('are accepted in every resource, possibly with a warning', async () => {
    const edge = (await (await fetch(`${gateway.stats}/snapshots/edge`)).json()) as { data: object };
    expect(JSON.stringify(edge.data)).to.contain('"name":"tokens"').and.contain('"name":"users"');
    const { data } = (await (await fetch(`${gateway.stats}/snapshots/input`)).json()) as {
      data: { metadata: { name: string }; status?: unknown }[];
    };
    const rejected = data.filter(({ status }) => JSON.stringify(status ?? {}).includes('Rejected'));
    expect(rejected.map(({ metadata, status }) => [metadata.name, status])).to.deep.equal([]);
    expect(data.length).to.be.at.least(RESOURCES.length);
  });

  for (const port of ['stats', 'admin'] as const) {
    for (const path of PAGES[port]) {
      it(`are not on any page: ${port} ${path}`, async () => {
        const response = await fetch(gateway[port] + path);
        expect(response.status).to.be.oneOf([200, 404]);
        withoutMarker(await response.text(), path);
      });
    }
  }

  for (const words of [
    'get virtualservices -o yaml',
    'get authconfigs -o json',
    'get upstreams -o yaml',
    'get proxies -o yaml',
    'proxy served-config',
    'proxy dump',
    'check',
    'diff DIR',
    'validate DIR',
    'explain GET http://127.0.0.1/ -o json',
    'explain GET http://127.0.0.1/users',
    'explain GET http://127.0.0.1/login -o json',
  ]) {
    it(`are not in any output: gatewayctl ${words}`, async () => {
      const args = words.replace('DIR', gateway.dir).split(' ');
      const done = await call([...args, '--server', gateway.stats, '--proxy-admin', gateway.admin]);
      expect(done.stderr).to.not.contain('unknown command');
      expect(done.stdout).to.not.equal('');
      withoutMarker(done.stdout + done.stderr, words);
    });
  }

  it('are not in any log line, also for rejected requests', async () => {
    const authorization = `Basic ${Buffer.from(`ann:${MARKER}`).toString('base64')}`;
    for (const path of ['/users', '/tokens', '/login', '/', `/keyed?access_token=${MARKER}`]) {
      await fetch(gateway.url + path, { redirect: 'manual', headers: { authorization, 'x-api-key': MARKER } });
      await fetch(gateway.url + path, { redirect: 'manual', headers: { authorization: `Bearer ${TOKEN}` } });
    }
    withoutMarker(gateway.output, 'standard output');
    withoutMarker(gateway.errors, 'standard error');
  });
});
