import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { optionFor, settingsFor, startAuthService, type AuthPlace, type RunningService } from './auth-service-parts.ts';
import { protect, type Answer, type Protected } from './protection.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY_SET = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256' }] });
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
function token(claims: object): string {
  const text = `${part({ alg: 'ES256', kid: 'a' })}.${part({ iss: 'me', exp: 4_000_000_000, ...claims })}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

const secret = (name: string, type: string, data: string): string => `
apiVersion: v1
kind: Secret
metadata: { name: ${name}, namespace: gw-system }
type: extauth.vendor.io/${type}
stringData: { ${data} }
---`;
const authConfig = ([name, spec]: readonly [string, string]): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: ${name}, namespace: gw-system }
spec: ${spec}
---`;
const BASIC =
  'basicAuth: { realm: staff, apr: { users: { alice: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } } }';
const KEYS =
  'apiKeyAuth: { k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: key }] }, headersFromMetadataEntry: { x-team: { name: team } } }';
const HMAC = 'hmacAuth: { secretRefs: { secretRefs: [{ name: signer }] }, parametersInHeaders: {} }';

/** The AuthConfigs by name, each on the route of its name. */
const configsWith = (server: string): Readonly<Record<string, string>> => {
  const asks = (path: string, more = ''): string => `passThroughAuth: { http: { url: '${server}/${path}'${more} } }`;
  const STATE =
    ', request: { passThroughState: true }, response: { readStateFromResponse: true, allowedUpstreamHeaders: [x-from] }';
  return {
    key: `{ configs: [{ ${KEYS} }] }`,
    basic: `{ configs: [{ ${BASIC} }] }`,
    hmac: `{ configs: [{ ${HMAC} }] }`,
    jwt: '{ configs: [{ jwt: {} }] }',
    either: `{ booleanExpr: 'b || k', configs: [{ name: b, ${BASIC} }, { name: k, ${KEYS} }] }`,
    neither: `{ booleanExpr: '!b', configs: [{ name: b, ${BASIC} }] }`,
    state: `{ configs: [{ name: one, ${asks('first', STATE)} }, { name: two, ${asks('second', STATE)} }] }`,
    denies: `{ configs: [{ ${asks('denies', ', response: { allowedClientHeadersOnDenied: [x-why, set-cookie] }')} }] }`,
    cookie: `{ configs: [{ ${asks('cookie', ', response: { allowedClientHeadersOnSuccess: [set-cookie] }')} }] }`,
    body: `{ configs: [{ ${asks('body', ', request: { passThroughBody: true }, response: { allowedUpstreamHeaders: [x-from] }')} }] }`,
    policy: `{ configs: [{ name: rule, opaServerAuth: { package: shop, serverAddr: '${server.slice(7)}', options: { returnDecisionReason: true } } }] }`,
    breaks: `{ configs: [{ ${asks('breaks')} }] }`,
  };
};

interface Scenario {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  /** Part of the headers that the client gets. */
  readonly returned?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Part of the headers that the upstream gets. */
  readonly forwarded?: Readonly<Record<string, string | undefined>>;
  /** Body of the response. */
  readonly text?: string;
  /** Places at which the outcome is the same; default: all. */
  readonly places?: readonly AuthPlace[];
}

const login = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
function signed(path: string, key: string) {
  const date = new Date().toUTCString();
  const signature = createHmac('sha1', key).update(`date: ${date}\n@request-target: get ${path}`).digest('base64');
  return {
    date,
    authorization: `hmac username="bob", algorithm="hmac-sha1", headers="date @request-target", signature="${signature}"`,
  };
}
const ALICE = login('alice', 'password');
const KEY = { 'api-key': 'k-1' };
const BEYOND_HTTP = ['embedded', 'gRPC'] as const;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'an API key': {
    path: '/key?a=1',
    headers: { ...KEY, 'x-user-id': 'root', x_team: 'blue', cookie: 'app=1; other=2' },
    status: 200,
    forwarded: { 'x-user-id': 'key', 'x-team': 'red', x_team: undefined, cookie: 'app=1; other=2' },
  },
  'a wrong API key': {
    path: '/key',
    headers: { 'api-key': 'guessed' },
    status: 401,
    text: '',
    returned: { 'www-authenticate': 'API key is missing or invalid' },
  },
  'a password': { path: '/basic', headers: ALICE, status: 200, forwarded: { 'x-user-id': 'alice' } },
  'a wrong password': {
    path: '/basic',
    headers: login('alice', 'guessed'),
    status: 401,
    text: '',
    returned: { 'www-authenticate': 'Basic realm="staff"' },
  },
  'a signature': {
    path: '/hmac',
    headers: signed('/hmac', 'shared'),
    status: 200,
    forwarded: { 'x-user-id': 'bob' },
  },
  'a signature of another path': { path: '/hmac', headers: signed('/other', 'shared'), status: 401 },
  'a token that the gateway verified': {
    path: '/jwt',
    headers: { authorization: `Bearer ${token({ sub: 'carol' })}` },
    status: 200,
    places: BEYOND_HTTP,
  },
  'the jwt step without a token': { path: '/jwt', status: 401 },
  'the first side of ||': { path: '/either', headers: ALICE, status: 200, forwarded: { 'x-user-id': 'alice' } },
  'the second side of ||': { path: '/either', headers: KEY, status: 200, forwarded: { 'x-user-id': 'key' } },
  'neither side of ||': { path: '/either', status: 401 },
  'a negated step that passes': { path: '/neither', headers: ALICE, status: 403, text: '' },
  'a negated step that denies': { path: '/neither', status: 200, forwarded: { 'x-user-id': undefined } },
  'state from step to step': { path: '/state', status: 200, forwarded: { 'x-from': 'seen: red' } },
  'a denial with body, headers and cookies': {
    path: '/denies',
    status: 418,
    text: 'no tea\n',
    returned: { 'x-why': 'coffee', 'set-cookie': ['a=1', 'b=2'] },
  },
  'cookies for the client of an allowed request': {
    path: '/cookie',
    status: 200,
    returned: { 'set-cookie': ['a=1', 'b=2'] },
  },
  'a body of the greatest length': {
    path: '/body',
    body: 'x'.repeat(100_000),
    status: 200,
    forwarded: { 'x-from': '100000' },
  },
  'a body that is too long': { path: '/body', body: 'x'.repeat(100_001), status: 413, text: 'Payload Too Large' },
  'metadata of a policy, which knows the level of its AuthConfig': {
    path: '/policy',
    status: 200,
    forwarded: { 'x-plan': 'gold by route of gw-system.policy' },
    places: BEYOND_HTTP,
  },
  'a policy that denies': { path: '/policy', headers: { 'x-deny': '1' }, status: 403, text: '' },
  'a step whose server fails': { path: '/breaks', status: 403, text: '' },
  'a route without external auth': {
    path: '/open',
    headers: { cookie: 'app=1' },
    status: 200,
    forwarded: { cookie: 'app=1' },
  },
};

