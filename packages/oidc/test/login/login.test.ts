import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { createBrowser } from '../parts/browser.ts';
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider, type IdentityProvider } from '../parts/identity-provider.ts';
import { startSite, type Site } from '../parts/site.ts';

describe('a login', () => {
  let site: Site;
  let idp: IdentityProvider;
  const options = (more: Partial<OidcOptions> = {}): OidcOptions => ({
    issuerUrl: idp.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    appUrl: site.url,
    callbackPath: '/callback',
    scopes: ['email'],
    headers: { idTokenHeader: 'jwt' },
    identityToken: { claimsToHeaders: [{ claim: 'email', header: 'x-email' }] },
    session: { redis: {}, cookieOptions: { notSecure: true } },
    ...more,
  });
  before(async () => {
    site = await startSite();
    idp = await startIdentityProvider({ redirectUris: [`${site.url}/callback`] });
  });
  after(async () => {
    await idp.close();
    await site.close();
  });

  it('redirects a browser to the provider and back to the requested page', async () => {
    site.use(oidc(options()));
    const browser = createBrowser();
    const seen = await browser.visit(`${site.url}/a/page?x=1`);
    expect(seen.status).to.equal(200);
    expect(seen.url).to.equal(`${site.url}/a/page?x=1`);
    const { headers } = JSON.parse(seen.body);
    expect(headers['x-email']).to.equal('admin@example.com');
    expect(headers.jwt).to.match(/^ey/);
    expect(browser.cookie('__session')).to.match(/^[\w-]{43}$/);
  });

  it('that took longer than 10 minutes returns a page with the reason and a link to the requested page', async () => {
    let lateMs = 0;
    site.use(oidc(options(), createContext({ now: () => Date.now() + lateMs })));
    const browser = createBrowser();
    const stopAt = (url: string): boolean => url.includes('/callback?');
    const { url } = await browser.visit(`${site.url}/a/page?x=1`, { stopAt });
    lateMs = 601_000;
    const { status, body } = await browser.visit(url);
    expect(status).to.equal(400);
    expect(body)
      .to.include('The login took too long; start again.')
      .and.include(`href="${site.url}/a/page?x=1"`)
      .and.include('ERR_OIDC_LOGIN_FAILED');
  });

  it('ends the previous session of the browser', async () => {
    site.use(oidc(options()));
    const browser = createBrowser();
    await browser.visit(`${site.url}/a`);
    const cookie = `__session=${browser.cookie('__session')}`;
    const stopAt = (url: string): boolean => url.includes('/callback?');
    const tab = createBrowser();
    const { url } = await tab.visit(`${site.url}/a`, { stopAt });
    for (const [key, each] of browser.jar) if (each.name === '__session') tab.jar.set(key, each);
    expect((await tab.visit(url)).status).to.equal(200);
    expect((await createBrowser().send(`${site.url}/a`, { headers: { cookie } })).status).to.equal(302);
  });

  it('keeps tokens in cookies if no store is configured', async () => {
    site.use(oidc(options({ session: { cookieOptions: { notSecure: true } } })));
    const browser = createBrowser();
    const seen = await browser.visit(`${site.url}/a`);
    expect(seen.status, seen.body).to.equal(200);
    expect(browser.cookie('id_token')).to.match(/^ey/);
    expect(browser.cookie('access_token')).to.be.a('string');
  });
});
