import type { JwtProviders, RouteOptions, VirtualHostOptions } from '../index.ts';

type Stage = 'beforeExtAuth' | 'afterExtAuth';

/**
 * Returns the block that applies to a route at one stage. A route's own providers replace those of its virtual host; `disable`
 * removes them; other stages are unaffected.
 */
export function jwtBlockOf(levels: readonly object[], stage: Stage): JwtProviders | undefined {
  const [host = {}, route = {}] = levels as readonly [VirtualHostOptions?, RouteOptions?];
  const inherited = host.jwtStaged?.[stage] ?? (stage === 'afterExtAuth' ? host.jwt : undefined);
  if (route.jwtProvidersStaged?.[stage]) return route.jwtProvidersStaged[stage];
  const disabled = route.jwtStaged?.[stage]?.disable ?? (stage === 'afterExtAuth' && route.jwt?.disable);
  return disabled ? undefined : inherited;
}
