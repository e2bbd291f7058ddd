import type { Route, VirtualHost } from '../../contract/snapshot.ts';
import type { Derived } from '../derived.ts';
import { contentOf } from './content.ts';

/** Returns `before` if nothing differs, else `now` with the unchanged routes of `before`. */
export function keepSame(now: VirtualHost, before: VirtualHost | undefined, derived: Derived): VirtualHost {
  if (!before) return now;
  if (contentOf(now, derived) === contentOf(before, derived)) return before;
  const known = new Map(before.routes.map((route) => [route.name, route]));
  const routes = now.routes.map((route) => sameRoute(route, known.get(route.name), derived));
  const domains = now.domains.join() === before.domains.join() ? before.domains : now.domains;
  return Object.freeze({ ...now, domains, routes: Object.freeze(routes) });
}

function sameRoute(now: Route, before: Route | undefined, derived: Derived): Route {
  return before && contentOf(now, derived) === contentOf(before, derived) ? before : now;
}
