import { expect } from 'chai';
import { protect, type Protected } from './protection.ts';

const login = (name: string, session: string): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: ${name}, namespace: gw-system }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          appUrl: https://shop.example.com
          callbackPath: /callback
          clientId: c
          clientSecretRef: { name: client }
          issuerUrl: https://id.example.com
          session: ${session}
`;

const RESOURCES = [
  `
apiVersion: v1
kind: Secret
metadata: { name: client, namespace: gw-system }
type: extauth.vendor.io/oauth
stringData: { client-secret: s }
`,
  `
apiVersion: v1
kind: Secret
metadata: { name: alice, namespace: gw-system }
type: extauth.vendor.io/apikey
stringData: { api-key: k-1 }
`,
  `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: keys, namespace: gw-system }
spec: { configs: [{ apiKeyAuth: { k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: alice }] } } }] }
`,
  login('store', '{ redis: {} }'),
  login('named', '{ redis: { cookieName: sid } }'),
  login('tokens', '{ cookie: { keyPrefix: app } }'),
  login('forwarding', '{ redis: { cookieName: forwarded }, forwardCookies: true }'),
  `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: [shop.example.com]
    routes:
      - matchers: [{ prefix: /partners }]
        options: { extauth: { configRef: { name: keys } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /early }]
        options:
          extauth: { disable: true }
          stagedTransformations:
            early:
              requestTransforms:
                - requestTransformation:
                    transformationTemplate:
                      passthrough: {}
                      extractors:
                        token: { header: cookie, regex: '(?:.*; *)?app_id_token=([^;]*)(?:;.*)?', subgroup: 1 }
                      headers: { jwt: { text: '{{ token }}' } }
        routeAction: { single: { upstream: { name: echo } } }
${['store', 'named', 'tokens', 'forwarding']
  .map(
    (name) => `
      - matchers: [{ prefix: /${name} }]
        options: { extauth: { configRef: { name: ${name} } } }
        routeAction: { single: { upstream: { name: echo } } }`,
  )
  .join('')}
      - matchers: [{ prefix: / }]
        options: { extauth: { disable: true } }
        routeAction: { single: { upstream: { name: echo } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: other, namespace: gw-system }
spec:
  virtualHost:
    domains: [other.example.com]
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`,
].join('---');

const OWN = [
  '__Host-__session=a',
  'sid=b',
  'app_id_token=c',
  'app_id_token_1=d',
  'app_access_token=e',
  'app_refresh_token=f',
  '__Host-app_token_mac=g',
  '__Host-login_abcdef_tl1x2y_abcdefgh=h',
  '__Host-login_rounds_abcdef=1',
];
const ALL = ['theme=dark', ...OWN, 'forwarded=i', 'lang=de'].join('; ');

describe('the cookies of a login', () => {
  let gateway: Protected;
  before(async () => {
    gateway = await protect(RESOURCES);
  });
  after(() => gateway.close());

  async function upstreamSaw(path: string, more: Record<string, string> = {}): Promise<Record<string, string>> {
    const headers = { host: 'shop.example.com', cookie: ALL, 'api-key': 'k-1', ...more };
    const { status, body } = await gateway.ask(path, headers);
    expect(status).to.equal(200);
    return (JSON.parse(body) as { headers: Record<string, string> }).headers;
  }

  it('reach no upstream of the virtual host, also on routes without or with another AuthConfig', async () => {
    for (const path of ['/open', '/partners'])
      expect((await upstreamSaw(path)).cookie, path).to.equal('theme=dark; forwarded=i; lang=de');
  });

  it('leave no empty cookie header', async () => {
    expect(await upstreamSaw('/open', { cookie: OWN.join('; ') })).to.not.have.property('cookie');
  });

  it('can be read by transformations', async () => {
    const seen = await upstreamSaw('/early');
    expect(seen).to.include({ jwt: 'c', cookie: 'theme=dark; forwarded=i; lang=de' });
  });

  it('are forwarded on virtual hosts without a login', async () => {
    expect((await upstreamSaw('/', { host: 'other.example.com' })).cookie).to.equal(ALL);
  });
});
