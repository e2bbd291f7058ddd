import { ResultCodeError, SASL_MECHANISMS, type Client, type Entry } from 'ldapts';
import {
  networkOf,
  secretText,
  type AuthDecision,
  type AuthDenied,
  type AuthMethodKind,
  type ResourceRef,
} from '@edge-gateway/core';
import type { AuthRequest, Context } from '@edge-gateway/core';
import type { Ldap } from '@edge-gateway/core/schema';
import { clientError, UnusableAnswer } from '../chain/failure.ts';
import { configError } from '../error-codes.ts';
import { createConnections } from '../ldap/connections.ts';
import { canonicalName, escapeValue, userIdOf } from '../ldap/distinguished-name.ts';
import { basicCredentials, type BasicCredentials } from '../request/basic-credentials.ts';
import { createClientSlots } from '../request/client-slots.ts';
import { serverTls } from '../server/tls.ts';

const CHALLENGE = ['www-authenticate', 'Basic realm=""'] as const;
const DEFAULT_POOL = 5;
const DEFAULT_MEMBERSHIP = 'memberOf';
const DEFAULT_FILTER = '(uid=*)';
/** Most checks of one step at the same time, each with a connection of its own. */
const MAX_CHECKS = 200;

/**
 * Results of a bind that mean a wrong name or password (RFC 4511 §4.1.9): constraint violation, no such object, invalid name,
 * inappropriate authentication, invalid credentials, insufficient access, unwilling to perform.
 */
const WRONG_CREDENTIALS = new Set([19, 32, 34, 48, 49, 50, 53]);
/** Results of a search that mean no readable entry: no such attribute, no such object, insufficient access. */
const NO_ENTRY = new Set([16, 32, 50]);

/** The client of LDAP takes these names for a choice of how to authenticate. */
const MECHANISMS: ReadonlySet<string> = new Set(SASL_MECHANISMS);

const BUSY = 51;
const UNAVAILABLE = 52;

interface ServiceAccount {
  readonly name: string;
  readonly password: string;
}

/**
 * User name and password, checked by a bind at an LDAP server, and the groups of the user. The server is asked for each
 * request, on pooled connections.
 */
export const ldapMethod: AuthMethodKind<Ldap> = {
  type: 'ldap',
  create(spec, { id, context }) {
    const [before, after, ...more] = (spec.userDnTemplate ?? '').split('%s');
    if (after === undefined || more.length > 0) throw configError(`${id}: userDnTemplate must contain %s exactly once`);
    const url = urlOf(spec, id);
    const isTls = url.startsWith('ldaps:');
    const connections = createConnections({
      url,
      ...(isTls && { secureContext: serverTls({ config: undefined, id, context }) }),
      maxIdle: spec.pool?.maxSize || DEFAULT_POOL,
    });
    const allowed = allowedGroupsOf(spec, id);
    const account = serviceAccountOf(spec, id, context);
    const slots = createClientSlots(MAX_CHECKS);

    async function check(request: AuthRequest, given: BasicCredentials): Promise<AuthDecision> {
      const name = `${before}${escapeValue(given.name)}${after}`;
      if (MECHANISMS.has(name)) return denied(401, 'the user name is that of a SASL mechanism');
      return connections.use(async (client) => {
        if (!(await isBound(client, name, given.password))) return denied(401, 'wrong user name or password');
        if (spec.disableGroupChecking) return { allowed: true, userId: given.name };
        if (account && !(await isBound(client, account.name, account.password))) {
          context.log
            .get('ext_authz')
            .error({ requestId: request.requestId, config: id }, 'the LDAP server rejects the service account');
          return { ...denied(500, 'the LDAP server rejects the service account'), outcome: 'indeterminate' };
        }
        const entry = await entryOf(client, name, spec);
        if (!entry) return denied(403, 'the entry of the user does not match the search filter, or cannot be read');
        const groups = groupsOf(entry, spec.membershipAttributeName || DEFAULT_MEMBERSHIP);
        if (!groups.some((group) => allowed.has(canonicalName(group) ?? ''))) return denied(403, 'no allowed group');
        return { allowed: true, userId: userIdOf(entry.dn, name) ?? given.name, claims: { groups } };
      }, request.signal);
    }

    return {
      async authorize(request) {
        const given = basicCredentials(request);
        // Without a password a bind would be anonymous, and succeed for every user (RFC 4513 §5.1.2).
        if (!given || given.name === '' || given.password === '') return denied(401, 'no user name and password');
        const client = networkOf(request.clientAddress);
        if (!slots.acquire(client)) throw clientError('too many LDAP checks', 429);
        try {
          return await check(request, given);
        } finally {
          slots.release(client);
        }
      },
      close: () => connections.close(),
    };
  },
};

