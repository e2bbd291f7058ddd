import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { certificateBlocks, parseCertificates } from '@edge-gateway/core';
import { issueCertificate } from './certificate.ts';

/** A certificate and its key, as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The certificates that all control planes share. */
export interface CertificateSet extends KeyPair {
  /** PEM of all authorities that the API server has to trust, also that of `next`. */
  readonly roots: string;
  /** Replaces the certificate once the API server trusts its authority. */
  readonly next?: KeyPair;
}

/** When certificates begin, end and are replaced. */
export interface CertificateTiming {
  /** Validity of a certificate. Default 90 days. */
  readonly validMs: number;
  /** How long before its expiry a certificate is replaced. Default 30 days. */
  readonly renewBeforeMs: number;
  /** How long the API server has to trust an authority before a certificate of it is used. Default 5 min. */
  readonly overlapMs: number;
  /** How long before its creation the validity of a certificate begins, for clocks that are behind. Default 1 day. */
  readonly backdateMs: number;
}

const DAY_MS = 86_400_000;
export const DEFAULT_CERTIFICATE_TIMING: CertificateTiming = {
  validMs: 90 * DAY_MS,
  renewBeforeMs: 30 * DAY_MS,
  overlapMs: 5 * 60_000,
  backdateMs: DAY_MS,
};

/** What decides about the next set. */
export interface RenewalState {
  readonly now: number;
  /** DNS names and IP addresses of the server. */
  readonly names: readonly string[];
  /** How long the API server has trusted all roots of the current set, as far as this process knows. */
  readonly trustedMs: number;
  readonly timing: CertificateTiming;
}

/**
 * Returns the set that should follow `current`: itself, one with a `next` certificate, one that uses it, or a new one if `current` is missing or
 * unusable. A certificate is used only after its authority has been trusted for a while, and an authority stays trusted until its certificate
 * expires: no request is lost in between.
 */
export function renewed(current: CertificateSet | undefined, state: RenewalState): CertificateSet {
  const { now, names, trustedMs, timing } = state;
  const valid = current && isUsable(current, state) ? current : undefined;
  const roots = validRoots(current?.roots ?? '', now);
  if (!valid) {
    const { root, ...pair } = issue(state);
    return { ...pair, roots: [...roots, root].join('') };
  }
  if (valid.next && isUsable({ ...valid.next, roots: valid.roots }, state)) {
    if (trustedMs < timing.overlapMs) return valid;
    return { ...valid.next, roots: roots.join('') };
  }
  const { next: _unusable, ...own } = valid;
  if (expiryOf(valid) - now > timing.renewBeforeMs) return valid.next ? own : valid;
  const { root, ...next } = issue({ now, names, timing });
  return { ...own, roots: [...roots, root].join(''), next };
}

/** Returns the time until {@link renewed} returns another set. */
export function renewalDelay(current: CertificateSet, { now, trustedMs, timing }: RenewalState): number {
  if (current.next) return Math.max(0, timing.overlapMs - trustedMs);
  return Math.max(0, expiryOf(current) - now - timing.renewBeforeMs);
}

function issue({ now, names, timing }: Pick<RenewalState, 'now' | 'names' | 'timing'>) {
  return issueCertificate(names, { from: new Date(now - timing.backdateMs), to: new Date(now + timing.validMs) });
}

function expiryOf({ certificate }: KeyPair): number {
  return Date.parse(new X509Certificate(certificate).validTo);
}

/** False for a pair that cannot be parsed, or whose key belongs to another certificate: a server cannot use it. */
export function isServable({ certificate, key }: KeyPair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** False for a certificate that is not servable, has expired, or has other names or an unknown authority. */
function isUsable({ certificate, key, roots }: CertificateSet, { now, names }: RenewalState): boolean {
  if (!isServable({ certificate, key })) return false;
  try {
    const parsed = new X509Certificate(certificate);
    return (
      Date.parse(parsed.validTo) > now &&
      names.every((name) => (isIP(name) ? parsed.checkIP(name) : parsed.checkHost(name)) !== undefined) &&
      (parseCertificates(roots) ?? []).some((root) => parsed.checkIssued(root) && parsed.verify(root.publicKey))
    );
  } catch {
    return false;
  }
}

/** Returns the roots that have not expired, each as PEM. */
function validRoots(roots: string, now: number): string[] {
  return certificateBlocks(roots).flatMap((block) => {
    const [parsed] = parseCertificates(block) ?? [];
    return parsed && Date.parse(parsed.validTo) > now ? [`${block}\n`] : [];
  });
}
