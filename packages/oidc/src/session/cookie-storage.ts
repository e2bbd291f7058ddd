import { digest, keyedDigest, randomToken, seal, unsealWith, type AuthRequest } from '@edge-gateway/core';
import {
  clearCookie,
  possibleNames,
  joinValues,
  cookiesOf,
  setCookie,
  splitValue,
  type CookieAttributes,
  type Cookies,
} from '../http/cookies.ts';
import { codeOf, failure } from '../error-codes.ts';
import { isEqual } from '../is-equal.ts';
import { macCookieName, TOKEN_COOKIES, tokenCookieName } from './cookie-names.ts';
import type { ExpiringIds } from './expiring.ts';
import { endOf, allOf, preferred, type StoredSession, type Session, type SessionStorage } from './session.ts';

export interface CookieStorageOptions {
  readonly keyPrefix: string | undefined;
  readonly attributes: CookieAttributes;
  /** Sessions of one client are invalid for another, even if both have the same key. */
  readonly client: string;
  /**
   * Encrypt the values: the first key seals, all of them open. Without them the tokens are readable, and `check` decides
   * whether they are the provider's.
   */
  readonly cipherKeys: readonly Uint8Array[] | undefined;
  /** Keys of the MAC that binds unencrypted cookies of one login to each other: the first signs, all of them verify. */
  readonly macKeys: readonly Uint8Array[];
  /** Sessions that were logged out. Without it, copies of cookies work after a logout. */
  readonly denyList?: ExpiringIds | undefined;
  /** Rejects if the provider did not sign the tokens for this client. */
  readonly check: (session: Session) => Promise<void>;
  readonly allowRefreshing: boolean;
  /** True if a session requires an id token. */
  readonly needsIdToken: boolean;
  readonly now: () => number;
}

type Part = keyof typeof TOKEN_COOKIES;
const PARTS = Object.keys(TOKEN_COOKIES) as Part[];
type Tokens = Partial<Record<Part, string>>;

/** A session in cookies. */
interface CookieSession extends StoredSession {
  /** Random; stays the same when tokens are renewed. */
  readonly login: string;
}

/** The values of the cookies of one token. */
type PartValues = readonly [Part, readonly string[]];

/** One login in the cookies of a request. */
interface Found {
  readonly login: string;
  readonly tokens: Tokens;
}

const LOGIN_LENGTH = 12;

/**
 * Creates a storage in the browser, with one cookie per token. If they are not encrypted, another cookie contains their
 * digests and a MAC: a single token, which upstreams, logs and other clients may have seen, is not a session, nor is a mix of two logins.
 */
