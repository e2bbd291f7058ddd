import { isIP } from 'node:net';
import { plainAddress } from '@edge-gateway/core';
import type { ManagerSettings } from './options/manager-settings.ts';

/**
 * The client as far as it can be believed: the peer itself, or what the trusted proxies in front say in
 * `x-forwarded-for`. With `useRemoteAddress` each trusted hop is one entry from the right; without it the peer is
 * trusted as well, so that one entry more counts.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  settings: Pick<ManagerSettings, 'useRemoteAddress' | 'trustedHops'>,
): string {
  const hops = settings.useRemoteAddress ? settings.trustedHops : settings.trustedHops + 1;
  if (hops === 0 || forwardedFor === undefined) return peer;
  const entries = forwardedFor.split(',');
  const entry = entries[entries.length - hops]?.trim() ?? '';
  return isIP(entry) === 0 ? peer : plainAddress(entry);
}
