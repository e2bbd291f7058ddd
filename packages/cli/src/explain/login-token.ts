import { jwtBlockOf } from '@edge-gateway/core';
import { JWT_STATUS } from '@edge-gateway/core/jwt';
import type { ExplainedAccess } from '@edge-gateway/rbac';
import type { Outcome, RoutePlace } from '@edge-gateway/routing';
import { dig, entries, items, text } from '../resources/objects.ts';

/** How the login of a route passes on the token that JWT misses. An explanation sends nothing to its identity provider. */
export interface LoginToken {
  /** The header that the login adds and JWT reads. */
  readonly header: string | undefined;
  /** `name=value` of the cookies in which the login keeps its tokens, with tokens that the JWT providers accept. */
  readonly cookies: readonly string[];
}

/** Returns how a login passes on the missing token; `undefined` if the token is not missing or there is no login. */
export function loginTokenOf(
  { virtualHost, route }: RoutePlace,
  authConfig: string | undefined,
  { refusal, jwt }: ExplainedAccess,
): LoginToken | undefined {
  if (refusal?.body !== JWT_STATUS.missing.text || jwt.some(isRejectedBefore)) return undefined;
  const config = virtualHost.authConfigs?.find(({ ref }) => `${ref.namespace}/${ref.name}` === authConfig);
  const logins = items(config?.spec, 'configs').flatMap((step) => entries(step, 'oauth2').map(([, login]) => login));
  const block = jwtBlockOf([virtualHost.options, route.options], 'afterExtAuth');
  const providers = entries(block, 'providers').map(([, provider]) => provider);
  const read = new Set(providers.flatMap(headersRead));
  const header = logins.flatMap(headersAdded).find((name) => read.has(name));
  const names = logins.flatMap(cookiesSet);
  return { header, cookies: names.flatMap((name) => providers.map((provider) => `${name}=${tokenFor(provider)}`)) };
}

const isRejectedBefore = ({ stage, passes }: ExplainedAccess['jwt'][number]): boolean =>
  stage === 'before external auth' && !passes;

function headersAdded(login: unknown): string[] {
  return ['idTokenHeader', 'accessTokenHeader'].map((field) => text(login, 'headers', field).toLowerCase());
}

function headersRead(provider: unknown): string[] {
  const headers = items(provider, 'tokenSource', 'headers').map((one) => text(one, 'header').toLowerCase());
  const isDefault = headers.length === 0 && items(provider, 'tokenSource', 'queryParams').length === 0;
  return (isDefault ? ['authorization'] : headers).filter(Boolean);
}

/** The cookies with the tokens of a login; a login with a store or encrypted cookies has none. */
function cookiesSet(login: unknown): string[] {
  if (dig(login, 'session', 'redis') || dig(login, 'session', 'cipherConfig')) return [];
  const prefix = text(login, 'session', 'cookie', 'keyPrefix');
  return ['id_token', 'access_token'].map((name) => (prefix ? `${prefix}_${name}` : name));
}

/** Returns a token without a valid signature, which an explanation does not verify. */
function tokenFor(provider: unknown): string {
  const [aud] = items(provider, 'audiences');
  const claims = { iss: text(provider, 'issuer') || undefined, aud };
  const [head, body] = [{ alg: 'RS256' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${head}.${body}.AAAA`;
}

/** Where the login puts the token that a request lacks. */
export type MissingToken =
  | { readonly header: string }
  /** `outcome` is what a browser gets after the login; missing if it depends on the claims of the token. */
  | { readonly cookie: string; readonly outcome: Outcome | undefined };

/** Returns where JWT finds the token of the login; `undefined` if it does not find it. */
export async function missingToken(
  { header, cookies }: LoginToken,
  explainWith: (cookie: string) => Promise<{ readonly outcome: Outcome; readonly access?: ExplainedAccess }>,
): Promise<MissingToken | undefined> {
  if (header !== undefined) return { header };
  for (const cookie of cookies) {
    const { outcome, access } = await explainWith(cookie);
    if (!access?.jwt.length || !access.jwt.every(({ passes }) => passes)) continue;
    const dependsOnClaims = access.rbac?.allowed === false;
    return { cookie: cookie.slice(0, cookie.indexOf('=')), outcome: dependsOnClaims ? undefined : outcome };
  }
  return undefined;
}
