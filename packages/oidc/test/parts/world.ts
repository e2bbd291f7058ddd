import type { Handler } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
  type IdentityProvider,
  type ProviderTimes,
} from './identity-provider.ts';
import { startSite, type Site } from './site.ts';

/** A site and its identity provider. */
export interface World {
  readonly site: Site;
  readonly idp: IdentityProvider;
  /** Options of a login at that provider, with sessions in the embedded store. */
  options(more?: Partial<OidcOptions>): OidcOptions;
  /** Puts a login before the site. */
  protect(more?: Partial<OidcOptions>): Handler;
  close(): Promise<void>;
}

export async function startWorld(parts: { times?: ProviderTimes } = {}): Promise<World> {
  const site = await startSite();
  const idp = await startIdentityProvider({
    redirectUris: [`${site.url}/callback`],
    postLogout: [`${site.url}/bye`],
    backChannel: `${site.url}/channel`,
    times: parts.times,
  });
  const handlers: Handler[] = [];
  const options = (more: Partial<OidcOptions> = {}): OidcOptions => ({
    issuerUrl: idp.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    appUrl: site.url,
    callbackPath: '/callback',
    logoutPath: '/logout',
    afterLogoutUrl: `${site.url}/bye`,
    frontChannelLogout: { path: '/channel' },
    scopes: ['email'],
    headers: { idTokenHeader: 'jwt', accessTokenHeader: 'x-access' },
    identityToken: { claimsToHeaders: [{ claim: 'email', header: 'x-email' }] },
    session: { redis: {}, cookieOptions: { notSecure: true } },
    ...more,
  });
  return {
    site,
    idp,
    options,
    protect(more) {
      const handler = oidc(options(more));
      handlers.push(handler);
      site.use(handler);
      return handler;
    },
    async close() {
      for (const handler of handlers) await handler.close?.();
      await idp.close();
      await site.close();
    },
  };
}
