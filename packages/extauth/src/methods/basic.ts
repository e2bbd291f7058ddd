import { createHash, timingSafeEqual } from 'node:crypto';
import apacheMd5 from 'apache-md5';
import { compare } from 'bcryptjs';
import { GatewayError, type AuthDenied, type AuthMethodKind, type AuthRequest } from '@edge-gateway/core';
import type { BasicAuth } from '@edge-gateway/core/schema';

/** The package's types describe an ES module, but it is a CommonJS one. */
const aprMd5 = apacheMd5 as unknown as (password: string, salt: string) => string;

interface User {
  readonly salt: string;
  readonly hashedPassword: string;
}

type Matches = (password: string, user: User) => boolean | Promise<boolean>;

/** A longer pair of user name and password, in characters, is refused unhashed. */
const MAX_LENGTH = 1024;

/** `$apr1$salt$hash` of Apache's htpasswd. */
const matchesApr: Matches = (password, { salt, hashedPassword }) =>
  equal(aprMd5(password, `$apr1$${salt}$`), `$apr1$${salt}$${hashedPassword}`);

/** Hex of SHA-1 over password and salt, in this order. */
const matchesSha1: Matches = (password, { salt, hashedPassword }) =>
  equal(createHash('sha1').update(password).update(salt).digest('hex'), hashedPassword.toLowerCase());

/** A whole bcrypt hash stands for itself, whatever the block says. */
const matchesBcrypt: Matches = (password, { hashedPassword }) => compare(password, hashedPassword);

/** Somebody who does not exist: checked in the same time as somebody who does. */
const NOBODY: User = { salt: 'nobody', hashedPassword: '0'.repeat(22) };

/** User name and password in `Authorization: Basic` (RFC 7617); with `encryption` also in `Proxy-Authorization`. */
export const basicMethod: AuthMethodKind<BasicAuth> = {
  type: 'basicAuth',
  create(spec, { id }) {
    if ((spec.apr ? 1 : 0) + (spec.encryption && spec.userList ? 1 : 0) !== 1) {
      throw new GatewayError(`${id}: basicAuth needs apr, or encryption with userList`, { code: 'ERR_EXTAUTH_CONFIG' });
    }
    const users = new Map(Object.entries(spec.apr?.users ?? spec.userList?.users ?? {}));
    const matches = spec.encryption?.sha1 ? matchesSha1 : matchesApr;
    const denied = (reason: string): AuthDenied => ({
      allowed: false,
      status: 401,
      headers: ['www-authenticate', `Basic realm="${(spec.realm ?? '').replaceAll(/["\\]/g, String.raw`\$&`)}"`],
      reason,
    });
    const nobody = nobodyAmong(users);
    return {
      local: true,
      async authorize(request) {
        const credentials = credentialsOf(request, spec.encryption !== undefined);
        if (!credentials) return denied('no user name and password');
        const found = users.get(credentials.name);
        const user: User = {
          salt: found?.salt ?? nobody.salt,
          hashedPassword: found?.hashedPassword ?? nobody.hashedPassword,
        };
        const check = /^\$2[aby]\$/.test(user.hashedPassword) ? matchesBcrypt : matches;
        if (!(await check(credentials.password, user)) || !found?.hashedPassword)
          return denied('wrong user name or password');
        return { allowed: true, userId: credentials.name };
      },
    };
  },
};

/** Where users have bcrypt hashes, an unknown one has to cost as much, or the time would tell who exists. */
function nobodyAmong(users: ReadonlyMap<string, Partial<User>>): User {
  const costly = [...users.values()].find(({ hashedPassword }) => hashedPassword?.startsWith('$2'));
  return { ...NOBODY, ...(costly?.hashedPassword !== undefined && { hashedPassword: costly.hashedPassword }) };
}

function credentialsOf(request: AuthRequest, withProxy: boolean): { name: string; password: string } | undefined {
  const header = request.header('authorization') ?? (withProxy ? request.header('proxy-authorization') : undefined);
  const encoded = header?.match(/^basic +([A-Za-z0-9+/]+={0,2})$/i)?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1 || text.length > MAX_LENGTH) return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

function equal(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
