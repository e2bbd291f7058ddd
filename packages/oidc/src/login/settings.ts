import type { SessionStore } from '../session/local-store.ts';
import { compileRegex, cookieNameProblem, createLoginPaths } from '@edge-gateway/core';
import type { OidcAuthorizationCode, UserSession } from '@edge-gateway/core/schema';
import { failure } from '../error-codes.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import { identify, type ClientCredentials } from '../provider/client-authentication.ts';
import type { SessionStorage } from '../session/session.ts';
import { stateKeysOf, type KeyParts } from './keys.ts';

const DEFAULT_MAX_AGE_SECONDS = 2_592_000;

/** The options of a login: of OpenID Connect, or of plain OAuth 2, which has a subset of the fields. */
export type LoginBlock = Partial<OidcAuthorizationCode>;

/** Endpoints of plain OAuth 2. */
export interface OAuthEndpoints {
  readonly auth: string;
  readonly token: string;
  readonly revocation: string | undefined;
}

/** The input of a login. */
export interface LoginParts extends KeyParts {
  readonly id: string;
  readonly block: LoginBlock;
  /** Without them, the provider is discovered from its issuer URL. */
  readonly endpoints?: OAuthEndpoints;
  /** Sessions in a store that a program passes, instead of Redis. */
  readonly store?: SessionStore | undefined;
  /** Replaces the storage that `session` describes. */
  readonly storage?: SessionStorage;
  /** Credentials that a program passes directly. */
  readonly credentials?: ClientCredentials;
}

/** The paths that a login handles itself. */
export interface Paths {
  isCallback(path: string): boolean;
  isLogout(path: string): boolean;
  isChannel(path: string): boolean;
}

/** Settings of a login, computed once. */
export interface LoginSettings {
  readonly id: string;
  readonly clientId: string;
  readonly appUrl: URL;
  readonly redirectUri: string;
  readonly afterLogoutUrl: string;
  readonly paths: Paths;
  readonly credentials: ClientCredentials;
  /** Keys for the state of logins in progress: the first seals, all of them open. */
  readonly stateKeys: readonly Uint8Array[];
  readonly cookie: CookieAttributes;
  readonly targetDomain: string | undefined;
  /** Header with the session id in requests to the token endpoint. */
  readonly sessionHeader: string | undefined;
  /** True: requests are rejected while the store is unavailable. */
  readonly failsOnFetch: boolean;
}

/** Validates options and returns the settings. Throws `ERR_OIDC_CONFIG` or `ERR_OIDC_SECRET`. */
export function readSettings(parts: LoginParts): LoginSettings {
  const { block, session } = parts;
  const appUrl = URL.parse(block.appUrl ?? '');
  if (!appUrl || !/^https?:$/.test(appUrl.protocol) || appUrl.search || appUrl.hash || appUrl.username)
    throw failure('ERR_OIDC_CONFIG', 'appUrl must be an http or https URL without a query');
  if (!block.clientId) throw failure('ERR_OIDC_CONFIG', 'clientId is missing');
  const base = appUrl.href.replace(/\/$/, '');
  const callback = callbackOf(block);
  const credentials = parts.credentials ?? identify(block, parts.context.secrets);
  return {
    id: parts.id,
    clientId: block.clientId,
    appUrl,
    redirectUri: base + callback.path,
    afterLogoutUrl: afterLogoutUrlOf(block, appUrl),
    paths: pathsOf(block, callback),
    credentials,
    stateKeys: stateKeysOf(parts, credentials),
    cookie: cookieOf(session),
    targetDomain: session.cookie?.targetDomain ?? session.redis?.targetDomain,
    sessionHeader: session.redis?.headerName || block.sessionIdHeaderName || undefined,
    failsOnFetch: session.failOnFetchFailure === true,
  };
}

function afterLogoutUrlOf({ afterLogoutUrl }: LoginBlock, appUrl: URL): string {
  const url = URL.parse(afterLogoutUrl || appUrl.href, appUrl.href);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url.href;
  throw failure('ERR_OIDC_CONFIG', 'afterLogoutUrl must be an http or https URL');
}

interface Callback {
  readonly path: string;
  matches(path: string): boolean;
}

function callbackOf({ callbackPath = '', parseCallbackPathAsRegex }: LoginBlock): Callback {
  if (!parseCallbackPathAsRegex) {
    if (!callbackPath.startsWith('/')) throw failure('ERR_OIDC_CONFIG', 'callbackPath must begin with /');
    return { path: callbackPath, matches: (path) => path === callbackPath };
  }
  const regex = compileRegex(callbackPath);
  const [path = ''] = /^[^\\^$.|?*+()[\]{}]*/.exec(callbackPath.replace(/^\^/, '')) ?? [];
  if (!path.startsWith('/') || !regex.fullMatch(path))
    throw failure('ERR_OIDC_CONFIG', 'callbackPath as a regular expression must match its own literal prefix');
  return { path, matches: (each) => regex.fullMatch(each) };
}

function pathsOf(block: LoginBlock, callback: Callback): Paths {
  const { logoutPath, frontChannelLogout } = block;
  const channel = frontChannelLogout?.path;
  const own = [logoutPath, channel].filter((path) => path !== undefined && path !== '');
  if (new Set(own).size < own.length || own.some((path) => callback.matches(path!)))
    throw failure('ERR_OIDC_CONFIG', 'callbackPath, logoutPath and frontChannelLogout.path must differ');
  if (own.some((path) => !path!.startsWith('/')))
    throw failure('ERR_OIDC_CONFIG', 'logoutPath and frontChannelLogout.path must begin with /');
  const fieldOf = createLoginPaths(block);
  return {
    isCallback: (path) => fieldOf(path) === 'callbackPath',
    isLogout: (path) => fieldOf(path) === 'logoutPath',
    isChannel: (path) => fieldOf(path) === 'frontChannelLogout',
  };
}

const SAME_SITE = { DefaultMode: undefined, LaxMode: 'Lax', StrictMode: 'Strict', NoneMode: 'None' } as const;

/** Throws `ERR_OIDC_CONFIG` for cookies that browsers reject. */
function cookieOf({ cookieOptions = {}, cookie, redis }: UserSession): CookieAttributes {
  const { maxAge = DEFAULT_MAX_AGE_SECONDS, notSecure = false, path = '/', domain = '' } = cookieOptions;
  const sameSite = SAME_SITE[cookieOptions.sameSite ?? 'LaxMode'];
  if (sameSite === 'None' && notSecure) throw failure('ERR_OIDC_CONFIG', 'sameSite NoneMode requires secure cookies');
  if (/[;,\s]/.test(path + domain))
    throw failure('ERR_OIDC_CONFIG', 'path and domain of cookies must not contain spaces, commas or semicolons');
  const maxAgeSeconds = maxAge === 0 ? undefined : maxAge;
  const httpOnly = cookieOptions.httpOnly ?? true;
  const attributes = { maxAgeSeconds, secure: !notSecure, httpOnly, path, sameSite, domain: domain || undefined };
  for (const name of [redis?.cookieName, cookie?.keyPrefix]) {
    const problem = name ? cookieNameProblem(name, attributes) : undefined;
    if (problem) throw failure('ERR_OIDC_CONFIG', `invalid cookie name ${JSON.stringify(name)}: ${problem}`);
  }
  return attributes;
}
