import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { isIdentityHeader, type Facts, type Route, type Scope } from '@edge-gateway/core';

/** Options of a route that say who may use it. */
const GUARDS = ['extauth', 'jwt', 'jwtStaged', 'jwtProvidersStaged', 'rbac'] as const;

/** Returns true where some policy of the route, or of its virtual host, decides who may use it. */
export function isGuarded({ virtualHost, route }: Pick<Scope, 'virtualHost' | 'route'>): boolean {
  const levels: readonly Readonly<Record<string, unknown>>[] = [virtualHost.options, route?.options ?? {}];
  const extauth = (route?.options as Route['options'] | undefined)?.extauth;
  return GUARDS.some((option) => {
    if (option === 'extauth' && extauth?.disable === true) return false;
    return levels.some((level) => level[option] !== undefined);
  });
}

/**
 * Returns true for a request that says who its client is: by credentials, by a client certificate, or by a header that a policy in front has
 * set. What only the headers of an own scheme say is not known here.
 */
export function carriesIdentity(req: IncomingMessage, facts: Facts): boolean {
  if (facts.header('authorization') !== undefined || facts.header('cookie') !== undefined) return true;
  if (facts.claims.size > 0 || (req.socket as TLSSocket).authorized === true) return true;
  return facts.requestChanges.some(({ op, name }) => op !== 'remove' && isIdentityHeader(name));
}
