import { asMiddleware, GatewayError, type Context, type Handler, type MiddlewareOptions } from '@edge-gateway/core';
import type { JwtProvider, JwtProviders } from '@edge-gateway/core/schema';
import { jwtConcern } from './jwt.ts';

/** A JWT provider: the block of a resource, with keys as plain values if needed. */
export interface JwtProviderOptions extends Omit<JwtProvider, 'jwks'> {
  /** The block of a resource; or a set of keys or one key (RFC 7517) as a value; or a text: a PEM public key, keys as JSON, or their URL. */
  readonly jwks?: JwtProvider['jwks'] | { readonly keys: readonly object[] } | { readonly kty: string } | string;
}

/** Options of {@link jwt}. */
export interface JwtOptions extends Omit<JwtProviders, 'providers'>, MiddlewareOptions {
  /** By name. One of them must accept the token. */
  readonly providers?: Readonly<Record<string, JwtProviderOptions>>;
}

const middleware = asMiddleware(jwtConcern, 'JwtProviders');

/**
 * Verifies JSON Web Tokens (RFC 7519) in your own server; `identityOf(req)` has the claims. Rejects with `ERR_RBAC_JWT` 401 or
 * `ERR_RBAC_JWT_AUDIENCE` 403, and `WWW-Authenticate` (RFC 6750 §3): see `onRefusal`. Throws `ERR_RBAC_KEYS` for invalid keys,
 * and `ERR_CORE_MIDDLEWARE` without providers. Makes no network call.
 *
 * @example
 * app.use(jwt({ providers: { main: { issuer: 'https://id.example.com', jwks: 'https://id.example.com/jwks' } } }));
 */
export function jwt(options: JwtOptions, context?: Context): Handler {
  if (typeof options !== 'object' || options === null) return middleware(options, context);
  const { providers } = options;
  const isMap = typeof providers === 'object' && providers !== null && !Array.isArray(providers);
  const blocks = isMap
    ? Object.fromEntries(Object.entries(providers).map(([name, provider]) => [name, providerOf(provider)]))
    : (providers as undefined);
  const handler = middleware({ ...options, providers: blocks }, context);
  // A resource without providers checks nothing; in a program this is a mistake.
  if (Object.keys(providers ?? {}).length === 0)
    throw new GatewayError('jwt: at least one provider is required', { code: 'ERR_CORE_MIDDLEWARE' });
  return handler;
}

function providerOf(provider: JwtProviderOptions): JwtProvider {
  // What is no object is left to the check of the options.
  return typeof provider === 'object' && provider !== null && 'jwks' in provider
    ? { ...provider, jwks: blockOf(provider.jwks) }
    : (provider as JwtProvider);
}

function blockOf(jwks: JwtProviderOptions['jwks']): JwtProvider['jwks'] {
  if (typeof jwks === 'string')
    return /^https?:\/\//i.test(jwks) ? { remote: { url: jwks } } : { local: { key: jwks } };
  if (typeof jwks === 'object' && jwks !== null && ('keys' in jwks || 'kty' in jwks))
    return { local: { key: JSON.stringify(jwks) } };
  return jwks as JwtProvider['jwks'];
}
