import { createHash, hash, timingSafeEqual } from 'node:crypto';
import apacheMd5 from 'apache-md5';
import { compareSync } from 'bcryptjs';

/** The package's types describe an ES module, but it is a CommonJS one. */
const aprMd5Of = apacheMd5 as unknown as (password: string, salt: string) => string;
/** Apache hashes the bytes of UTF-8; the package, one byte per character. Not `toByteString`: every thread would load core. */
const aprMd5 = (password: string, salt: string): string =>
  aprMd5Of(Buffer.from(password, 'utf8').toString('latin1'), salt);

export type HashScheme = 'apr1' | 'sha1' | 'bcrypt';

/** A stored hash of a password. */
export interface StoredHash {
  readonly scheme: HashScheme;
  /** Unused for bcrypt, whose hash contains it. */
  readonly salt: string;
  readonly hash: string;
}

const BCRYPT = /^\$2[aby]\$(\d\d)\$/;

/** Returns true if a stored text is a complete bcrypt hash, which determines the scheme whatever the block says. */
export const isBcrypt = (hashed: string): boolean => BCRYPT.test(hashed);

/** The cost of a bcrypt hash, a power of 2; 0 for others. */
export const bcryptCost = ({ scheme, hash: hashed }: StoredHash): number =>
  scheme === 'bcrypt' ? Number(BCRYPT.exec(hashed)?.[1]) : 0;

/** Returns a key for the cost of a check: hashes with the same key take equally long. */
export const costOf = (stored: StoredHash): string => `${stored.scheme} ${bcryptCost(stored)}`;

/** Returns a hash that matches no password, and whose check takes as long as that of `stored`. */
export function unmatchable(stored: StoredHash): StoredHash {
  const cost = BCRYPT.exec(stored.hash)?.[1];
  return stored.scheme === 'bcrypt'
    ? { scheme: 'bcrypt', salt: '', hash: `$2b$${cost}$${'a'.repeat(53)}` }
    : { scheme: stored.scheme, salt: 'nobody', hash: '-' };
}

/** Returns the hash part of `$apr1$salt$hash`. */
export const hashApr1 = (password: string, salt: string): string =>
  aprMd5(password, `$apr1$${salt}$`).slice(`$apr1$${salt}$`.length);

/** Returns true if a password matches a stored hash. Blocks this thread from microseconds (SHA-1) to a second (bcrypt). */
export function matches(password: string, { scheme, salt, hash: hashed }: StoredHash): boolean {
  switch (scheme) {
    case 'bcrypt':
      return compareSync(password, hashed);
    case 'apr1':
      return equal(aprMd5(password, `$apr1$${salt}$`), `$apr1$${salt}$${hashed}`);
    case 'sha1':
      // Password and salt in this order, as hex digits.
      return equal(createHash('sha1').update(password).update(salt).digest('hex'), hashed.toLowerCase());
  }
}

function equal(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}

/** Like `matches`; a stored hash that is malformed matches nothing. */
export function isMatch(password: string, stored: StoredHash): boolean {
  try {
    return matches(password, stored);
  } catch {
    return false;
  }
}
