import { randomBytes } from 'node:crypto';
import { createContext, type Context, type Handler, type MiddlewareOptions } from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import { configError } from '../error-codes.ts';
import { extauth } from '../middleware.ts';
import { ON_REFUSAL } from './on-refusal.ts';
import { hashApr1, isBcrypt } from '../password/hash.ts';

/** Options of {@link basicAuth}. */
export interface BasicAuthOptions extends MiddlewareOptions {
  /** Passwords by user name: as they are, or as `{ hash }` a line of `htpasswd` without the name (`$2y$…` or `$apr1$…`). At least one. */
  readonly users: Readonly<Record<string, string | { readonly hash: string }>>;
  /** Realm that browsers show in the password prompt. Default: empty. */
  readonly realm?: string;
  /** Request header with the user name for later handlers. Default `x-user-id`. */
  readonly userIdHeader?: string;
}

const STEP = 'basicAuth';
const APR1 = /^\$apr1\$([^$]+)\$([^$]+)$/;
const fields = {
  users: f.map(f.either(f.text(), f.block(f.required('hash'), { hash: f.text() }))),
  realm: f.text(),
  userIdHeader: f.text(),
  onRefusal: ON_REFUSAL,
} satisfies Record<keyof BasicAuthOptions, f.Schema>;
const rules: f.OptionRules = { schema: f.block(f.required('users'), fields), error: configError };

/**
 * Allows requests with a user name and its password (RFC 7617); `identityOf(req)?.subject` is the user name. All others are
 * rejected with 401. Throws `ERR_EXTAUTH_CONFIG` without users, for an empty password, and for a hash of another kind.
 *
 * @example
 * app.use(basicAuth({ users: { alice: process.env.ALICE_PASSWORD!, bob: { hash: '$2y$10$…' } }, realm: 'staff' }));
 */
export function basicAuth(written: BasicAuthOptions, context: Context = createContext()): Handler {
  const options = f.checkOptions(STEP, written, rules);
  const { realm, userIdHeader, onRefusal } = options;
  const entries = Object.entries(options.users);
  if (entries.length === 0) throw configError(`${STEP}: users must contain at least one user`);
  const users = Object.fromEntries(entries.map(([name, password]) => [name, storedOf(name, password)]));
  const config = { configs: [{ name: STEP, basicAuth: { realm, apr: { users } } }] };
  return extauth({ config, settings: { userIdHeader }, name: STEP, onRefusal }, context);
}

function storedOf(name: string, written: string | { readonly hash: string }): { salt: string; hashedPassword: string } {
  if (name === '' || name.includes(':'))
    throw configError(`${STEP}: invalid user name ${JSON.stringify(name)}: it must not be empty or contain a colon`);
  if (typeof written === 'string') {
    if (written === '') throw configError(`${STEP}: the password of ${name} is empty`);
    if (APR1.test(written) || isBcrypt(written))
      throw configError(`${STEP}: the password of ${name} looks like a hash: write { hash }`);
    const salt = randomBytes(6).toString('base64url');
    return { salt, hashedPassword: hashApr1(written, salt) };
  }
  const { hash } = written;
  if (isBcrypt(hash)) return { salt: '', hashedPassword: hash };
  const [, salt, hashedPassword] = APR1.exec(hash) ?? [];
  if (!salt || !hashedPassword)
    throw configError(`${STEP}: the hash of ${name} has an unknown format: use bcrypt ($2y$…) or APR1 ($apr1$…)`);
  return { salt, hashedPassword };
}
