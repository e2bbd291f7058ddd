import { authPlaceOf, type Scope } from '@edge-gateway/core';
import type { ExtAuthExtension } from '@edge-gateway/core/schema';
import { settingsOf } from '../settings.ts';

/**
 * Returns the request headers, in lower case, that the auth servers of a virtual host set: upstreams trust them, so clients must not send them on
 * any of its routes. Servers over gRPC name only the header of the user beforehand.
 */
export function serverHeadersOf(scope: Scope | undefined): readonly string[] {
  if (!scope) return [];
  return [...blocksOf(scope)].flatMap((block) => {
    const place = authPlaceOf(block, scope.settings);
    if (place.type !== 'server') return [];
    const { allowedUpstreamHeaders = [] } = place.server.httpService?.response ?? {};
    return [settingsOf(place.server).userIdHeader, ...allowedUpstreamHeaders.map((name) => name.toLowerCase())];
  });
}

function blocksOf({ virtualHost: { options, routes } }: Scope): ReadonlySet<ExtAuthExtension> {
  const levels = routes.flatMap(({ options: own, action }) => [
    own,
    ...(action.type === 'forward' ? action.destinations.map((each) => each.options) : []),
  ]);
  return new Set([options, ...levels].flatMap(({ extauth }) => extauth ?? []));
}
