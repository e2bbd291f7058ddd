import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import type { Handler } from '@edge-gateway/core';
import { groupIds } from '../../../../test/parts/microsoft.ts';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { startBadProvider, type BadProvider } from '../parts/bad-provider.ts';
import { createBrowser } from '../parts/browser.ts';
import { startSite, type Site } from '../parts/site.ts';
import { BLOCK, SECRET, startCloud, type Cloud } from './harness.ts';

describe('a login of a user with very many groups', () => {
  let cloud: Cloud;
  let idp: BadProvider;
  let site: Site;
  let handlers: Handler[];
  beforeEach(async () => {
    [cloud, idp, site] = await Promise.all([startCloud(), startBadProvider(), startSite()]);
    handlers = [];
    const { oid, tid, _claim_names, _claim_sources } = cloud.claims();
    idp.claims = (claims) => ({ ...claims, oid, tid, _claim_names, _claim_sources });
  });
  afterEach(async () => {
    for (const handler of handlers) await handler.close?.();
    await Promise.all([cloud.close(), idp.close(), site.close()]);
  });

  /** Puts a login before the site, as a process of its own. */
  function protect(more: Partial<OidcOptions> = {}): void {
    const options: OidcOptions = {
      issuerUrl: idp.issuer,
      clientId: 'web',
      clientSecretRef: { name: 'web' },
      appUrl: site.url,
      callbackPath: '/callback',
      signingKey: 'a key that all processes of this test share',
      session: { cookieOptions: { notSecure: true } },
      identityToken: { claimsToHeaders: [{ claim: 'groups', header: 'x-groups' }] },
      azure: BLOCK,
      ...more,
    };
    const handler = oidc(options, cloud.context());
    handlers.push(handler);
    site.use(handler);
  }
  const groupsOf = (body: string, header = 'x-groups'): unknown => {
    const { headers } = JSON.parse(body) as { headers: Record<string, string> };
    return JSON.parse(Buffer.from(headers[header]!, 'base64').toString());
  };

  it('adds all groups as a header, and never forged ones', async () => {
    protect();
    const browser = createBrowser();
    const page = await browser.visit(`${site.url}/page`);
    expect(groupsOf(page.body)).to.deep.equal(groupIds(250));
    const forged = await browser.send(`${site.url}/page`, { headers: { 'x-groups': 'admins', x_groups: 'admins' } });
    const text = await forged.text();
    expect(groupsOf(text)).to.deep.equal(groupIds(250));
    expect(text).not.to.contain('admins');
    expect(cloud.microsoft.graphCalls).to.have.length(1);
  });

  it('adds those of the access token too, if its claims become headers', async () => {
    const { oid, iat, exp, _claim_names } = cloud.claims();
    const access = await idp.sign({ iss: idp.issuer, oid, iat, exp, _claim_names } as JWTPayload);
    idp.token = (answer) => ({ body: { ...answer, access_token: access } });
    protect({ accessToken: { claimsToHeaders: [{ claim: 'groups', header: 'x-access-groups' }] } });
    const { body } = await createBrowser().visit(`${site.url}/page`);
    expect(groupsOf(body, 'x-access-groups')).to.deep.equal(groupIds(250));
  });

  it('returns 503, and creates no session, while groups are unavailable', async () => {
    protect();
    cloud.microsoft.graph = () => ({ status: 403, body: { error: { code: 'Authorization_RequestDenied' } } });
    const browser = createBrowser();
    const refused = await browser.visit(`${site.url}/page`);
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(refused.body)
      .to.contain('ERR_OIDC_GROUPS_UNAVAILABLE')
      .and.contain('Try again')
      .and.not.match(/\b403\b|Denied/);
    expect(browser.cookie('id_token')).to.equal(undefined);
    expect(cloud.log).to.contain('403 Authorization_RequestDenied');
    expect(cloud.log).not.to.contain(SECRET).and.not.to.contain('the-app-token');
    expect(site.seen).to.have.length(0);
    cloud.microsoft.graph = () => ({ body: { value: ['a'] } });
    cloud.clock += 2000;
    expect(groupsOf((await browser.visit(`${site.url}/page`)).body)).to.deep.equal(['a']);
  });

  it('survives a restart; while Graph is unavailable it returns 503', async () => {
    protect();
    const browser = createBrowser();
    await browser.visit(`${site.url}/page`);
    protect();
    cloud.microsoft.graph = () => ({ status: 500 });
    const page = await browser.send(`${site.url}/page`);
    expect([page.status, page.headers.get('retry-after')]).to.deep.equal([503, '1']);
    const script = await browser.send(`${site.url}/api`, { headers: { 'sec-fetch-mode': 'cors' } });
    expect(script.status).to.equal(503);
    expect(await script.json()).to.include({ code: 'ERR_OIDC_GROUPS_UNAVAILABLE' });
    expect(site.seen).to.have.length(1);
    cloud.microsoft.graph = () => ({ body: { value: ['a'] } });
    cloud.clock += 2000;
    const again = await browser.send(`${site.url}/page`);
    expect(groupsOf(await again.text())).to.deep.equal(['a']);
  });

  it('makes no call if the token contains the groups, or `azure` is not set', async () => {
    protect({ azure: undefined, default: {} });
    const { body } = await createBrowser().visit(`${site.url}/page`);
    expect(JSON.parse(body).headers).not.to.have.property('x-groups');
    const complete = idp.claims;
    idp.claims = (claims) => ({ ...complete(claims), _claim_names: undefined, groups: ['own'] });
    protect();
    expect(groupsOf((await createBrowser().visit(`${site.url}/page`)).body)).to.deep.equal(['own']);
    expect(cloud.microsoft.tokenCalls).to.have.length(0);
  });
});
