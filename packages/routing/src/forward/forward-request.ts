import { Cluster } from '../upstream/cluster.ts';
import { Exchange } from './forward-exchange.ts';
import { failureOf } from '../upstream/failure.ts';
import type { Forward } from './forward.ts';

/**
 * Sends a request to an endpoint of an upstream over HTTP/1.1 and streams the response back, with back-pressure both ways.
 * `upstream` is one of `createUpstreams`; another throws a `TypeError`. Nothing else throws: `head.onDone` tells how it ended.
 *
 * - The time limit runs from the last byte of the request; while the request is still being sent it limits each pause.
 * - A request without body and with an idempotent method is sent once more, on a fresh connection, when the one it went
 *   out on turns out to be closed by the other side before any byte of a response.
 * - Trailers are dropped both ways; interim responses (1xx) are too.
 * - A final response during an upload is handed on whole; then the connections on both sides are closed.
 */
export const forward: Forward = (req, res, upstream, head) => {
  if (!(upstream instanceof Cluster)) throw new TypeError('forward takes upstreams of createUpstreams');
  const endpoint = upstream.unusable === undefined ? (head.endpoint ?? upstream.pick()) : undefined;
  if (endpoint) {
    new Exchange({ req, res, cluster: upstream, head, endpoint }).start();
    return;
  }
  head.onDone({
    failure: failureOf('ERR_ROUTING_NO_ENDPOINT'),
    flags: 'UH',
    details: upstream.unusable ?? 'no endpoint',
    upstreamMs: -1,
    bytesSent: 0,
    bytesReceived: 0,
  });
};
