import * as client from 'openid-client';
import { GatewayError, type UrlTrust } from '@edge-gateway/core';
import { failure } from '../error-codes.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { limitedFetch, type FetchOptions } from './limited-fetch.ts';
import type { Provider } from './provider.ts';
import { CLOCK_SKEW_SECONDS } from './verify.ts';

export type TokenResponse = client.TokenEndpointResponse;

/** The calls of a login to its provider. Each rejects with an error of this package's table. */
export interface ProviderClient {
  authorizationUrl(parameters: Record<string, string>): Promise<URL>;
  exchange(callback: CodeCallback): Promise<TokenResponse>;
  refresh(refreshToken: string, call: TokenCall): Promise<TokenResponse>;
  /** Does nothing if the provider has no revocation endpoint. */
  revoke(token: string): Promise<void>;
}

export interface TokenCall {
  readonly parameters: Record<string, string>;
  readonly headers: Record<string, string>;
}

export interface CodeCallback extends TokenCall {
  /** The redirect URI with the parameters of the provider. */
  readonly url: URL;
  readonly state: string;
  /** Missing for plain OAuth 2. */
  readonly nonce: string | undefined;
  readonly verifier: string;
}

export interface ClientParts {
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  readonly provider: Provider;
  readonly trust: UrlTrust;
  readonly now: () => number;
}

/** Creates the calls of one client; `openid-client` validates the responses. */
export function createProviderClient(parts: ClientParts): ProviderClient {
  const { clientId, authentication, provider, trust, now } = parts;
  const openid = provider.keys !== undefined;

  async function configuration(headers: Record<string, string> = {}): Promise<client.Configuration> {
    const metadata = await provider.metadata();
    const skew = Math.round((now() - Date.now()) / 1000);
    const options = { [client.clockTolerance]: CLOCK_SKEW_SECONDS, [client.clockSkew]: skew };
    const made = new client.Configuration(metadata, clientId, options, await authentication(metadata));
    made[client.customFetch] = async (url, init) => {
      const added = { ...init, ...trust, headers: { ...init.headers, ...headers } } as FetchOptions;
      const response = await limitedFetch(url, added);
      return withoutAbsent(response, openid);
    };
    client.allowInsecureRequests(made);
    return made;
  }

  return {
    async authorizationUrl(parameters) {
      return client.buildAuthorizationUrl(await configuration(), parameters);
    },
    async exchange({ url, state, nonce, verifier, parameters, headers }) {
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: openid,
      };
      if (!openid) url.searchParams.delete('iss');
      return client.authorizationCodeGrant(await configuration(headers), url, checks, parameters).catch(rethrow);
    },
    async refresh(refreshToken, { parameters, headers }) {
      return client.refreshTokenGrant(await configuration(headers), refreshToken, parameters).catch(rethrow);
    },
    async revoke(token) {
      const made = await configuration();
      if (!made.serverMetadata().revocation_endpoint) return;
      await client.tokenRevocation(made, token).catch(rethrow);
    },
  };
}

/**
 * Returns a response of the token endpoint as `openid-client` reads it: members that are null or empty are absent, as is the id
 * token in plain OAuth 2, which does not use it. A JSON object is read whatever its content type.
 */
async function withoutAbsent(response: Response, openid: boolean): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return response;
  const present = Object.entries(body).filter(
    ([name, value]) => value !== null && value !== '' && (openid || name !== 'id_token'),
  );
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify(Object.fromEntries(present)), { status: response.status, headers });
}

function rethrow(error: unknown): never {
  throw asFailure(error);
}

function asFailure(error: unknown): GatewayError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof GatewayError) return cause;
  }
  if (error instanceof client.AuthorizationResponseError)
    return failure('ERR_OIDC_LOGIN_FAILED', `the provider responded with ${readable(error.error)}`, error);
  if (error instanceof client.ResponseBodyError) return ofTokenError(error);
  const { code, cause } = error as { code?: string; cause?: unknown };
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED' || code === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED')
    return failure('ERR_OIDC_TOKEN_INVALID', 'unexpected claim in the id token', error);
  if (cause instanceof Response && isOutage(cause.status))
    return failure('ERR_OIDC_PROVIDER_UNAVAILABLE', `the provider responded with ${cause.status}`, error);
  return failure('ERR_OIDC_PROVIDER_ANSWER', (error as Error).message, error);
}

function ofTokenError(error: client.ResponseBodyError): GatewayError {
  const hint = error.error === 'invalid_client' ? ': check clientId and the client secret' : '';
  const text = `the provider responded with ${error.status} ${readable(error.error)}${hint}`;
  if (isOutage(error.status)) return failure('ERR_OIDC_PROVIDER_UNAVAILABLE', text, error);
  return failure(error.error === 'invalid_grant' ? 'ERR_OIDC_GRANT_REFUSED' : 'ERR_OIDC_PROVIDER_ANSWER', text, error);
}

/** Returns true for a status that says that a later call may succeed. */
const isOutage = (status: number): boolean => status >= 500 || status === 429 || status === 408;

/** Returns an error for logs: only characters that RFC 6749 allows, and few of them. */
function readable(error: string): string {
  return error.replaceAll(/[^\w.:/-]/g, '_').slice(0, 60);
}
