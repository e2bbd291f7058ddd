import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { OidcAuthorizationCode, PlainOauth2 } from '../../schema/auth/oauth2.ts';
import type { RedisOptions, UserSession } from '../../schema/auth/session.ts';
import { cookieNameProblem } from '../../http/cookie-names.ts';
import { isPrivateHttpUrl, isTrustedUrl } from '../../security/trusted-url.ts';
import { reporterOf, within, type Check } from '../check.ts';

const HOST = String.raw`(?:\[[\da-f:.]+\]|[^@/:?#\s]+)(?::\d{1,5})?`;
const REDIS = new RegExp(
  String.raw`^(?:${HOST}|rediss?://(?:[^@/\s]*@)?${HOST}(?:/\d*)?|unix://(?:[^@/\s]*@)?/.+)$`,
  'i',
);

const invalid = reporterOf('INVALID_AUTH_CONFIG');

/** Returns the problem of an AuthConfig that is not `good`. */
export function unless(good: boolean, path: FieldPath, message: string): FieldProblem[] {
  return invalid(!good && message, path);
}

/** Returns problems of a Redis address, without repeating it: it may contain a password. */
export const checkRedis: Check<RedisOptions> = ({ host }, at) =>
  unless(!host || REDIS.test(host), [...at, 'host'], 'must be host:port, redis://…, rediss://… or unix://path');

/** Message for an address that `isTrustedUrl` rejects. */
export const UNTRUSTED_URL = 'must use https, or http to this machine, or http with allowHttp: true';
const UNTRUSTED_PROVIDER = 'must use https, or http to a private name or address, or http with allowHttp: true';
const UNENCRYPTED = 'codes, tokens and the client secret are sent unencrypted: use https, or set allowHttp: true';
const URL_OVERRIDES = ['authEndpoint', 'tokenEndpoint', 'jwksUri', 'revocationEndpoint', 'endSessionEndpoint'] as const;

/** Returns problems of a login by OpenID Connect or plain OAuth 2 that are independent of other resources. */
export const checkLogin: Check<Partial<OidcAuthorizationCode> & Partial<PlainOauth2>> = (login, at) => {
  const { appUrl, issuerUrl, authEndpoint, tokenEndpoint, revocationEndpoint, allowHttp, session } = login;
  const calls = { issuerUrl, authEndpoint, tokenEndpoint, revocationEndpoint };
  const overridden = URL_OVERRIDES.map((name) => [name, login.discoveryOverride?.[name]] as const);
  return [
    ...unless(isOwnUrl(appUrl), [...at, 'appUrl'], 'must be an http or https URL without a query'),
    ...Object.entries(calls).flatMap(([name, url]) => checkProviderUrl(url, [...at, name], allowHttp)),
    ...overridden.flatMap(([name, url]) => checkProviderUrl(url, [...at, 'discoveryOverride', name], allowHttp)),
    ...checkPaths(login, at),
    ...within(session, [...at, 'session'], checkSession),
  ];
};

function checkProviderUrl(url: string | undefined, path: FieldPath, allowHttp = false): FieldProblem[] {
  if (!url || allowHttp) return unless(!url || isTrustedUrl(url, { allowHttp }), path, UNTRUSTED_PROVIDER);
  if (isPrivateHttpUrl(url)) return invalid(UNENCRYPTED, path, { severity: 'warning' });
  return unless(isTrustedUrl(url), path, UNTRUSTED_PROVIDER);
}

const checkPaths: Check<Partial<OidcAuthorizationCode>> = (login, at) => {
  const { callbackPath, logoutPath, frontChannelLogout, parseCallbackPathAsRegex } = login;
  const paths = [
    [['logoutPath'], logoutPath],
    [['frontChannelLogout', 'path'], frontChannelLogout?.path],
    [['callbackPath'], parseCallbackPathAsRegex ? '' : callbackPath],
  ] as const;
  const set = paths.filter(([, path]) => path);
  return set.flatMap(([field, path], i) => [
    ...unless(path!.startsWith('/'), [...at, ...field], 'must begin with /'),
    ...unless(
      set.findIndex(([, other]) => other === path) === i,
      [...at, ...field],
      'callbackPath, logoutPath and frontChannelLogout.path must differ',
    ),
  ]);
};

const checkCookieName: Check<UserSession> = ({ cookieOptions = {}, cookie, redis }, at) => {
  const { notSecure = false, path = '/', domain } = cookieOptions;
  const attributes = { secure: !notSecure, path, domain };
  const names = { redis: ['cookieName', redis?.cookieName], cookie: ['keyPrefix', cookie?.keyPrefix] } as const;
  return Object.entries(names).flatMap(([block, [field, name]]) => {
    return invalid(name && cookieNameProblem(name, attributes), [...at, block, field]);
  });
};

const checkSession: Check<UserSession> = (session, at) => {
  const { cookieOptions, cookie, redis } = session;
  return [
    ...checkCookieName(session, at),
    ...unless(
      cookieOptions?.sameSite !== 'NoneMode' || !cookieOptions.notSecure,
      [...at, 'cookieOptions', 'sameSite'],
      'NoneMode needs secure cookies',
    ),
    ...within(redis?.options, [...at, 'redis', 'options'], checkRedis),
    ...within(cookie?.logoutDenyList?.redis, [...at, 'cookie', 'logoutDenyList', 'redis'], checkRedis),
  ];
};

function isOwnUrl(text: string | undefined): boolean {
  if (!text) return true;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username;
}