function urlOf({ address = '' }: Ldap, id: string): string {
  const url = URL.parse(/^ldaps?:\/\//i.test(address) ? address : `ldap://${address}`);
  const isPlain =
    url && url.hostname !== '' && url.username === '' && /^\/?$/.test(url.pathname + url.search + url.hash);
  if (!isPlain) throw configError(`${id}: invalid address ${JSON.stringify(address)} of the LDAP server`);
  return `${url.protocol}//${url.host}`;
}

function allowedGroupsOf({ allowedGroups = [], disableGroupChecking }: Ldap, id: string): ReadonlySet<string> {
  if (allowedGroups.length === 0 && !disableGroupChecking) throw configError(`${id}: ldap needs allowedGroups`);
  return new Set(
    allowedGroups.map((group) => {
      const name = canonicalName(group);
      if (name === undefined || name === '[]')
        throw configError(`${id}: allowedGroups: ${JSON.stringify(group)} is not a distinguished name`);
      return name;
    }),
  );
}

function serviceAccountOf({ groupLookupSettings }: Ldap, id: string, context: Context): ServiceAccount | undefined {
  if (!groupLookupSettings?.checkGroupsWithServiceAccount) return undefined;
  const ref = (groupLookupSettings.credentialsSecretRef ?? {}) as ResourceRef;
  const secret = context.secrets.get(ref);
  const name = secretText(secret, 'username');
  const password = secretText(secret, 'password');
  if (!name || !password)
    throw configError(`${id}: secret ${ref.name} is missing, or has no username and password of the service account`);
  return { name, password };
}

/** Returns false if the server rejects the credentials. Other results mean that it did not check them. */
async function isBound(client: Client, name: string, password: string): Promise<boolean> {
  try {
    await client.bind(name, password);
    return true;
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
    if (WRONG_CREDENTIALS.has(error.code)) return false;
    throw unusable('bind', error);
  }
}

async function entryOf(client: Client, name: string, spec: Ldap): Promise<Entry | undefined> {
  const attributes = [spec.membershipAttributeName || DEFAULT_MEMBERSHIP];
  const filter = spec.searchFilter || DEFAULT_FILTER;
  try {
    const { searchEntries } = await client.search(name, { scope: 'base', filter, attributes, sizeLimit: 1 });
    return searchEntries[0];
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
    if (NO_ENTRY.has(error.code)) return undefined;
    throw unusable('search', error);
  }
}

/** Only a busy or unavailable server has failed: the client may have caused other results, which `failureModeAllow` must not allow. */
function unusable(operation: string, error: ResultCodeError): UnusableAnswer {
  const answered = error.code === BUSY || error.code === UNAVAILABLE ? 503 : 400;
  const message = `the LDAP server responded to the ${operation} with code ${error.code}`;
  return new UnusableAnswer(message, { answered, cause: error });
}

function groupsOf(entry: Entry, attribute: string): readonly string[] {
  const wanted = attribute.toLowerCase();
  return Object.entries(entry)
    .filter(([name]) => name !== 'dn' && name.toLowerCase() === wanted)
    .flatMap(([, values]) => [values].flat())
    .map((value) => value.toString());
}

function denied(status: 401 | 403 | 500, reason: string): AuthDenied {
  return { allowed: false, status, ...(status === 401 && { headers: CHALLENGE }), reason };
}
