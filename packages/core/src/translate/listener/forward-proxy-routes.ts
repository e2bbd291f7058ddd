import type { VirtualHost } from '../../contract/snapshot.ts';
import type { HttpListenerOptions } from '../../schema/listener/gateway-options.ts';
import type { Derived } from '../derived.ts';
import { routeMessage } from '../status/messages.ts';

const NEEDS_OPTION =
  'dynamicForwardProxy needs httpGateway.options.dynamicForwardProxy of the gateway: requests get 503 without it';

/** Returns a warning for each route of a listener that needs `dynamicForwardProxy` of the listener, which is missing. */
export function forwardProxyWarnings(
  hosts: readonly VirtualHost[],
  { dynamicForwardProxy }: HttpListenerOptions,
  derived: Derived,
): string[] {
  if (dynamicForwardProxy) return [];
  return hosts
    .flatMap((host) => derived.of(routesToNamedHosts, host))
    .map((route) => {
      return routeMessage('InvalidDestinationWarning', NEEDS_OPTION, route);
    });
}

/** Kept for each virtual host, because it has many routes and rarely changes. */
function routesToNamedHosts({ routes }: VirtualHost): readonly string[] {
  return routes.flatMap(({ name, action }) => {
    const isDynamic = action.type === 'forward' && action.destinations.some(({ dynamic }) => dynamic?.type === 'host');
    return isDynamic ? [name] : [];
  });
}
