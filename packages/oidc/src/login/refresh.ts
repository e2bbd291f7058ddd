import type { AuthRequest } from '@edge-gateway/core';
import { codeOf, failure } from '../error-codes.ts';
import { claimsOf, toSession, type Session, type StoredSession } from '../session/session.ts';
import type { Login } from './login.ts';
import { checkTokens } from './check-tokens.ts';
import { extraParameters, sessionHeaderOf } from './parameters.ts';

/** Refreshes the tokens of a session, and checks the new ones. */
export async function refresh(login: Login, request: AuthRequest, stored: StoredSession): Promise<Session> {
  const { block, client, verifiedTokens, openid, settings, now, log } = login;
  const parameters = extraParameters(block, 'tokenEndpointQueryParams', request);
  const headers = sessionHeaderOf(settings, stored);
  const response = await client.refresh(stored.session.refreshToken!, { parameters, headers });
  const renewed = toSession(response, now(), stored.session);
  if (openid && response.id_token !== undefined)
    await checkTokens(login, renewed, { fresh: true }).catch((err: unknown) => {
      // The refresh token is used up, and the new token came from the provider over TLS (OpenID Connect Core 3.1.3.7).
      if (codeOf(err) === 'ERR_OIDC_TOKEN_INVALID') throw err;
      log.warn({ requestId: request.requestId, err }, 'accepting a refreshed id token without verifying its signature');
    });
  // OpenID Connect Core 12.2.
  if (openid && claimsOf(renewed.idToken)?.sub !== claimsOf(stored.session.idToken)?.sub)
    throw failure('ERR_OIDC_TOKEN_INVALID', 'the refreshed id token belongs to another user');
  // The old id token is bound to the old access token, so only this process knows that the new one is valid.
  if (openid && response.id_token === undefined) verifiedTokens.accept(renewed);
  return renewed;
}
