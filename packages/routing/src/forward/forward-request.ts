import { Cluster } from '../upstream/cluster.ts';
import { noEndpoint } from '../upstream/failure.ts';
import type { Forward } from './forward.ts';
import { ForwardedExchange } from './forwarded-exchange.ts';
import { RetriedExchange } from './retried-exchange.ts';

/**
 * Sends a request to an endpoint of an upstream over HTTP/1.1 and streams the response back, with back-pressure in both directions.
 * `upstream` must be from `createUpstreams`; otherwise throws a `TypeError`. Other failures are reported to `head.onDone`.
 *
 * - The time limit starts at the last byte of the request; while the request is being sent, it limits each pause. A client that
 *   pauses longer gets 408, and the host is not blamed for it.
 * - A request without a body and with an idempotent method is retried once, on a new connection, if the peer closed the
 *   idle connection before any byte of a response. With `head.retries`, any request is retried as that policy says.
 * - Trailers are dropped in both directions unless both sides enable them; interim responses (1xx) are
 *   dropped without `head.passesInterim`.
 * - A final response during an upload is delivered completely; then the connections on both sides are closed.
 */
export const forward: Forward = (req, res, upstream, head) => {
  if (!(upstream instanceof Cluster)) throw new TypeError('forward requires upstreams from createUpstreams');
  const host = upstream.unusable === undefined ? (head.endpoint ?? upstream.pick(head.pickContext)) : undefined;
  if (host) {
    const parts = { req, res, cluster: upstream, head, host };
    if (head.retries) new RetriedExchange(parts, head.retries).start();
    else new ForwardedExchange(parts).start();
    return;
  }
  head.onDone({
    ...noEndpoint(upstream.unusable ?? 'no endpoint'),
    attempts: 0,
    bytesSent: 0,
    bytesReceived: 0,
  });
};
