import { expect } from 'chai';
import { protect, type Protected } from './protection.ts';

const SECRETS = `
apiVersion: v1
kind: Secret
metadata: { name: alice, namespace: gw-system, labels: { team: a } }
type: extauth.vendor.io/apikey
stringData: { api-key: k-1, plan: gold }
`;
const CONFIGS = `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: staff, namespace: gw-system }
spec:
  configs:
    - name: login
      basicAuth: { realm: staff, apr: { users: { alice: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } } }
    - name: key
      apiKeyAuth: { k8sSecretApikeyStorage: { labelSelector: { team: a } }, headersFromMetadataEntry: { x-plan: { name: plan } } }
  booleanExpr: login || key
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: keys, namespace: gw-system }
spec:
  configs: [{ apiKeyAuth: { k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: alice }] } } }]
`;
const HOST = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: staff, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: /open }]
        options: { extauth: { disable: true } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /keys-only }]
        options: { extauth: { configRef: { name: keys } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /shares }]
        routeAction:
          multi:
            destinations:
              - { weight: 1, destination: { upstream: { name: echo } }, options: { extauth: { disable: true } } }
      - matchers: [{ prefix: /text }]
        directResponseAction: { status: 200, body: hidden }
      - matchers: [{ prefix: /, headers: [{ name: x-plan, value: gold }] }]
        options: { prefixRewrite: /gold }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;
const settings = (spec: string): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: ${spec}
`;
const basic = { authorization: `Basic ${Buffer.from('alice:password').toString('base64')}` };
const key = { 'api-key': 'k-1' };

describe('external auth on routes', () => {
  let gateway: Protected;
  beforeEach(async () => {
    gateway = await protect([SECRETS, CONFIGS, HOST].join('---\n'));
  });
  afterEach(() => gateway.close());

  it('allows either method, and does not call the upstream before', async () => {
    expect((await gateway.ask('/')).status).to.equal(401);
    expect(gateway.reached()).to.equal(0);
    const login = await gateway.ask('/', { ...basic, 'x-user-id': 'root' });
    expect(JSON.parse(login.body).headers).to.include({ 'x-user-id': 'alice' });
    const keyed = await gateway.ask('/', key);
    expect(JSON.parse(keyed.body).headers).to.include({ 'x-user-id': 'alice', 'x-plan': 'gold' });
    expect(gateway.reached()).to.equal(2);
  });

  it('strips forged headers, also of requests that another method allowed', async () => {
    for (const name of ['x-plan', 'x_plan']) {
      const { body } = await gateway.ask('/', { ...basic, [name]: 'gold' });
      expect(JSON.parse(body).headers).not.to.have.any.keys('x-plan', 'x_plan');
    }
  });

  it('responds like the last method that denied, as text', async () => {
    const { headers, body } = await gateway.ask('/');
    expect(headers['www-authenticate']).to.equal('API key is missing or invalid');
    expect(body).to.equal('');
  });

  it('uses the block of the most specific level', async () => {
    expect((await gateway.ask('/open')).status).to.equal(200);
    expect((await gateway.ask('/shares')).status).to.equal(200);
    expect((await gateway.ask('/keys-only', basic)).status).to.equal(401);
    expect((await gateway.ask('/keys-only', key)).status).to.equal(200);
  });

  it('protects direct responses', async () => {
    expect((await gateway.ask('/text')).status).to.equal(401);
    expect(await gateway.ask('/text', key)).to.include({ status: 200, body: 'hidden' });
  });

  it('strips forged user headers on routes without external auth', async () => {
    for (const name of ['X-User-Id', 'x_user_id']) {
      const { body } = await gateway.ask('/open', { [name]: 'root' });
      expect(JSON.parse(body).headers).not.to.have.any.keys('x-user-id', 'x_user_id');
    }
  });

  it('forwards the body that it read, and rejects a longer one without a call', async () => {
    gateway.source.set(
      'settings',
      settings('{ extauth: { requestBody: { maxRequestBytes: 20 }, userIdHeader: x-who } }'),
    );
    const answer = await gateway.ask('/', key, 'hello');
    expect(JSON.parse(answer.body)).to.deep.include({ size: 5 });
    expect(JSON.parse(answer.body).headers).to.include({ 'x-who': 'alice' });
    expect(await gateway.ask('/', key, 'x'.repeat(21))).to.include({ status: 413, body: 'Payload Too Large' });
  });

  it('selects the route again by granted headers with clearRouteCache', async () => {
    expect(JSON.parse((await gateway.ask('/a', key)).body).path).to.equal('/a');
    gateway.source.set('settings', settings('{ extauth: { clearRouteCache: true } }'));
    expect(JSON.parse((await gateway.ask('/a', key)).body).path).to.equal('/golda');
    expect((await gateway.ask('/a')).status).to.equal(401);
  });

  it('accepts a new key and rejects a removed one immediately', async () => {
    gateway.source.set('resources', [SECRETS.replace('k-1', 'k-2'), CONFIGS, HOST].join('---\n'));
    expect((await gateway.ask('/', key)).status).to.equal(401);
    expect((await gateway.ask('/', { 'api-key': 'k-2' })).status).to.equal(200);
  });

  it('rejects references to a deleted AuthConfig, and keeps the last good version', async () => {
    gateway.source.set('resources', [SECRETS, HOST].join('---\n'));
    expect(gateway.state('VirtualService', 'shop')).to.equal('Rejected');
    expect((await gateway.ask('/')).status).to.equal(401);
    expect((await gateway.ask('/', basic)).status).to.equal(200);
  });

  it('never serves a route without its missing AuthConfig', async () => {
    const fresh = await protect(HOST);
    expect(fresh.state('VirtualService', 'shop')).to.equal('Rejected');
    expect((await fresh.ask('/')).status).to.equal(404);
    await fresh.close();
    const replaced = await protect(
      [HOST, settings('{ gw: { invalidConfigPolicy: { replaceInvalidRoutes: true } } }')].join('---\n'),
    );
    for (const path of ['/', '/keys-only', '/text'])
      expect((await replaced.ask(path)).status, path).to.be.oneOf([404, 500]);
    expect(replaced.reached()).to.equal(0);
    await replaced.close();
  });
});
