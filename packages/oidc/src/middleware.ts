import type { Store } from 'express-session';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  asMiddleware,
  createContext,
  factsOf,
  type AuthDenied,
  type AuthMethod,
  type Concern,
  type Context,
  type Handler,
} from '@edge-gateway/core';
import type { OidcAuthorizationCode, UserSession } from '@edge-gateway/core/schema';
import { assemble } from './assemble.ts';
import { requestFrom, sourceOf, withBody } from './auth-request.ts';
import { bySecret } from './provider/client-authentication.ts';
import { createRequestKeeper } from './session/request-keeper.ts';

/** Options of {@link oidc}: the block `oauth2.oidcAuthorizationCode` of an AuthConfig, and what a program can give itself. */
export interface OidcOptions extends Omit<OidcAuthorizationCode, 'session'> {
  /** The client's secret, in place of a reference to one. */
  readonly clientSecret?: string;
  /** Seals logins under way; the same in all processes. At least 32 random characters. Default: derived from a long client secret, else random. */
  readonly signingKey?: string;
  /** The block `session` of an AuthConfig, or `request`: logins live in the `req.session` of express-session. */
  readonly session?: UserSession | 'request';
  /** Any store of express-session. The browser gets a handle, the store encrypted sessions. */
  readonly store?: Store;
}

const concern: Concern<OidcOptions> = {
  name: 'oidc',
  option: 'oidcAuthorizationCode',
  stage: 'extAuth',
  compile: (options, context) => handlerOf(methodFrom(options, context)),
};

/**
 * Logs users in at an OpenID Connect provider: browsers without a session are sent there, scripts get 401. Requests
 * with a session go on with the headers that `headers`, `identityToken` and `accessToken` name; nothing else of `req`
 * changes. Throws `ERR_OIDC_CONFIG` or `ERR_OIDC_SECRET` for options that cannot be used; no call is made.
 *
 * @example
 * app.use(oidc({ issuerUrl, clientId, clientSecret, appUrl: 'https://app.example.com', callbackPath: '/callback' }));
 */
export function oidc(options: OidcOptions, context: Context = createContext()): Handler {
  return asMiddleware(concern)(options, context);
}

function methodFrom(options: OidcOptions, context: Context): AuthMethod {
  const { clientSecret, signingKey, store, session, ...block } = options;
  const id = `oidc/${options.issuerUrl}/${options.clientId}`;
  return assemble({
    id,
    context,
    block,
    store,
    signingKey,
    session: session === 'request' ? undefined : session,
    ...(session === 'request' && { keeper: createRequestKeeper(sourceOf, id), allowRefreshing: true }),
    ...(clientSecret !== undefined && { identified: bySecret(clientSecret) }),
  });
}

function handlerOf(method: AuthMethod): Handler {
  const handler: Handler = function oidcHandler(req, res, next) {
    authorize(method, req, res).then((allowed) => allowed && next(), next);
  };
  handler.close = () => method.close?.();
  return handler;
}

/** True when the request goes on; else it is answered. */
async function authorize(method: AuthMethod, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const asked = requestFrom(req);
  const request = await withBody(asked, method.bodyBytes?.(asked) ?? 0);
  const decision = await method.authorize(request);
  if (!decision.allowed) {
    refuse(res, decision);
    return false;
  }
  const facts = factsOf(req);
  facts.requestChanges.push(...(decision.requestChanges ?? []));
  facts.responseChanges.push(...(decision.responseChanges ?? []));
  return true;
}

function refuse(res: ServerResponse, { status, headers = [], body = '' }: AuthDenied): void {
  res.statusCode = status;
  for (let i = 0; i < headers.length; i += 2) res.appendHeader(headers[i]!, headers[i + 1]!);
  res.end(body);
}
