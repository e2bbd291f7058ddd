import type { AuthMethodKind } from '@edge-gateway/core';
import type { OidcAuthorizationCode, PlainOauth2 } from '@edge-gateway/core/schema';
import { assemble } from './login/assemble.ts';
import { failure } from './error-codes.ts';
import { grantedHeaders } from './http/login-headers.ts';
import { ownCookies } from './session/cookie-names.ts';

/**
 * OpenID Connect login as a step of an AuthConfig: authorization code flow with PKCE, sessions in cookies or Redis.
 * `create` throws `ERR_OIDC_CONFIG` or `ERR_OIDC_SECRET`.
 */
export const oidcMethod: AuthMethodKind<OidcAuthorizationCode> = {
  type: 'oauth2.oidcAuthorizationCode',
  grantedHeaders,
  hiddenCookies: ({ session = {} }) => ownCookies({ session }),
  create: (block, { id, context }) => assemble({ id, context, block, session: block.session ?? {} }),
};

/** Plain OAuth 2 login as a step of an AuthConfig: like {@link oidcMethod}, without discovery and id tokens. */
export const oauth2Method: AuthMethodKind<PlainOauth2> = {
  type: 'oauth2.oauth2',
  grantedHeaders,
  hiddenCookies: ({ session = {} }) => ownCookies({ session }),
  create(block, { id, context }) {
    const { authEndpoint, tokenEndpoint, revocationEndpoint } = block;
    if (!authEndpoint || !tokenEndpoint)
      throw failure('ERR_OIDC_CONFIG', 'authEndpoint and tokenEndpoint are required');
    const endpoints = { auth: authEndpoint, token: tokenEndpoint, revocation: revocationEndpoint };
    return assemble({ id, context, block, endpoints, session: block.session ?? {} });
  },
};
