import { createHmac, createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import {
  secretText,
  type AuthDenied,
  type AuthMethodKind,
  type AuthRequest,
  type Context,
  type ResourceRef,
} from '@edge-gateway/core';
import type { HmacAuth } from '@edge-gateway/core/schema';
import { signatureOf, type Algorithm } from '../signature/signature-header.ts';
import { REQUEST_TARGET, signedText } from '../signature/signed-text.ts';

const CHALLENGE = ['www-authenticate', 'hmac'] as const;
/** Greatest difference between the signed date and the clock, in milliseconds. */
const MAX_SKEW_MS = 300_000;
/** Headers with the date; `x-date` is for browsers, which do not let scripts set `date`. */
const DATES = ['date', 'x-date'] as const;
/** RFC 9110 §5.6.7, without the obsolete forms. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * Requests signed with a shared secret: `Authorization: hmac username="…", algorithm="hmac-sha1", headers="date @request-target",
 * signature="…"`. A user may have several secrets, so that a secret can be replaced. The signature covers at least the
 * request target and a date, which must be within five minutes of the clock; within that time the same request can be sent again.
 */
export const hmacMethod: AuthMethodKind<HmacAuth> = {
  type: 'hmacAuth',
  create(spec, { id, context }) {
    const users = usersOf(spec, id, context);
    const decoy = createSecretKey(randomBytes(32));
    return {
      local: true,
      authorize(request) {
        const signature = signatureOf(request);
        if (typeof signature === 'string') return denied(signature);
        const { username, headers, algorithm } = signature;
        if (!headers.includes(REQUEST_TARGET)) return denied(`the signature does not cover ${REQUEST_TARGET}`);
        const stale = dateProblem(request, headers, context.now());
        if (stale !== undefined) return denied(stale);
        const text = signedText(request, headers);
        if (text === undefined) return denied('a signed header is missing or occurs twice');
        // The comparison is made for unknown users too, so that the time does not reveal which users exist.
        const keys = users.get(username) ?? [decoy];
        const matches = keys.map((key) => isSigned(text, { key, algorithm, digest: signature.digest }));
        if (!users.has(username) || !matches.includes(true)) return denied('unknown user or wrong signature');
        return { allowed: true, userId: username };
      },
    };
  },
};

/** Returns the secrets by user. */
function usersOf({ secretRefs }: HmacAuth, id: string, context: Context): ReadonlyMap<string, readonly KeyObject[]> {
  const users = new Map<string, KeyObject[]>();
  for (const ref of (secretRefs?.secretRefs ?? []) as readonly ResourceRef[]) {
    const secret = context.secrets.get(ref);
    const username = secretText(secret, 'username');
    const password = secretText(secret, 'password');
    if (!username || !password) {
      // A removed secret is invalid; the others still work.
      const secretRef = `${ref.namespace}.${ref.name}`;
      context.log.get('ext_authz').warn({ config: id, secretRef }, 'the secret of a signing user is missing or empty');
      continue;
    }
    users.set(username, [...(users.get(username) ?? []), createSecretKey(password, 'utf8')]);
  }
  return users;
}

function dateProblem(request: AuthRequest, headers: readonly string[], now: number): string | undefined {
  const signed = DATES.filter((name) => headers.includes(name));
  if (signed.length === 0) return 'the signature does not cover a date';
  const isCurrent = (name: string): boolean => {
    const written = request.header(name) ?? '';
    return HTTP_DATE.test(written) && Math.abs(Date.parse(written) - now) <= MAX_SKEW_MS;
  };
  return signed.every(isCurrent) ? undefined : 'the signed date is invalid or not within five minutes of the clock';
}

interface Expected {
  readonly key: KeyObject;
  readonly algorithm: Algorithm;
  readonly digest: Buffer;
}

function isSigned(text: string, { key, algorithm, digest }: Expected): boolean {
  // A header carries bytes: one character each.
  const expected = createHmac(algorithm, key).update(text, 'latin1').digest();
  return expected.length === digest.length && timingSafeEqual(expected, digest);
}

function denied(reason: string): AuthDenied {
  return { allowed: false, status: 401, headers: CHALLENGE, reason };
}
