import type { Ldap } from '../../schema/auth/auth-methods.ts';
import { within, type Check } from '../check.ts';
import { unless } from './check-login.ts';

const ADDRESS = /^(?:ldaps?:\/\/)?(?:[^\s/:@?#]+|\[[0-9a-f:.]+\]):\d{1,5}\/?$/i;
/** `attribute=value` pairs; details are left to the server. */
const DISTINGUISHED_NAME = /^\s*[A-Za-z0-9.-]+\s*=[^\0]+$/;

/** Returns the problems of a step with an LDAP server. */
export const checkLdap: Check<Ldap> = (ldap, at) => {
  const { address = '', userDnTemplate = '', searchFilter, allowedGroups = [], groupLookupSettings } = ldap;
  const invalid = allowedGroups.findIndex((group) => !DISTINGUISHED_NAME.test(group));
  return [
    ...unless(ADDRESS.test(address), [...at, 'address'], 'must be host:port, ldap://host:port or ldaps://host:port'),
    ...unless(
      userDnTemplate.split('%s').length === 2,
      [...at, 'userDnTemplate'],
      'must contain %s exactly once, e.g. uid=%s,ou=people,dc=example,dc=com',
    ),
    ...unless(
      userDnTemplate.split('%s').length !== 2 ||
        (DISTINGUISHED_NAME.test(userDnTemplate) && /=[^,]*%s/.test(userDnTemplate)),
      [...at, 'userDnTemplate'],
      'must be a distinguished name with %s in a value, e.g. uid=%s,ou=people,dc=example,dc=com',
    ),
    ...unless(
      allowedGroups.length > 0 || ldap.disableGroupChecking === true,
      [...at, 'allowedGroups'],
      'ldap needs allowedGroups, or disableGroupChecking to allow every user of the server',
    ),
    ...unless(
      invalid < 0,
      [...at, 'allowedGroups', invalid],
      'must be a distinguished name, e.g. cn=managers,ou=groups,dc=example,dc=com',
    ),
    ...unless(
      !searchFilter || isFilter(searchFilter),
      [...at, 'searchFilter'],
      'must be a filter in parentheses, e.g. (uid=*)',
    ),
    ...within(groupLookupSettings, [...at, 'groupLookupSettings'], checkGroupLookup),
  ];
};

const checkGroupLookup: Check<NonNullable<Ldap['groupLookupSettings']>> = (
  { checkGroupsWithServiceAccount, credentialsSecretRef },
  at,
) =>
  unless(
    !checkGroupsWithServiceAccount || !!credentialsSecretRef,
    [...at, 'credentialsSecretRef'],
    'checkGroupsWithServiceAccount needs the Secret of the service account',
  );

/** Parentheses are balanced, and one pair encloses everything. In values they are written as escapes (RFC 4515 §3). */
function isFilter(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')') depth--;
    if (depth <= 0 && i < text.length - 1) return false;
  }
  return depth === 0 && text.length > 2;
}
