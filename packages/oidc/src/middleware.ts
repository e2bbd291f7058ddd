import type { Store } from 'express-session';
import type { IncomingMessage } from 'node:http';
import {
  asMiddleware,
  createContext,
  denialError,
  factsOf,
  identityFrom,
  withPage,
  type AuthMethod,
  type Concern,
  type Context,
  type GatewayError,
  type CookieTest,
  type Handler,
  type MiddlewareOptions,
  type Pages,
} from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import type { OidcAuthorizationCode, UserSession } from '@edge-gateway/core/schema';
import { assemble } from './login/assemble.ts';
import { codeOf, failure } from './error-codes.ts';
import { requestFrom, withBody } from './http/auth-request.ts';
import { bySecret } from './provider/client-authentication.ts';
import { ownCookies } from './session/cookie-names.ts';
import { createRequestStorage } from './session/request-storage.ts';

/** Options of {@link oidc}: those of `oauth2.oidcAuthorizationCode` in an AuthConfig, and values that a program passes directly. */
export interface OidcOptions extends Omit<OidcAuthorizationCode, 'session'> {
  /** The client's secret, instead of a reference to one. */
  readonly clientSecret?: string;
  /**
   * Encrypts logins in progress and binds tokens in cookies; the same in all processes. At least 32 random characters. Of a
   * list, the first key is used, and the others are accepted too. Default: derived from a long client secret, else random.
   */
  readonly signingKey?: string | readonly string[];
  /** The block `session` of an AuthConfig, optionally with a store; or `request` to keep logins in the `req.session` of express-session. */
  readonly session?: LoginSession | 'request';
}

/** Fields of `redis` that apply to every store. */
type OfStore = Pick<
  NonNullable<UserSession['redis']>,
  'cookieName' | 'allowRefreshing' | 'preExpiryBuffer' | 'targetDomain'
>;

/** The block `session` of an AuthConfig, or `store` with the fields of `redis` that apply to every store. */
export interface LoginSession extends UserSession, OfStore {
  /** Any express-session store. The browser holds a handle, the store encrypted sessions. */
  readonly store?: Store;
}

const isStore = (store: unknown): boolean => {
  const { get, set, destroy } = (store ?? {}) as Partial<Store>;
  return [get, set, destroy].every((each) => typeof each === 'function');
};
const ofRedis = (name: keyof OfStore) => f.fieldOf(f.UserSession, 'redis', name);
const session = {
  store: f.value<Store>((store) => (isStore(store) ? undefined : 'must be an express-session store')),
  cookieName: ofRedis('cookieName'),
  allowRefreshing: ofRedis('allowRefreshing'),
  preExpiryBuffer: ofRedis('preExpiryBuffer'),
  targetDomain: ofRedis('targetDomain'),
} satisfies Record<Exclude<keyof LoginSession, keyof UserSession>, f.Schema>;
const fields = {
  clientSecret: f.text(),
  signingKey: f.either(f.text(), f.texts('Keys.')),
  session: f.either(f.enumeration(['request']), f.extended(f.UserSession, session)),
} satisfies Record<Exclude<keyof OidcOptions, keyof Omit<OidcAuthorizationCode, 'session'>>, f.Schema>;

const concern: Concern<OidcOptions> = {
  name: 'oidc',
  option: 'oidcAuthorizationCode',
  stage: 'extAuth',
  compile(options, context) {
    const { clientSecret, signingKey, session: written, ...block } = options;
    const id = `oidc/${block.issuerUrl}/${block.clientId}`;
    const { store, session } = written === 'request' ? {} : sessionOf(written);
    const method = assemble({
      id,
      context,
      block,
      store,
      signingKey,
      session: session ?? {},
      ...(written === 'request' && { storage: createRequestStorage(id, context.now) }),
      ...(clientSecret !== undefined && { credentials: bySecret(clientSecret) }),
    });
    // The cookie of `req.session` is the application's own.
    const hidden = ownCookies({ session, inStore: store !== undefined, id });
    const warnOnce = createMountWarning(block, context);
    const handler: Handler = function oidcHandler(req, _res, next) {
      warnOnce(req);
      authorize(method, req, { issuer: block.issuerUrl ?? '', hidden, pages: context.pages }).then(next, next);
    };
    handler.close = () => method.close?.();
    return handler;
  },
};

