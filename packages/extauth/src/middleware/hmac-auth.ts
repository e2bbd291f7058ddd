import { createContext, plainSecrets, type Context, type Handler, type MiddlewareOptions } from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import { configError } from '../error-codes.ts';
import { extauth } from '../middleware.ts';
import { ON_REFUSAL } from './on-refusal.ts';

/** Options of {@link hmacAuth}. */
export interface HmacAuthOptions extends MiddlewareOptions {
  /** Shared secrets by user name: one, or several while a secret is replaced. At least one user. */
  readonly users: Readonly<Record<string, string | readonly string[]>>;
  /** Request header with the user name for later handlers. Default `x-user-id`. */
  readonly userIdHeader?: string;
}

const STEP = 'hmacAuth';
const fields = {
  users: f.map(f.either(f.text(), f.texts('Secrets.'))),
  userIdHeader: f.text(),
  onRefusal: ON_REFUSAL,
} satisfies Record<keyof HmacAuthOptions, f.Schema>;
const rules: f.OptionRules = { schema: f.block(f.required('users'), fields), error: configError };

/**
 * Allows requests that a user signed with a shared secret; `identityOf(req)?.subject` is the user name. All others are rejected
 * with 401. The signature covers the request target and a date, at most five minutes from the clock.
 * Throws `ERR_EXTAUTH_CONFIG` without users, for an empty secret, and for a user name that no signature can contain.
 *
 * @example
 * app.use(hmacAuth({ users: { shop: process.env.SHOP_SECRET! } }));
 */
export function hmacAuth(written: HmacAuthOptions, context: Context = createContext()): Handler {
  const options = f.checkOptions(STEP, written, rules);
  const { userIdHeader, onRefusal } = options;
  const pairs = Object.entries(options.users).flatMap(([username, written]) => {
    if (!/^[^",\\]+$/.test(username))
      throw configError(
        `${STEP}: invalid user name ${JSON.stringify(username)}: it must not be empty or contain a comma, a quote or a backslash`,
      );
    const passwords = typeof written === 'string' ? [written] : written;
    if (passwords.length === 0 || passwords.some((each) => !each))
      throw configError(`${STEP}: the secret of ${username} is empty`);
    return passwords.map((password) => ({ username, password }));
  });
  if (pairs.length === 0) throw configError(`${STEP}: users must contain at least one user`);
  const secrets = plainSecrets(Object.fromEntries(pairs.map((pair, i) => [`user-${i}`, pair])));
  const secretRefs = pairs.map((_, i) => ({ name: `user-${i}`, namespace: '' }));
  const own: Context = { ...context, state: context.state.bind(context), secrets };
  const config = { configs: [{ name: STEP, hmacAuth: { secretRefs: { secretRefs } } }] };
  return extauth({ config, settings: { userIdHeader }, name: STEP, onRefusal }, own);
}
