import { authPlaceOf, type AuthPlace } from '../../contract/auth-place.ts';
import type { FieldProblem } from '../../resource/problem.ts';
import type { ExtAuthExtension } from '../../schema/auth/extauth.ts';
import type { Route, SnapshotAuthConfig } from '../../contract/snapshot.ts';
import { faultOf } from '../reference/missing.ts';
import type { Reader } from '../input.ts';

/** Options that may refer to an AuthConfig. */
export interface HasExtAuth {
  readonly extauth?: ExtAuthExtension;
}

/** Returns why the AuthConfig or the auth server of a block cannot be used; empty if it can, or if there is none. */
export function authProblems(block: ExtAuthExtension | undefined, reader: Reader): readonly FieldProblem[] {
  if (!block?.configRef && !block?.customAuth) return [];
  const { fault } = block.configRef ? reader.authConfig(block.configRef) : {};
  return [...(fault ? [fault] : []), ...serverProblems(authPlaceOf(block, reader.authServers), reader)];
}

function serverProblems(place: AuthPlace, reader: Reader): readonly FieldProblem[] {
  if (place.type === 'missing') return [faultOf(place.reason)];
  if (place.type !== 'server') return [];
  const { fault } = reader.upstream(place.upstream);
  return fault ? [{ ...fault, message: `the upstream of the auth server cannot be used: ${fault.message}` }] : [];
}

const NONE: readonly SnapshotAuthConfig[] = Object.freeze([]);

/** Returns the warning about an AuthConfig whose last good version is served. */
export function staleAuth(block: ExtAuthExtension | undefined, reader: Reader): string | undefined {
  return block?.configRef && reader.authConfig(block.configRef).warning;
}

/** Returns the AuthConfigs that a virtual host refers to, sorted and unique, without broken ones. */
export function authConfigsOf(
  { options, routes }: { readonly options: HasExtAuth; readonly routes: readonly Route[] },
  reader: Reader,
): readonly SnapshotAuthConfig[] {
  const configs = new Map<string, SnapshotAuthConfig>();
  for (const { extauth } of blocksOf(options, routes)) {
    if (!extauth?.configRef) continue;
    const { config } = reader.authConfig(extauth.configRef);
    if (config) configs.set(`${config.ref.namespace}/${config.ref.name}`, config);
  }
  if (configs.size === 0) return NONE;
  return Object.freeze([...configs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, config]) => config));
}

function* blocksOf(options: HasExtAuth, routes: readonly Route[]): Generator<HasExtAuth> {
  yield options;
  for (const route of routes) {
    yield route.options;
    if (route.action.type === 'forward') for (const destination of route.action.destinations) yield destination.options;
  }
}
