import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type Facts, type Route, type Scope } from '@edge-gateway/core';

/** Options of a route that restrict access. */
const GUARDS = ['extauth', 'jwt', 'jwtStaged', 'jwtProvidersStaged', 'rbac'] as const;

/** Returns true if a policy of the route or of its virtual host restricts access. */
export function isGuarded({ virtualHost, route }: Pick<Scope, 'virtualHost' | 'route'>): boolean {
  const levels: readonly Readonly<Record<string, unknown>>[] = [virtualHost.options, route?.options ?? {}];
  const extauth = (route?.options as Route['options'] | undefined)?.extauth;
  return GUARDS.some((option) => {
    if (option === 'extauth' && extauth?.disable === true) return false;
    return levels.some((level) => level[option] !== undefined);
  });
}

/** Returns true for a request with credentials or a client certificate, or that a policy has authenticated or allowed. */
export function carriesIdentity(req: IncomingMessage, facts: Facts): boolean {
  if (facts.identity !== undefined || facts.isGuarded) return true;
  if (facts.header('authorization') !== undefined || facts.header('cookie') !== undefined) return true;
  return (req.socket as TLSSocket).authorized === true;
}
