import type { AuthRequest } from '@edge-gateway/core';

/** Returns true for a request caused by another site or a sibling host: a link or an image must not log users out. */
export function isFromOtherSite(request: AuthRequest): boolean {
  const site = request.header('sec-fetch-site');
  return site === 'cross-site' || site === 'same-site';
}
