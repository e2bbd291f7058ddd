import { authPlaceOf, type Scope } from '@edge-gateway/core';
import type { ExtAuthExtension } from '@edge-gateway/core/schema';
import { settingsOf } from '../settings.ts';

/**
 * Returns the request headers, in lower case, that the auth servers of a virtual host set: upstreams trust them, so clients must not send them on
 * any of its routes; cookies are not among them. Servers over gRPC name only the header of the user beforehand.
 */
export function serverHeadersOf(scope: Scope | undefined): readonly string[] {
  if (!scope) return [];
  return [...blocksOf(scope)].flatMap((block) => {
    const place = authPlaceOf(block, scope.settings);
    if (place.type !== 'server') return [];
    const { allowedUpstreamHeaders = [] } = place.server.httpService?.response ?? {};
    return [settingsOf(place.server).userIdHeader, ...allowedUpstreamHeaders.map(lower).filter(isTrusted)];
  });
}

const lower = (name: string): string => name.toLowerCase();

/** Cookies belong to the client: a server only hides some of them from the upstream. */
const isTrusted = (name: string): boolean => name !== 'cookie';

function blocksOf({ virtualHost: { options, routes } }: Scope): ReadonlySet<ExtAuthExtension> {
  const levels = routes.flatMap(({ options: own, action }) => [
    own,
    ...(action.type === 'forward' ? action.destinations.map((each) => each.options) : []),
  ]);
  return new Set([options, ...levels].flatMap(({ extauth }) => extauth ?? []));
}
