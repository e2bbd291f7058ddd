import { digest, randomToken, seal, unseal, type AuthRequest } from '@edge-gateway/core';
import {
  clearCookie,
  heldNames,
  joinValue,
  cookiesOf,
  setCookie,
  splitValue,
  type CookieAttributes,
} from '../cookies.ts';
import { failure } from '../failure.ts';
import { endOf, type Held, type Session, type SessionKeeper } from './session.ts';

export interface CookieKeeperOptions {
  readonly keyPrefix: string | undefined;
  readonly attributes: CookieAttributes;
  /** Sessions of one client never open for another, also where both have the same key. */
  readonly client: string;
  /** Encrypts the values. Without it the tokens are readable, and `check` decides whether they are the provider's. */
  readonly cipherKey: Uint8Array | undefined;
  /** Rejects for tokens that the provider did not sign for this client. */
  readonly check: (session: Session) => Promise<void>;
  readonly allowRefreshing: boolean;
  /** True where a session without an id token is none. */
  readonly needsIdToken: boolean;
  readonly now: () => number;
}

const NAMES = { idToken: 'id_token', accessToken: 'access_token', refreshToken: 'refresh_token' } as const;
type Part = keyof typeof NAMES;
const PARTS = Object.keys(NAMES) as Part[];

/** Keeps tokens in the browser, in one cookie each. */
export function createCookieKeeper(options: CookieKeeperOptions): SessionKeeper {
  const { attributes, cipherKey } = options;
  const nameOf = (part: Part): string => (options.keyPrefix ? `${options.keyPrefix}_${NAMES[part]}` : NAMES[part]);

  const purposeOf = (part: Part): string => `${options.client} ${nameOf(part)}`;

  function write(request: AuthRequest, session: Session): readonly string[] {
    const login = randomToken().slice(0, 12);
    const written: string[] = [];
    const used = new Set<string>();
    let size = 0;
    for (const part of PARTS) {
      const token = session[part];
      if (token === undefined || (part === 'refreshToken' && !options.allowRefreshing)) continue;
      const value = cipherKey ? seal(cipherKey, purposeOf(part), `${login}${token}`) : token;
      const chunks = splitValue(nameOf(part), value);
      if (!chunks) throw tooLarge();
      const maxAgeSeconds = lifetime(part, session);
      for (const [name, chunk] of chunks) {
        used.add(name);
        size += name.length + chunk.length;
        written.push(setCookie(name, chunk, { ...attributes, maxAgeSeconds }));
      }
    }
    if (used.size > MAX_COOKIES || size > MAX_BYTES) throw tooLarge();
    return [...clear(request).filter((cookie) => !used.has(cookie.slice(0, cookie.indexOf('=')))), ...written];
  }

  /** A token that ends makes its cookie end; one that is needed to renew the others stays. */
  function lifetime(part: Part, session: Session): number | undefined {
    const { maxAgeSeconds } = attributes;
    const endsAt = part === 'accessToken' ? session.accessEndsAt : undefined;
    if (maxAgeSeconds === undefined || endsAt === undefined) return maxAgeSeconds;
    return Math.max(1, Math.min(maxAgeSeconds, Math.floor((endsAt - options.now()) / 1000)));
  }

  function clear(request: AuthRequest): readonly string[] {
    const cookies = cookiesOf(request);
    return PARTS.flatMap((part) => heldNames(nameOf(part), cookies)).map((name) => clearCookie(name, attributes));
  }

  /** The tokens of one login; values that were sealed for different logins do not mix. */
  function read(cookies: ReadonlyMap<string, string>): Partial<Record<Part, string>> {
    const logins = new Set<string>();
    const tokens: Partial<Record<Part, string>> = {};
    for (const part of PARTS) {
      const value = joinValue(nameOf(part), cookies);
      const text = value && cipherKey ? unseal(cipherKey, purposeOf(part), value) : value;
      if (!text) continue;
      if (cipherKey) logins.add(text.slice(0, 12));
      tokens[part] = cipherKey ? text.slice(12) : text;
    }
    return logins.size > 1 ? {} : tokens;
  }

  async function load(request: AuthRequest): Promise<Held | undefined> {
    const { idToken, accessToken = '', refreshToken } = read(cookiesOf(request));
    if (!idToken && (options.needsIdToken || !accessToken)) return undefined;
    // Browsers drop the cookie of an access token that has ended.
    const accessEndsAt = accessToken ? endOf(accessToken) : 0;
    const session = { idToken, accessToken, refreshToken, idEndsAt: endOf(idToken), accessEndsAt };
    const genuine = cipherKey
      ? true
      : await options
          .check(session)
          .then(() => true)
          .catch(isNotGenuine);
    return genuine ? { session, id: digest(refreshToken ?? idToken ?? accessToken) } : undefined;
  }

  return {
    inBrowser: true,
    load,
    create: async (request, session) => write(request, session),
    update: async (request, _held, session) => write(request, session),
    remove: async (request) => clear(request),
    exclusively: (held, work) => work(held),
  };
}

const MAX_COOKIES = 6;
/** Servers, this one too, take no request whose head is longer than 16 KiB: other cookies and headers need their place. */
const MAX_BYTES = 12_288;

function tooLarge(): Error {
  return failure(
    'ERR_OIDC_SESSION_TOO_LARGE',
    'the tokens are too large for cookies; keep sessions in a store: session.redis',
  );
}

function isNotGenuine(error: unknown): false {
  const { code } = error as { code?: string };
  if (code === 'ERR_OIDC_TOKEN_INVALID') return false;
  throw error;
}