export function createCookieStorage(options: CookieStorageOptions): SessionStorage {
  const { attributes, cipherKeys, macKeys } = options;
  const nameOf = (part: Part): string => tokenCookieName(options.keyPrefix, part);
  const macName = macCookieName(options.keyPrefix, attributes);

  const purposeOf = (part: Part): string => `${options.client} ${nameOf(part)}`;

  const names = PARTS.map(nameOf);
  const macOf = (key: Uint8Array, bound: string): string =>
    keyedDigest(key, JSON.stringify([options.client, ...names, bound]));

  function write(request: AuthRequest, session: Session, login: string): readonly string[] {
    const written: string[] = [];
    const used = new Set<string>();
    const stored: Tokens = {};
    let size = 0;
    for (const part of PARTS) {
      const token = session[part];
      if (token === undefined || (part === 'refreshToken' && !options.allowRefreshing)) continue;
      stored[part] = token;
      const value = cipherKeys ? seal(cipherKeys[0]!, purposeOf(part), `${login}${token}`) : token;
      const chunks = splitValue(nameOf(part), value);
      if (!chunks) throw tooLarge();
      const maxAgeSeconds = lifetime(part, session);
      for (const [name, chunk] of chunks) {
        used.add(name);
        size += name.length + chunk.length;
        written.push(setCookie(name, chunk, { ...attributes, maxAgeSeconds }));
      }
    }
    if (!cipherKeys) {
      const bound = [login, ...PARTS.map((part) => (stored[part] === undefined ? '' : digest(stored[part])))].join('.');
      const value = `${bound}.${macOf(macKeys[0]!, bound)}`;
      used.add(macName);
      size += macName.length + value.length;
      written.push(setCookie(macName, value, attributes));
    }
    if (used.size > MAX_COOKIES || size > MAX_BYTES) throw tooLarge();
    return [...clear(request).filter((cookie) => !used.has(cookie.slice(0, cookie.indexOf('=')))), ...written];
  }

  /** The cookie of an access token expires with it; the tokens that are needed for a renewal stay. */
  function lifetime(part: Part, session: Session): number | undefined {
    const { maxAgeSeconds } = attributes;
    const endsAt = part === 'accessToken' ? session.accessEndsAt : undefined;
    if (maxAgeSeconds === undefined || endsAt === undefined) return maxAgeSeconds;
    return Math.max(1, Math.min(maxAgeSeconds, Math.floor((endsAt - options.now()) / 1000)));
  }

  function clear(request: AuthRequest): readonly string[] {
    const cookies = cookiesOf(request);
    const names = [...PARTS.flatMap((part) => possibleNames(nameOf(part))), macName];
    return names.filter((name) => cookies.has(name)).map((name) => clearCookie(name, attributes));
  }

  /**
   * Returns the tokens of each login in the cookies; values of different logins are not combined. Each value is verified once,
   * since a sibling host may have set many.
   */
  function read(cookies: Cookies): readonly Found[] {
    const values = PARTS.map((part) => [part, joinValues(nameOf(part), cookies)] as const);
    if (cipherKeys) return readSealed(cipherKeys, values);
    const macs = cookies.get(macName) ?? [];
    if (macs.length === 0) return [];
    const byDigest = values.map(([, tokens]) => new Map(tokens.map((token) => [digest(token), token])));
    return macs.flatMap((mac) => readSigned(mac, byDigest) ?? []);
  }

  function readSealed(keys: readonly Uint8Array[], values: readonly PartValues[]): readonly Found[] {
    const byLogin = new Map<string, Tokens>();
    for (const [part, sealed] of values) {
      for (const value of sealed) {
        const text = unsealWith(keys, purposeOf(part), value);
        if (text === undefined) continue;
        const login = text.slice(0, LOGIN_LENGTH);
        byLogin.set(login, { [part]: text.slice(LOGIN_LENGTH), ...byLogin.get(login) });
      }
    }
    return [...byLogin].map(([login, tokens]) => ({ login, tokens }));
  }

  /** Cookies of tokens that the login did not set are ignored; of those that it did set, one value must be its own. */
  function readSigned(value: string, byDigest: readonly ReadonlyMap<string, string>[]): Found | undefined {
    const [, bound = '', mac = ''] = /^(.+)\.([\w-]{43})$/.exec(value) ?? [];
    if (!macKeys.some((key) => isEqual(mac, macOf(key, bound)))) return undefined;
    const [login = '', ...digests] = bound.split('.');
    const own = PARTS.flatMap((part, i) =>
      digests[i] && byDigest[i]!.size > 0 ? [[part, byDigest[i]!.get(digests[i])] as const] : [],
    );
    if (own.length === 0 || own.some(([, token]) => token === undefined)) return undefined;
    return { login, tokens: Object.fromEntries(own) };
  }

  async function isGenuine(session: Session): Promise<boolean> {
    const error = await options.check(session).catch((reason: unknown) => reason);
    if (error !== undefined && codeOf(error) !== 'ERR_OIDC_TOKEN_INVALID') throw error;
    return error === undefined;
  }

  const deniedId = (login: string): string => digest(`${options.client} ${login}`);

  async function* sessionsOf(request: AuthRequest): AsyncIterable<CookieSession> {
    for (const found of read(cookiesOf(request))) {
      const session = await sessionIn(found);
      if (session) yield session;
    }
  }

  async function sessionIn({ login, tokens }: Found): Promise<CookieSession | undefined> {
    const { idToken, accessToken = '', refreshToken } = tokens;
    if (!idToken && (options.needsIdToken || !accessToken)) return undefined;
    if (await options.denyList?.has(deniedId(login))) return undefined;
    // Browsers remove the cookie of an expired access token.
    const accessEndsAt = accessToken ? endOf(accessToken) : 0;
    const session = { idToken, accessToken, refreshToken, idEndsAt: endOf(idToken), accessEndsAt };
    if (!cipherKeys && !(await isGenuine(session))) return undefined;
    return { session, id: digest(refreshToken ?? idToken ?? accessToken), login };
  }

  return {
    cannotLock: true,
    load: (request) => preferred(sessionsOf(request), options.now()),
    loadAll: (request) => allOf(sessionsOf(request)),
    async reload(stored) {
      return (await options.denyList?.has(deniedId((stored as CookieSession).login))) ? undefined : stored;
    },
    create: async (request, session) => write(request, session, randomToken().slice(0, LOGIN_LENGTH)),
    update: async (request, stored, session) => write(request, session, (stored as CookieSession).login),
    async remove(request) {
      for (const { login } of read(cookiesOf(request))) await options.denyList?.add(deniedId(login));
      return clear(request);
    },
    exclusively: (stored, work) => work(stored),
    close: () => options.denyList?.close?.(),
  };
}

const MAX_COOKIES = 7;
/** Servers, including this one, reject request heads over 16 KiB, and other cookies and headers need space. */
const MAX_BYTES = 12_288;

function tooLarge(): Error {
  return failure(
    'ERR_OIDC_SESSION_TOO_LARGE',
    'the tokens are too large for cookies; keep sessions in a store: session.redis',
  );
}
