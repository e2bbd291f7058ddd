import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { secretText, type SecretValue } from '../contract/snapshot.ts';
import { alternativeNames, distinguishedName, parseCertificates, principalOf } from './certificates.ts';

const DAY_MS = 86_400_000;
/** Days before its end from which a certificate is reported as expiring. */
export const EXPIRY_NOTICE_DAYS = 14;
/** Names that a message lists; further ones are counted. */
const MAX_NAMES = 5;

/** The state of a certificate at a point in time. */
export type CertificateState = 'valid' | 'expiring' | 'expired' | 'not yet valid';

/** Returns the state of a certificate at a time, in milliseconds since the epoch. */
export function certificateState(
  { validFromDate, validToDate }: Pick<X509Certificate, 'validFromDate' | 'validToDate'>,
  now: number,
): CertificateState {
  const end = validToDate.getTime();
  if (now >= end) return 'expired';
  if (now < validFromDate.getTime()) return 'not yet valid';
  return now >= end - EXPIRY_NOTICE_DAYS * DAY_MS ? 'expiring' : 'valid';
}

/** Returns the time at which the state of a certificate changes next; `Infinity` once it has expired. */
export function nextCertificateState({ validFromDate, validToDate }: X509Certificate, now: number): number {
  const end = validToDate.getTime();
  const changes = [validFromDate.getTime(), end - EXPIRY_NOTICE_DAYS * DAY_MS, end];
  return Math.min(...changes.filter((at) => at > now));
}

/**
 * Returns the certificates of a chain that peers verify: the first one, and those between it and its root. A root in a chain is not used, even
 * if it has expired.
 */
function verifiedPart([leaf, ...others]: readonly X509Certificate[]): readonly X509Certificate[] {
  return leaf ? [leaf, ...others.filter(({ issuer, subject }) => issuer !== subject)] : [];
}

/** Returns the root that expires last: while roots are replaced, expired ones are beside it. `undefined` without roots. */
function longestValid(roots: readonly X509Certificate[]): X509Certificate | undefined {
  return roots.toSorted((a, b) => b.validToDate.getTime() - a.validToDate.getTime())[0];
}

/** Returns what is wrong with the dates of a certificate, as the end of a sentence; `undefined` if it is valid. The text is the same until its state changes. */
export function validityProblem(
  certificate: Pick<X509Certificate, 'validFromDate' | 'validToDate'>,
  now: number,
): string | undefined {
  const state = certificateState(certificate, now);
  if (state === 'valid') return undefined;
  if (state === 'expired') return `expired at ${timeText(certificate.validToDate)}`;
  if (state === 'not yet valid') return `is not valid before ${timeText(certificate.validFromDate)}`;
  return `expires at ${timeText(certificate.validToDate)}, within ${EXPIRY_NOTICE_DAYS} days`;
}

/** Certificates of one secret or file. */
export interface CertificateParts {
  /** The one that is sent for names is first. */
  readonly chain: readonly X509Certificate[];
  readonly ca: readonly X509Certificate[];
}

/** A certificate whose dates count. */
export interface DatedCertificate {
  readonly certificate: X509Certificate;
  readonly role: 'certificate' | 'intermediate certificate' | 'root CA';
}

/** Returns the certificates whose dates count: a chain as peers verify it, and the root that expires last. */
export function datedCertificates({ chain, ca }: CertificateParts): readonly DatedCertificate[] {
  const [leaf, ...others] = verifiedPart(chain);
  const root = longestValid(ca);
  return [
    ...(leaf ? [{ certificate: leaf, role: 'certificate' as const }] : []),
    ...others.map((certificate) => ({ certificate, role: 'intermediate certificate' as const })),
    ...(root ? [{ certificate: root, role: 'root CA' as const }] : []),
  ];
}

const OF_SECRETS = new WeakMap<SecretValue, readonly DatedCertificate[]>();

/** Returns the certificates of a TLS secret whose dates count; the one that is sent for names is first. */
export function secretCertificates(secret: SecretValue | undefined): readonly DatedCertificate[] {
  if (!secret) return [];
  const known = OF_SECRETS.get(secret);
  if (known) return known;
  const read = (name: string) => parseCertificates(secretText(secret, name) ?? '') ?? [];
  const certificates = datedCertificates({ chain: read('tls.crt'), ca: read('ca.crt') });
  OF_SECRETS.set(secret, certificates);
  return certificates;
}

/** Returns a sentence for each certificate that peers reject because of its dates, now or soon. */
export function datesProblems(dated: readonly DatedCertificate[], now: number): string[] {
  return dated.flatMap(({ certificate, role }) => {
    const problem = validityProblem(certificate, now);
    return problem === undefined ? [] : [`${role} ${holderOf(certificate)} ${problem}`];
  });
}

/** Returns a sentence if the certificate that is sent does not cover all names; `undefined` if it does. */
export function coverageProblem(dated: readonly DatedCertificate[], served: readonly string[]): string | undefined {
  const leaf = dated.find(({ role }) => role === 'certificate')?.certificate;
  const missing = leaf ? served.filter((name) => !covers(leaf, name)) : [];
  if (missing.length === 0) return undefined;
  const rest = missing.length - MAX_NAMES;
  return `certificate ${holderOf(leaf!)} does not cover ${missing.slice(0, MAX_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Returns the holder of a certificate for messages: the same name as in logs of TLS peers, else `without a name`. */
export function holderOf(certificate: X509Certificate): string {
  return principalOf(certificate) || distinguishedName(certificate.issuer) || 'without a name';
}

/**
 * Returns true if clients accept a certificate for a name. Only alternative names count, as in browsers. A domain with a wildcard is covered by
 * the same wildcard, and one that ends with a wildcard is not checked.
 */
function covers(leaf: X509Certificate, name: string): boolean {
  const address = name.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address)) return leaf.checkIP(address) !== undefined;
  if (!name.includes('*')) return leaf.checkHost(name, { subject: 'never' }) !== undefined;
  const parent = name.indexOf('.');
  if (!name.startsWith('*') || parent < 0) return true;
  const wanted = new Set([name, `*${name.slice(parent)}`].map((each) => each.toLowerCase()));
  return alternativeNames(leaf.subjectAltName).some(
    (each) => each.kind === 'DNS' && wanted.has(each.name.toLowerCase()),
  );
}

/** E.g. `2026-12-05 10:00 UTC`. */
function timeText(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
