import { expect } from 'chai';
import type { Context, SecretValue } from '@edge-gateway/core';
import type { OidcOptions } from '../../src/index.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { useBadWorld } from '../parts/bad-world.ts';

const SECRET: SecretValue = {
  type: 'extauth.vendor.io/oauth',
  data: { 'client-secret': Buffer.from('of the secret').toString('base64') },
};
const secrets: Context['secrets'] = { get: ({ name }) => (name === 'web' ? SECRET : undefined) };
const clientSecretRef = { name: 'web', namespace: 'gw-system' };
const BASIC = `Basic ${Buffer.from('web:of+the+secret').toString('base64')}`;

/** Each field of a login, by what would not be so if it were ignored. */
describe('the field', () => {
  const world = useBadWorld();
  beforeEach(() => {
    world.idp.paths.length = 0;
  });

  async function logIn(more: Partial<OidcOptions>, context: Partial<Context> = {}): Promise<Browser> {
    world.protect(more, context);
    const browser = createBrowser();
    const { status, body } = await world.visit(browser);
    expect(status, body).to.equal(200);
    return browser;
  }
  /** Headers that the application gets. */
  const headersOf = async (browser: Browser): Promise<Record<string, string>> => {
    const answer = await browser.send(`${world.site.url}/a`);
    return ((await answer.json()) as { headers: Record<string, string> }).headers;
  };
  const LISTS = 'login requests something that the provider does not list';
  const asked = (): unknown => world.log.find(({ msg }) => msg === LISTS)?.asked;

  describe('clientAuthentication', () => {
    it('clientId names the client at both endpoints', async () => {
      world.idp.claims = (claims) => ({ ...claims, aud: 'other-client' });
      await logIn({ clientId: 'other-client', clientSecret: 'x' });
      expect(world.idp.last.get('client_id')).to.equal('other-client');
    });

    it('clientSecret.clientSecretRef selects the secret', async () => {
      const more = { clientSecret: undefined, clientAuthentication: { clientSecret: { clientSecretRef } } };
      await logIn(more, { secrets });
      expect(world.idp.tokenHeaders.authorization).to.equal(BASIC);
    });

    it('clientSecretRef selects the secret', async () => {
      await logIn({ clientSecret: undefined, clientSecretRef }, { secrets });
      expect(world.idp.tokenHeaders.authorization).to.equal(BASIC);
    });

    for (const [name, more] of Object.entries({
      'clientSecret.disableClientSecret': { clientAuthentication: { clientSecret: { disableClientSecret: true } } },
      disableClientSecret: { disableClientSecret: true },
    })) {
      it(`${name} sends none`, async () => {
        await logIn({ clientSecret: undefined, ...more });
        expect(world.idp.tokenHeaders).to.not.have.property('authorization');
        expect(world.idp.tokenRequest.get('client_id')).to.equal('web');
        expect(world.idp.tokenRequest.has('client_secret')).to.equal(false);
      });
    }
  });

  describe('discoveryOverride', () => {
    it('authEndpoint, tokenEndpoint and jwksUri take the place of what is discovered', async () => {
      const at = `${world.idp.issuer}/2`;
      const discoveryOverride = {
        authEndpoint: `${at}/authorize`,
        tokenEndpoint: `${at}/token`,
        jwksUri: `${at}/jwks`,
      };
      await logIn({ discoveryOverride });
      expect(world.idp.paths).to.include.members(['/2/authorize', '/2/token', '/2/jwks']);
      expect(world.idp.paths).to.not.include.members(['/authorize']).and.not.include.members(['/token']);
    });

    it('revocationEndpoint receives the revocations of a logout', async () => {
      const browser = await logIn({ discoveryOverride: { revocationEndpoint: `${world.idp.issuer}/revoke-here` } });
      await browser.send(`${world.site.url}/logout`);
      expect(world.idp.paths).to.include('/revoke-here');
    });

    it('endSessionEndpoint is the target of a logout', async () => {
      const browser = await logIn({ discoveryOverride: { endSessionEndpoint: `${world.idp.issuer}/end-here` } });
      const answer = await browser.send(`${world.site.url}/logout`);
      expect(answer.headers.get('location')).to.contain(`${world.idp.issuer}/end-here?`);
    });

    it('idTokenAlgs are the accepted algorithms', async () => {
      world.protect({ discoveryOverride: { idTokenAlgs: ['ES256'] } });
      expect((await world.visit()).status).to.be.oneOf([403, 502]);
    });

    it('authMethods decide how the secret is sent', async () => {
      await logIn({ discoveryOverride: { authMethods: ['client_secret_post'] } });
      expect(world.idp.tokenRequest.get('client_secret')).to.be.a('string');
      expect(world.idp.tokenHeaders).to.not.have.property('authorization');
    });

    it('scopes, responseTypes and claims are compared with the requested ones, and unlisted ones are logged', async () => {
      const wanted = {
        scopes: ['email', 'odd'],
        identityToken: { claimsToHeaders: [{ claim: 'sub', header: 'x-sub' }] },
      };
      await logIn({ ...wanted, discoveryOverride: { scopes: ['email'], responseTypes: ['id_token'], claims: ['x'] } });
      expect(asked()).to.deep.equal(['response type code', 'scope odd', 'claim sub']);
      await logIn({
        ...wanted,
        discoveryOverride: { scopes: ['email', 'odd'], responseTypes: ['code'], claims: ['sub'] },
      });
      expect(asked()).to.equal(undefined);
    });
  });

  it('jwksCacheRefreshPolicy.always reads the key set for a key that is not in it', async () => {
    const calls = world.idp.keyCalls;
    await logIn({ jwksCacheRefreshPolicy: { always: {} } });
    await world.idp.rotate();
    expect((await world.visit()).status).to.equal(200);
    expect(world.idp.keyCalls - calls).to.equal(2);
  });

  it('scopes are requested in addition to openid, once each', async () => {
    await logIn({ scopes: ['email', 'openid', 'email', 'groups'] });
    expect(world.idp.last.get('scope')).to.equal('openid email groups');
  });

  it('authEndpointQueryParams and tokenEndpointQueryParams go to their endpoint only', async () => {
    await logIn({ authEndpointQueryParams: { prompt: 'login' }, tokenEndpointQueryParams: { audience: 'api' } });
    expect(world.idp.last.get('prompt')).to.equal('login');
    expect(world.idp.last.has('audience')).to.equal(false);
    expect(world.idp.tokenRequest.get('audience')).to.equal('api');
    expect(world.idp.tokenRequest.has('prompt')).to.equal(false);
  });

  it('afterLogoutUrl is the final page of a logout; default: appUrl', async () => {
    for (const [afterLogoutUrl, expected] of [
      [`${world.site.url}/bye`, `${world.site.url}/bye`],
      [undefined, `${world.site.url}/`],
    ] as const) {
      const browser = await logIn({ afterLogoutUrl });
      const answer = await browser.send(`${world.site.url}/logout`);
      expect(answer.headers.get('location')).to.equal(expected);
    }
  });

  it('logoutPath is not handled if it is not set', async () => {
    const browser = await logIn({ logoutPath: undefined });
    expect((await browser.send(`${world.site.url}/logout`)).status).to.equal(200);
    expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
  });

  describe('headers', () => {
    it('idTokenHeader and accessTokenHeader carry the tokens', async () => {
      const browser = await logIn({ headers: { idTokenHeader: 'x-id', accessTokenHeader: 'x-access' } });
      const headers = await headersOf(browser);
      expect(headers['x-id']).to.match(/^eyJ/);
      expect(headers['x-access']).to.equal('opaque');
    });

    it('useBearerSchemaForAuthorization puts `Bearer ` before the access token', async () => {
      const headers = { accessTokenHeader: 'authorization', useBearerSchemaForAuthorization: true };
      expect((await headersOf(await logIn({ headers }))).authorization).to.equal('Bearer opaque');
    });
  });

  it('identityToken.claimsToHeaders sets a header, or with `append` adds to it', async () => {
    world.idp.claims = (claims) => ({ ...claims, roles: 'admin' });
    const rules = [
      { claim: 'sub', header: 'x-who' },
      { claim: 'roles', header: 'x-who', append: true },
    ];
    const headers = await headersOf(await logIn({ identityToken: { claimsToHeaders: rules } }));
    expect(headers['x-who']).to.match(/^someone, ?admin$/);
  });

  it('accessToken.claimsToHeaders reads claims of an access token that is a JWT', async () => {
    const token = await world.idp.sign({ iss: world.idp.issuer, sub: 'x', tenant: 'blue', exp: 4_000_000_000 });
    world.idp.token = (answer) => ({ body: { ...answer, access_token: token } });
    const accessToken = { claimsToHeaders: [{ claim: 'tenant', header: 'x-tenant' }] };
    expect((await headersOf(await logIn({ accessToken })))['x-tenant']).to.equal('blue');
  });

  it('jwksCacheRefreshPolicy.maxIdpReqPerPollingInterval bounds that', async () => {
    await logIn({ jwksCacheRefreshPolicy: { maxIdpReqPerPollingInterval: 0 } });
    await world.idp.rotate();
    expect((await world.visit()).status).to.equal(403);
  });
});
