import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readRegularFile } from '@edge-gateway/core';
import { adminError } from '../error-codes.ts';

/** Minimum length of a token: the length of 12 random bytes in base64. */
const MIN_LENGTH = 16;
const MAX_LENGTH = 4096;
/** Of a file that is read again: a token with spaces around it. */
const MAX_BYTES = 65_536;
/** Time between two reads of the file. */
const REREAD_MS = 1000;
const SESSION_MS = 12 * 3600 * 1000;

/** Verifies the token of an admin port. */
export interface AdminToken {
  /** Resolves with true for the token. Compares in constant time. */
  isToken(text: string): Promise<boolean>;
  /** Returns the value of a session cookie that is valid for twelve hours, or until the token is replaced. */
  createSession(): string;
  /** Resolves with true for a session of the current token. */
  isSession(text: string): Promise<boolean>;
}

/**
 * Reads the token of the admin ports from a file, and reads it again when the file changes; while the file is unusable, the last token
 * stays valid. Space around the token is ignored. Throws `ERR_ADMIN_TOKEN_FILE` if the file is unreadable, or the token is shorter than 16
 * characters or contains spaces; the message never contains the token.
 *
 * @example
 * const admin = createControlAdmin({ ...options, token: readAdminToken('/run/secrets/admin-token') });
 */
export function readAdminToken(file: string, now: () => number = Date.now): AdminToken {
  let token = tokenIn(readText(file), file);
  let readAt = now();

  async function readAgain(): Promise<void> {
    // The clock may have been set back since.
    if (Math.abs(now() - readAt) < REREAD_MS) return;
    readAt = now();
    try {
      // A pipe in its place must not block.
      token = tokenIn(readRegularFile(file, MAX_BYTES).toString('utf8'), file);
    } catch {
      // A file that is being replaced may be missing or empty for a moment.
    }
  }

  const signatureOf = (expiry: string): string =>
    createHmac('sha256', token).update(`session ${expiry}`).digest('base64url');
  return {
    async isToken(text) {
      await readAgain();
      return isEqual(text, token);
    },
    createSession() {
      const expiry = String(now() + SESSION_MS);
      return `${expiry}.${signatureOf(expiry)}`;
    },
    async isSession(text) {
      await readAgain();
      const [expiry = '', signature = ''] = text.split('.', 2);
      return isEqual(signature, signatureOf(expiry)) && Number(expiry) > now();
    },
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw adminError('ERR_ADMIN_TOKEN_FILE', `token file ${file} cannot be read (${code})`, { cause });
  }
}

function tokenIn(text: string, file: string): string {
  const token = text.trim();
  const problem = (what: string): Error => adminError('ERR_ADMIN_TOKEN_FILE', `token file ${file}: ${what}`);
  if (token.length < MIN_LENGTH) throw problem(`the token must have at least ${MIN_LENGTH} characters`);
  if (token.length > MAX_LENGTH) throw problem(`the token must have at most ${MAX_LENGTH} characters`);
  // Of RFC 6750, section 2.1, so that it can be sent in the header as it is.
  if (!/^[A-Za-z0-9\-._~+/]+=*$/.test(token))
    throw problem('the token may only contain letters, digits and - . _ ~ + / with = at its end');
  return token;
}

/** The hashes have the same length, so that the comparison reveals nothing. */
function isEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left!, right!);
}
