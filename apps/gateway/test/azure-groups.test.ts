import { expect } from 'chai';
import { startBadProvider, type BadProvider } from '../../../packages/oidc/test/parts/bad-provider.ts';
import { startMicrosoft, type Microsoft } from '../../../test/parts/microsoft.ts';
import { protect, type Answer, type Protected } from './protection.ts';

const TENANT = '8d5d1d5c-2f0b-4c8d-9a0f-0a3a4f1d2b11';
const MANY = { oid: '1111aaaa-2222-4bbb-8ccc-333344445555', tid: TENANT, _claim_names: { groups: 'src1' } };
const AZURE = `azure: { clientId: reader, tenantId: ${TENANT}, clientSecret: { name: graph } }`;
const TEAMS = `{{ dynamic_metadata("config_0:groups", "envoy.filters.http.ext_authz") }}`;

/** A host with a login on all paths but one, where access tokens are taken. */
const resources = (issuer: string): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options:
      stagedTransformations:
        regular:
          requestTransforms:
            - requestTransformation:
                transformationTemplate:
                  passthrough: {}
                  headers: { x-teams: { text: '${TEAMS}' } }
    routes:
      - matchers: [{ prefix: /api }]
        options: { extauth: { configRef: { name: api } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: / }]
        options: { extauth: { configRef: { name: login } } }
        routeAction: { single: { upstream: { name: echo } } }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login, namespace: gw-system }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          clientId: web
          clientSecretRef: { name: client }
          issuerUrl: ${issuer}
          appUrl: http://app.example.com
          callbackPath: /callback
          session: { cookieOptions: { notSecure: true } }
          identityToken: { claimsToHeaders: [{ claim: groups, header: x-groups }] }
          dynamicMetadataFromClaims: { groups: groups }
          ${AZURE}
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: api, namespace: gw-system }
spec:
  configs:
    - oauth2:
        accessTokenValidation:
          jwt: { remoteJwks: { url: ${issuer}/jwks } }
          claimsToHeaders: [{ claim: groups, header: x-groups }]
          dynamicMetadataFromClaims: { groups: groups }
          ${AZURE}
---
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { extauth: { requestTimeout: 10s, statusOnError: 503 } }
---
apiVersion: v1
kind: Secret
metadata: { name: client, namespace: gw-system }
type: extauth.vendor.io/oauth
stringData: { client-secret: the secret of the client }
---
apiVersion: v1
kind: Secret
metadata: { name: graph, namespace: gw-system }
type: extauth.vendor.io/oauth
stringData: { client-secret: the secret of the reader }
`;

describe('routes for users with very many groups', () => {
  let gateway: Protected;
  let idp: BadProvider;
  let microsoft: Microsoft;
  let bearer: { authorization: string };
  beforeEach(async () => {
    [idp, microsoft] = await Promise.all([startBadProvider(), startMicrosoft()]);
    idp.claims = (claims) => ({ ...claims, ...MANY });
    microsoft.graph = () => ({ body: { value: ['team-a', 'team-b'] } });
    const iat = Math.floor(Date.now() / 1000);
    bearer = { authorization: `Bearer ${await idp.sign({ ...MANY, iat, exp: iat + 600 })}` };
    gateway = await protect(resources(idp.issuer), '', { azure: microsoft.addresses });
    expect(gateway.state('AuthConfig', 'login')).to.equal('Accepted');
    expect(gateway.state('AuthConfig', 'api')).to.equal('Accepted');
    expect(gateway.state('VirtualService', 'shop')).to.equal('Accepted');
  });
  afterEach(() => Promise.all([gateway.close(), idp.close(), microsoft.close()]));

  const cookiesOf = ({ headers }: Answer): string =>
    (headers['set-cookie'] ?? [])
      .map((cookie) => cookie.split(';', 1)[0]!)
      .filter((cookie) => !cookie.endsWith('='))
      .join('; ');
  /** Goes through the login up to the callback. */
  async function logIn(): Promise<Answer> {
    const begun = await gateway.ask('/page');
    expect(begun.status).to.equal(302);
    const sent = await fetch(begun.headers.location!, { redirect: 'manual' });
    const back = new URL(sent.headers.get('location')!);
    return gateway.ask(back.pathname + back.search, { cookie: cookiesOf(begun) });
  }
  const seen = ({ status, body }: Answer): Record<string, string> => {
    expect(status, body).to.equal(200);
    return (JSON.parse(body) as { headers: Record<string, string> }).headers;
  };
  const GRANTED = {
    'x-groups': Buffer.from('["team-a","team-b"]').toString('base64'),
    'x-teams': '["team-a","team-b"]',
  };

  it('set headers and metadata to the groups of a login', async () => {
    const done = await logIn();
    expect(done.status).to.equal(302);
    const cookie = cookiesOf(done);
    expect(seen(await gateway.ask('/page', { cookie, 'x-groups': 'admins' }))).to.include(GRANTED);
    await gateway.ask('/page', { cookie });
    expect(microsoft.graphCalls).to.have.length(1);
  });

  it('set headers and metadata to the groups of an access token', async () => {
    expect(seen(await gateway.ask('/api', { ...bearer, 'x-groups': 'admins' }))).to.include(GRANTED);
    await gateway.ask('/api', bearer);
    expect(microsoft.graphCalls).to.have.length(1);
  });

  it('return 503 to both while the groups cannot be read', async () => {
    microsoft.graph = () => ({ status: 429, headers: { 'retry-after': '1' } });
    expect(await logIn()).to.include({ status: 503 });
    expect(await gateway.ask('/api', bearer)).to.include({ status: 503, body: '' });
    expect(gateway.reached()).to.equal(0);
  });
});
