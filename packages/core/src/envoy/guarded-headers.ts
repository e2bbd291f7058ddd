import type { Route, SnapshotSettings, VirtualHost } from '../contract/snapshot.ts';
import { canonicalName, grantedHeaderNames } from '../http/reserved-headers.ts';
import type { JwtProviders, JwtStaged } from '../schema/auth/jwt.ts';
import { DEFAULTS } from '../schema/defaults.ts';

const known = new WeakMap<VirtualHost, readonly string[]>();

/**
 * Returns the headers that only claims, AuthConfigs and auth servers of a virtual host may set, in all spellings that servers treat alike:
 * they are removed from requests to all of its routes.
 */
export function grantedHeaders(host: VirtualHost): readonly string[] {
  let found = known.get(host);
  if (!found) known.set(host, (found = collect(host)));
  return found;
}

function collect({ options, routes, authConfigs }: VirtualHost): readonly string[] {
  const levels = [options, ...routes.map((route) => route.options)] as readonly (VirtualHost['options'] &
    Route['options'])[];
  const blocks = levels.flatMap(({ jwt, jwtStaged, jwtProvidersStaged }) =>
    [jwt, jwtStaged, jwtProvidersStaged].filter((block) => block !== undefined),
  );
  const granted = new Set(grantedHeaderNames([...blocks, ...authConfigs.map(({ spec }) => spec)]));
  // Clients send tokens in these.
  for (const name of tokenHeaders(blocks)) granted.delete(canonicalName(name));
  granted.delete('authorization');
  return [...granted];
}

function tokenHeaders(blocks: readonly object[]): string[] {
  const found = (blocks as readonly (JwtProviders & JwtStaged)[]).flatMap((block) => [
    block,
    block.beforeExtAuth ?? {},
    block.afterExtAuth ?? {},
  ]);
  const providers = found.flatMap((block) => Object.values(block.providers ?? {}));
  return providers.flatMap(({ tokenSource }) => tokenSource?.headers ?? []).map(({ header = '' }) => header);
}

/** Returns {@link grantedHeaders}, and those that the auth server of the Settings may set. */
export function guardedHeaders(host: VirtualHost, { extauth }: SnapshotSettings): ReadonlySet<string> {
  const isGuarded = extauth !== undefined || host.authConfigs.length > 0;
  const users = isGuarded ? [(extauth?.userIdHeader || DEFAULTS.userIdHeader).toLowerCase()] : [];
  const servers = extauth?.httpService?.response?.allowedUpstreamHeaders ?? [];
  return new Set([...grantedHeaders(host), ...users, ...servers.map((name) => name.toLowerCase())]);
}
