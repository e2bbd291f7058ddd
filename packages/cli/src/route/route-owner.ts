import { cliError } from '../error-codes.ts';
import type { Identity } from '../edit/resource-file.ts';

/** The kinds of resources that have routes. */
export type OwnerKind = 'VirtualService' | 'RouteTable';

/** Returns the kind that a flag chooses. */
export const ownerKind = (isTable: boolean): OwnerKind => (isTable ? 'RouteTable' : 'VirtualService');

/** The path of the routes in a resource. */
export function routesPath(kind: string): readonly string[] {
  return kind === 'RouteTable' ? ['spec', 'routes'] : ['spec', 'virtualHost', 'routes'];
}

/** Throws `ERR_CLI_NOT_FOUND` if an index is out of range. */
export function rejectIndex({ name }: Identity, index: number, limit: number): void {
  if (index < limit) return;
  const allowed = limit === 0 ? 'it has no routes' : `choose one from 0 to ${limit - 1}`;
  throw cliError('ERR_CLI_NOT_FOUND', `${index} is greater than the number of routes on ${name}: ${allowed}`);
}