interface PolicyQuestion {
  readonly input: {
    readonly check_request: { readonly attributes: { readonly context_extensions: Readonly<Record<string, string>> } };
    readonly http_request: { readonly headers: Readonly<Record<string, string>> };
  };
}

function policy({ input }: PolicyQuestion): unknown {
  const { source_type, config_id } = input.check_request.attributes.context_extensions;
  return [input.http_request.headers['x-deny'] === undefined, { plan: `gold by ${source_type} of ${config_id}` }];
}

/** What the auth server behind `passThroughAuth` responds. */
function startStepServer(): Promise<Server> {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      const sent = (body === '' ? {} : JSON.parse(body)) as { state?: { team?: string }; body?: string };
      if (req.url === '/first') return void res.end(JSON.stringify({ state: { team: 'red' } }));
      if (req.url === '/v1/data/shop') return void res.end(JSON.stringify({ result: policy(JSON.parse(body)) }));
      if (req.url === '/second') {
        res.setHeader('x-from', `seen: ${sent.state?.team}`);
        return void res.end(JSON.stringify({ state: {} }));
      }
      if (req.url === '/body') res.setHeader('x-from', String(sent.body?.length));
      if (req.url === '/denies') {
        const headers = ['x-why', 'coffee', 'set-cookie', 'a=1', 'set-cookie', 'b=2'];
        return void res.writeHead(418, headers).end('no tea\n');
      }
      if (req.url === '/cookie') res.setHeader('set-cookie', ['a=1', 'b=2']);
      if (req.url === '/breaks') return void req.socket.destroy();
      res.end('{}');
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const PLACES = ['embedded', 'gRPC', 'HTTP'] as const;
const COMMON = 'requestBody: { maxRequestBytes: 100000 }, requestTimeout: 10s, statusOnError: 503';

describe('the auth service of gateways', () => {
  let steps: Server;
  let service: RunningService;
  const gateways = new Map<AuthPlace, Protected>();

  before(async () => {
    steps = await startStepServer();
    const configs = configsWith(`http://127.0.0.1:${(steps.address() as AddressInfo).port}`);
    const names = Object.keys(configs);
    const shared = [
      secret('key', 'apikey', 'api-key: k-1, team: red'),
      secret('signer', 'accountcredentials', 'username: bob, password: shared'),
      ...Object.entries(configs).map(authConfig),
    ].join('');
    service = await startAuthService(shared + settingsFor('embedded', names, COMMON));
    for (const place of PLACES) {
      const routes = names.map((name) => routeOf(name, optionFor(place, name))).join('');
      const host = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options:
      jwtStaged:
        beforeExtAuth:
          allowMissingOrFailedJwt: true
          providers:
            main: { issuer: me, keepToken: true, jwks: { local: { key: '${KEY_SET}' } } }
    routes:${routes}${routeOf('open', 'extauth: { disable: true }')}
`;
      const settings = settingsFor(place, names, COMMON);
      const gateway = await protect([shared, host, service.upstreams, settings].join('\n---\n'));
      gateways.set(place, gateway);
      expect(gateway.state('VirtualService', 'shop'), place).to.equal('Accepted');
    }
  });
  after(async () => {
    for (const gateway of gateways.values()) await gateway.close();
    await service?.close();
    steps?.close();
  });

  const routeOf = (name: string, option: string): string => `
      - matchers: [{ prefix: /${name} }]
        options: { ${option}, headerManipulation: { requestHeadersToAdd: [{ header: { key: x-plan, value: '%DYNAMIC_METADATA(envoy.filters.http.ext_authz:rule:reason:body:plan)%' } }] } }
        routeAction: { single: { upstream: { name: echo } } }`;

  for (const [name, { path, headers, body, status, text, returned, forwarded, places = PLACES }] of Object.entries(
    SCENARIOS,
  )) {
    for (const place of places) {
      it(`${name}: ${place}`, async () => {
        const answer: Answer = await gateways.get(place)!.ask(path, headers, body);
        expect(answer.status, answer.body).to.equal(status);
        if (text !== undefined) expect(answer.body).to.equal(text);
        for (const [header, value] of Object.entries(returned ?? {}))
          expect(answer.headers[header], header).to.deep.equal(value);
        if (!forwarded) return;
        const got = (JSON.parse(answer.body) as { headers: Record<string, string> }).headers;
        for (const [header, value] of Object.entries(forwarded)) expect(got[header], header).to.equal(value);
      });
    }
  }
});
