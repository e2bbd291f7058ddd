import { expect } from 'chai';
import { createContext, createLoggers } from '@edge-gateway/core';
import { oidc } from '../../src/index.ts';
import { createBrowser } from '../parts/browser.ts';
import { startBadProvider, type BadProvider } from '../parts/bad-provider.ts';
import { startSite, type Site } from '../parts/site.ts';

describe('an unusable key set', () => {
  let idp: BadProvider;
  let site: Site;
  beforeEach(async () => {
    idp = await startBadProvider();
    site = await startSite();
  });
  afterEach(async () => {
    await site.close();
    await idp.close();
  });

  it('is counted and logged once for each fetch', async () => {
    const lines: string[] = [];
    const log = createLoggers({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } });
    const context = createContext({ log });
    const options = { issuerUrl: idp.issuer, clientId: 'web', clientSecret: 'a-secret', appUrl: site.url };
    site.use(oidc({ ...options, callbackPath: '/callback', session: { cookieOptions: { notSecure: true } } }, context));
    idp.metadata = { jwks_uri: `${idp.issuer}/nothing` };
    expect((await createBrowser().visit(`${site.url}/page`)).status).to.equal(502);
    const name = 'envoy_http_ext_authz_jwks_fetch_failed';
    expect(await context.metrics.registry.metrics()).to.match(new RegExp(`^${name}\\S* 1$`, 'm'));
    const told = lines.filter((line) => line.includes('failed to fetch key set'));
    expect(told).to.have.length(1);
  });
});
