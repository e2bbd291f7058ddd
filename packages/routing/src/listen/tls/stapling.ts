import type { OcspStaple } from '@edge-gateway/core';
import type { ListenStats } from '../listen-stats.ts';

/** What a handshake does with the OCSP response of its certificate: it sends it, does without, or fails. */
type Outcome = OcspStaple | 'none' | 'fail';

/** How a certificate is stapled. */
export interface Stapling {
  readonly staple: OcspStaple | undefined;
  readonly policy: 'LENIENT_STAPLING' | 'STRICT_STAPLING' | 'MUST_STAPLE';
}

/** Returns the policy for a handshake at a time. */
function outcomeOf({ staple, policy }: Stapling, now: number): Outcome {
  if (staple && staple.expiresAt > now) return staple;
  if (policy === 'MUST_STAPLE') return 'fail';
  return policy === 'STRICT_STAPLING' && staple ? 'fail' : 'none';
}

/** A certificate as DER in base64, and how it is stapled. */
interface StapledCertificate {
  readonly leaf: string;
  readonly stapling: Stapling;
}

type Respond = (error: Error | null, response: Buffer | null) => void;

/**
 * Returns the listener of `OCSPRequest`, which is emitted for clients that ask for a response; `undefined` if there is never one. Entries with the
 * same certificate cannot be told apart, so that the strictest of them applies.
 */
export function createStapler(entries: readonly StapledCertificate[], stats: ListenStats) {
  const staplings = new Map<string, Stapling[]>();
  for (const { leaf, stapling } of entries) {
    if (!stapling.staple && stapling.policy === 'LENIENT_STAPLING') continue;
    staplings.set(leaf, [...(staplings.get(leaf) ?? []), stapling]);
  }
  if (staplings.size === 0) return undefined;
  return (certificate: Buffer, _issuer: Buffer, respond: Respond): void => {
    stats.stapleRequests.value++;
    const now = Date.now();
    const outcomes = (staplings.get(certificate.toString('base64')) ?? []).map((each) => outcomeOf(each, now));
    if (outcomes.includes('fail')) {
      stats.stapleFailed.value++;
      return respond(new Error('the OCSP response of the certificate is expired'), null);
    }
    const staple = outcomes.find((outcome) => typeof outcome === 'object');
    if (staple) stats.stapleResponses.value++;
    else stats.stapleOmitted.value++;
    respond(null, staple?.der ?? null);
  };
}
