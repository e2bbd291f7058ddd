import type { Socket } from 'node:net';
import { Cluster } from '../../upstream/cluster.ts';
import { noEndpoint, overflow } from '../../upstream/failure.ts';
import type { ForwardUpgrade } from '../forward.ts';
import { Upgrade } from './upgrade.ts';

/**
 * Forwards an upgrade to an endpoint of an upstream and joins the two connections until either side ends: a WebSocket, a CONNECT
 * request, or the data of one as a TCP connection. A response that rejects it is relayed, and the connection closed. If the connection is
 * refused, times out (`timeoutMs`) or sends no valid HTTP, the response is 503, 504
 * or 502; for a request that cannot be sent it is 500. Throws only a `TypeError` for an upstream that is not from `createUpstreams`.
 */
export const forwardUpgrade: ForwardUpgrade = (req, duplex, head, to) => {
  const { upstream } = to;
  if (!(upstream instanceof Cluster)) throw new TypeError('forwardUpgrade requires upstreams from createUpstreams');
  const socket = duplex as Socket;
  socket.on('error', () => {});
  const host = upstream.unusable === undefined ? (to.endpoint ?? upstream.pick(to.pickContext)) : undefined;
  const protocol = req.headers.upgrade ?? 'websocket';
  const upgrade = new Upgrade({ req, socket, to, cluster: upstream, protocol }, head, host);
  if (!host) return upgrade.fail(noEndpoint(upstream.unusable ?? 'no endpoint'));
  if (!upstream.breakers.allowsRequest()) return upgrade.fail(overflow('too many active requests'));
  upgrade.start(host);
};
