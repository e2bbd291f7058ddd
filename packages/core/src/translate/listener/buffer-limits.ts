import type { VirtualHost } from '../../contract/snapshot.ts';
import type { HttpListenerOptions } from '../../schema/listener/gateway-options.ts';
import type { Derived } from '../derived.ts';
import { routeMessage } from '../status/messages.ts';

const NEEDS_OPTION = 'bufferPerRoute has no effect without httpGateway.options.buffer of the gateway';

/** Returns a warning for each limit of `bufferPerRoute` on a listener that does not buffer. */
export function bufferWarnings(
  hosts: readonly VirtualHost[],
  { buffer }: HttpListenerOptions,
  derived: Derived,
): readonly string[] {
  return buffer ? [] : hosts.flatMap((host) => derived.of(limitsOf, host));
}

/** Kept for each virtual host, because it has many routes and rarely changes. */
function limitsOf({ name, options, routes }: VirtualHost): readonly string[] {
  return [
    ...(options.bufferPerRoute?.buffer ? [`${name}: ${NEEDS_OPTION}`] : []),
    ...routes.flatMap((route) => {
      return route.options.bufferPerRoute?.buffer ? [routeMessage('ProcessingWarning', NEEDS_OPTION, route.name)] : [];
    }),
  ];
}
