import { networkOf, type AuthDenied, type AuthMethodKind } from '@edge-gateway/core';
import type { BasicAuth } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import { basicCredentials } from '../request/basic-credentials.ts';
import { bcryptCost, costOf, isBcrypt, unmatchable, type HashScheme, type StoredHash } from '../password/hash.ts';
import type { Rejection } from '../password/threads.ts';
import { PASSWORDS, createVerifier } from '../password/verifier.ts';

/** A check at this cost takes seconds; each increment doubles the time. */
const MAX_BCRYPT_COST = 16;
const RETRY_AFTER_SECONDS = '1';

/** User name and password in `Authorization: Basic` (RFC 7617); with `encryption` also in `Proxy-Authorization`. */
export const basicMethod: AuthMethodKind<BasicAuth> = {
  type: 'basicAuth',
  create(spec, { id, context }) {
    if ((spec.apr ? 1 : 0) + (spec.encryption && spec.userList ? 1 : 0) !== 1) {
      throw configError(`${id}: basicAuth needs apr, or encryption with userList`);
    }
    const scheme = spec.encryption?.sha1 ? 'sha1' : 'apr1';
    const users = usersOf(spec, scheme);
    for (const [name, stored] of users) {
      if (bcryptCost(stored) <= MAX_BCRYPT_COST) continue;
      throw configError(`${id}: the bcrypt cost of user ${name} is above ${MAX_BCRYPT_COST}`);
    }
    const decoys = decoysOf(users, scheme);
    const verify = context.state(PASSWORDS, () => createVerifier(context.now));
    const log = context.log.get('ext_authz');
    const denied = (reason: string): AuthDenied => ({
      allowed: false,
      status: 401,
      headers: ['www-authenticate', `Basic realm="${(spec.realm ?? '').replaceAll(/["\\]/g, String.raw`\$&`)}"`],
      reason,
    });
    return {
      local: true,
      async authorize(request) {
        const credentials = basicCredentials(request, { withProxy: spec.encryption !== undefined });
        if (!credentials) return denied('no user name and password');
        const found = users.get(credentials.name);
        const hashes = found ? [found, ...decoys.filter((decoy) => costOf(decoy) !== costOf(found))] : decoys;
        const check = { ...credentials, hashes, client: networkOf(request.clientAddress) };
        const isRight = await verify(check).catch((error: unknown): Rejection => {
          // Not a server failure: `failureModeAllow` must not apply.
          log.error({ requestId: request.requestId, config: id, err: error }, 'password check failed');
          return 'busy';
        });
        if (typeof isRight === 'string') return later(isRight);
        if (!isRight || !found) return denied('wrong user name or password');
        return { allowed: true, userId: credentials.name };
      },
    };
  },
};

/** Users with their hashes; those without one are left out. */
function usersOf({ apr, userList }: BasicAuth, scheme: HashScheme): ReadonlyMap<string, StoredHash> {
  const written = Object.entries(apr?.users ?? userList?.users ?? {});
  return new Map(
    written.flatMap(([name, { salt = '', hashedPassword = '' }]) => {
      if (hashedPassword === '') return [];
      const own = isBcrypt(hashedPassword) ? 'bcrypt' : scheme;
      return [[name, { scheme: own, salt, hash: hashedPassword }]];
    }),
  );
}

/** One hash for each cost among the users: with all of them each check takes the same time, also for unknown users. */
function decoysOf(users: ReadonlyMap<string, StoredHash>, scheme: HashScheme): readonly StoredHash[] {
  const byCost = new Map([...users.values()].map((stored) => [costOf(stored), unmatchable(stored)]));
  return byCost.size > 0 ? [...byCost.values()] : [unmatchable({ scheme, salt: '', hash: '' })];
}

/** Indeterminate: negated with `!` it must not allow the request. */
function later(rejection: Rejection): AuthDenied {
  const headers = ['retry-after', RETRY_AFTER_SECONDS];
  return rejection === 'tooMany'
    ? {
        allowed: false,
        status: 429,
        headers,
        outcome: 'indeterminate',
        reason: 'too many password checks for this client',
      }
    : { allowed: false, status: 503, headers, outcome: 'indeterminate', reason: 'too many password checks' };
}
