import type { AuthRequest } from '@edge-gateway/core';

/** True where the browser says that another site, or a sibling host, made it ask. Nobody is logged out by a link or an image. */
export function isForeign(request: AuthRequest): boolean {
  const site = request.header('sec-fetch-site');
  return site === 'cross-site' || site === 'same-site';
}
