import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import type { OidcOptions } from '../../src/index.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { useBadWorld } from '../parts/bad-world.ts';

const cookies = { cookieOptions: { notSecure: true }, cookie: { allowRefreshing: true } };
const KINDS: Record<string, Partial<OidcOptions>> = { 'in a store': {}, 'in cookies': { session: cookies } };

describe('a provider that is looser than the specifications', () => {
  const world = useBadWorld();
  const loggedIn = async (): Promise<Browser> => {
    const browser = createBrowser();
    expect((await world.visit(browser)).status).to.equal(200);
    return browser;
  };

  for (const [name, change] of Object.entries<(answer: Record<string, unknown>) => Record<string, unknown>>({
    'null for members that it omits': (answer) => ({ ...answer, refresh_token: null, scope: null, expires_in: null }),
    'empty text for them': (answer) => ({ ...answer, refresh_token: '', scope: '', expires_in: '' }),
    'a lifetime as text': (answer) => ({ ...answer, expires_in: '3599' }),
  })) {
    it(`is accepted with ${name}`, async () => {
      world.protect();
      world.idp.token = (answer) => ({ body: change(answer) });
      const browser = await loggedIn();
      expect((await world.visit(browser)).hops.length).to.equal(1);
    });
  }

  it('is accepted with a token response of another content type', async () => {
    world.protect();
    world.idp.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      const { writeHead } = res;
      res.writeHead = ((status: number) => writeHead.call(res, status, { 'content-type': 'text/plain' })) as never;
      return false;
    };
    await loggedIn();
  });

  it('is rejected with null for the id token', async () => {
    world.protect();
    world.idp.token = (answer) => ({ body: { ...answer, id_token: null } });
    expect((await world.visit()).status).to.equal(502);
  });

  it('is accepted with an id token whose `azp` is null', async () => {
    world.protect();
    world.idp.claims = (claims) => ({ ...claims, azp: null });
    await loggedIn();
  });

  for (const listed of [undefined, null]) {
    it(`may sign with any public-key algorithm if its list of algorithms is ${listed}`, async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256');
      const jwk = { ...(await exportJWK(publicKey)), kid: 'ec', use: 'sig', alg: 'ES256' };
      world.idp.keys = () => ({ body: { keys: [jwk] } });
      world.idp.metadata = { id_token_signing_alg_values_supported: listed };
      let claims: JWTPayload = {};
      world.idp.claims = (each) => (claims = each);
      let token = '';
      world.idp.token = (answer) => ({ body: { ...answer, id_token: token } });
      world.protect();
      const { browser, url } = await world.atCallback();
      const now = Math.floor(Date.now() / 1000);
      claims = { iss: world.idp.issuer, sub: 'someone', aud: 'web', iat: now, exp: now + 600 };
      token = await new SignJWT({ ...claims, nonce: world.idp.last.get('nonce') })
        .setProtectedHeader({ alg: 'ES256', kid: 'ec' })
        .sign(privateKey);
      expect((await browser.visit(url)).status).to.equal(200);
    });
  }

  for (const [where, more] of Object.entries(KINDS)) {
    describe(`with sessions ${where}, at a renewal`, () => {
      const due = async (): Promise<Browser> => {
        world.protect(more);
        world.idp.token = (answer) => ({ body: { ...answer, refresh_token: 'r' } });
        const browser = await loggedIn();
        world.shift = 660_500;
        world.idp.claims = ({ nonce: _none, ...claims }) => ({
          ...claims,
          iat: claims.iat! + 660,
          exp: claims.exp! + 660,
        });
        return browser;
      };
      const ask = async (browser: Browser): Promise<Response> => browser.send(`${world.site.url}/a`);

      it('is accepted with null for the members that it omits', async () => {
        const browser = await due();
        const nothing = { refresh_token: null, id_token: null, scope: null, expires_in: null };
        world.idp.token = (answer) => ({ body: { ...answer, ...nothing } });
        expect((await ask(browser)).status).to.equal(200);
      });

      for (const [name, answer] of Object.entries<{ status?: number; body: unknown }>({
        'no access token': { body: { token_type: 'Bearer' } },
        'null for the access token': { body: { access_token: null, token_type: 'Bearer' } },
        'a type of token that nobody knows': { body: { access_token: 'a', token_type: 'odd' } },
        'a page': { body: '<html>' },
        'a list': { body: [] },
        'an error that is not about the grant': { status: 400, body: { error: 'invalid_request' } },
        'an error of the client': { status: 401, body: { error: 'invalid_client' } },
        'a status without a body': { status: 404, body: '' },
        'a garbled id token': { body: { access_token: 'a', token_type: 'Bearer', id_token: 'a.b.c' } },
      })) {
        it(`leads to one login with ${name}`, async () => {
          const browser = await due();
          world.idp.token = () => answer;
          expect((await ask(browser)).status).to.equal(302);
          world.idp.token = undefined;
          world.idp.claims = (claims) => ({ ...claims, iat: claims.iat! + 660, exp: claims.exp! + 660 });
          expect((await world.visit(browser)).status).to.equal(200);
          expect((await ask(browser)).status).to.equal(200);
        });
      }

      for (const status of [429, 500, 503]) {
        it(`keeps the session at a ${status}`, async () => {
          const browser = await due();
          const { token } = world.idp;
          world.idp.token = () => ({ status, body: { error: 'temporarily_unavailable' } });
          expect((await ask(browser)).status).to.equal(503);
          world.idp.token = token;
          world.shift += 3000;
          expect((await ask(browser)).status).to.equal(200);
        });
      }
    });
  }
});
