import { createContext, plainSecrets, type Context, type Handler, type MiddlewareOptions } from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import { configError } from '../error-codes.ts';
import { extauth } from '../middleware.ts';
import { ON_REFUSAL } from './on-refusal.ts';

/** Options of {@link ldapAuth}. */
export interface LdapAuthOptions extends MiddlewareOptions {
  /** `host:port`, `ldap://host:port` or `ldaps://host:port`. */
  readonly address: string;
  /** Distinguished name of a user entry, with one `%s` for the user name. */
  readonly userDnTemplate: string;
  /** Distinguished names of the allowed groups, or `any` to allow every user of the server. */
  readonly allowedGroups: readonly string[] | 'any';
  /** Attribute with the groups of a user. Default `memberOf`. */
  readonly membershipAttributeName?: string;
  /** Filter that the entry of the user must match. Default `(uid=*)`. */
  readonly searchFilter?: string;
  /** Reads groups with this account. Default: as the user. */
  readonly serviceAccount?: { readonly dn: string; readonly password: string };
  /** Maximum number of unused connections that are kept. Default 5. */
  readonly maxConnections?: number;
  /** Maximum time of a check, e.g. `1s`. Default `200ms`. */
  readonly requestTimeout?: string;
  /** Request header with the user name for later handlers. Default `x-user-id`. */
  readonly userIdHeader?: string;
}

const STEP = 'ldapAuth';
const fields = {
  address: f.text(),
  userDnTemplate: f.text(),
  allowedGroups: f.either(f.enumeration(['any']), f.texts('Groups.')),
  membershipAttributeName: f.text(),
  searchFilter: f.text(),
  serviceAccount: f.block(f.required('dn', 'password'), { dn: f.text(), password: f.text() }),
  maxConnections: f.count('Connections.'),
  requestTimeout: f.duration(),
  userIdHeader: f.text(),
  onRefusal: ON_REFUSAL,
} satisfies Record<keyof LdapAuthOptions, f.Schema>;
const rules: f.OptionRules = {
  schema: f.block(f.required('address', 'userDnTemplate', 'allowedGroups'), fields),
  error: configError,
};

/**
 * Allows requests with the user name and the password of an LDAP server (RFC 7617), if the user is in one of the groups;
 * `identityOf(req)?.subject` is the user name. Wrong credentials are rejected with 401, other users with 403, and
 * everything with 403 while the server is unavailable. Throws `ERR_EXTAUTH_CONFIG` for options that cannot be used.
 *
 * @example
 * const allowedGroups = ['cn=staff,ou=groups,dc=example,dc=com'];
 * app.use(ldapAuth({ address: 'ldaps://ldap.example.com:636', userDnTemplate: 'uid=%s,ou=people,dc=example,dc=com', allowedGroups }));
 */
export function ldapAuth(written: LdapAuthOptions, context: Context = createContext()): Handler {
  const options = f.checkOptions(STEP, written, rules);
  const { allowedGroups, serviceAccount, maxConnections, requestTimeout, userIdHeader, onRefusal, ...spec } = options;
  const isAny = allowedGroups === 'any';
  const account = serviceAccount && { username: serviceAccount.dn, password: serviceAccount.password };
  const ldap = {
    ...spec,
    ...(isAny ? { disableGroupChecking: true } : { allowedGroups }),
    ...(maxConnections !== undefined && { pool: { maxSize: maxConnections } }),
    ...(account && {
      groupLookupSettings: {
        checkGroupsWithServiceAccount: true,
        credentialsSecretRef: { name: 'account', namespace: '' },
      },
    }),
  };
  const own: Context = {
    ...context,
    state: context.state.bind(context),
    secrets: plainSecrets(account ? { account } : {}),
  };
  const settings = { userIdHeader, requestTimeout };
  return extauth({ config: { configs: [{ name: STEP, ldap }] }, settings, name: STEP, onRefusal }, own);
}