const middleware = asMiddleware(concern, {
  schema: f.extended(f.OidcAuthorizationCode, fields),
  error: (message) => failure('ERR_OIDC_CONFIG', message),
});

/**
 * Creates a middleware that logs users in at an OpenID Connect provider: browsers without a session are redirected there, and
 * scripts get 401. Requests with a session continue with the headers that `headers`, `identityToken` and `accessToken` configure,
 * without the cookies of the login, and with the claims of the id token in `identityOf(req)`; nothing else of `req` changes. Throws `ERR_OIDC_CONFIG`
 * or `ERR_OIDC_SECRET` for invalid options. Makes no network call.
 *
 * @example
 * app.use(oidc({ issuerUrl, clientId, clientSecret, appUrl: 'https://app.example.com', callbackPath: '/callback' }));
 */
export function oidc(options: OidcOptions & MiddlewareOptions, context: Context = createContext()): Handler {
  try {
    return middleware(options, context);
  } catch (error) {
    const code = codeOf(error);
    const { message } = error as Error;
    if (code === undefined || message.startsWith('oidc: ')) throw error;
    throw failure(code, `oidc: ${message}`, error);
  }
}

/** Returns a function that warns once if the login is mounted below a path that the callback is not below. */
function createMountWarning(block: Omit<OidcOptions, 'session'>, context: Context): (req: IncomingMessage) => void {
  const { appUrl = '', callbackPath = '', parseCallbackPathAsRegex } = block;
  const callback = (URL.parse(appUrl)?.pathname ?? '').replace(/\/+$/, '') + callbackPath;
  let isDone = parseCallbackPathAsRegex === true;
  return (req) => {
    if (isDone) return;
    // Express sets it.
    const { baseUrl = '' } = req as IncomingMessage & { baseUrl?: string };
    if (baseUrl === '' || callback === baseUrl || callback.startsWith(`${baseUrl}/`)) return;
    isDone = true;
    context.log
      .get('ext_authz')
      .warn({ mounted: baseUrl, callback }, 'the callback of the login is outside the path at which it is mounted');
  };
}

/** Separates the store from the block. Throws `ERR_OIDC_CONFIG` if they contradict each other. */
function sessionOf(written: LoginSession = {}): { readonly store?: Store; readonly session?: UserSession } {
  const { store, cookieName, allowRefreshing, preExpiryBuffer, targetDomain, ...session } = written;
  const ofStore: OfStore = { cookieName, allowRefreshing, preExpiryBuffer, targetDomain };
  if (store === undefined) {
    const stray = Object.entries(ofStore).find(([, value]) => value !== undefined);
    if (stray) throw failure('ERR_OIDC_CONFIG', `session.${stray[0]} requires session.store`);
    return { session };
  }
  if (session.cookie || session.redis)
    throw failure('ERR_OIDC_CONFIG', 'session.store cannot be combined with session.cookie or session.redis');
  return { store, session: { ...session, redis: ofStore } };
}

interface Login {
  readonly issuer: string;
  /** Cookies that are not passed to later handlers. */
  readonly hidden: CookieTest;
  readonly pages: Pages;
}

/** Returns the error of a rejected request. */
async function authorize(
  method: AuthMethod,
  req: IncomingMessage,
  { issuer, hidden, pages }: Login,
): Promise<GatewayError | undefined> {
  const received = requestFrom(req);
  const request = await withBody(received, method.bodyBytes?.(received) ?? 0);
  const decision = await method.authorize(request);
  const facts = factsOf(req);
  if (!decision.allowed) return denialError(withPage(decision, pages, facts.requestId), facts, 'ERR_OIDC_LOGIN_FAILED');
  facts.requestChanges.push(...(decision.requestChanges ?? []));
  facts.responseChanges.push(...(decision.responseChanges ?? []));
  facts.hiddenCookies = hidden;
  facts.isGuarded = true;
  if (decision.claims) facts.identity = identityFrom(issuer, decision.claims);
  facts.logoutPath = decision.logoutPath;
  facts.isSessionOpen = decision.isSessionOpen;
  return undefined;
}
