import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { linger, type Endpoint } from '@edge-gateway/core';
import { Cluster } from '../upstream/cluster.ts';
import { hostOf } from '../upstream/host-of.ts';
import type { ForwardUpgrade, UpgradeTarget } from './forward.ts';
import { explain, failureOf } from '../upstream/failure.ts';
import type { ForwardFailure } from '../upstream/failure.ts';
import { isHopByHop } from '../http1/hop-by-hop.ts';
import { requestHead } from '../http1/request-head.ts';
import { sendUpgrade, type Upgrade } from './upgrade-proxy.ts';

/**
 * Hands an upgrade to an endpoint of an upstream and joins the two connections until either side ends. A response other
 * than 101 is relayed and the connection closed; a refused, slow (15 s) or senseless upstream is answered with 503, 504
 * or 502, a request that cannot be written with 500. Nothing throws but a `TypeError` for an upstream that is not of `createUpstreams`.
 */
export const forwardUpgrade: ForwardUpgrade = (req, duplex, head, to) => {
  const { upstream } = to;
  if (!(upstream instanceof Cluster)) throw new TypeError('forwardUpgrade takes upstreams of createUpstreams');
  const socket = duplex as Socket;
  socket.on('error', () => {});
  const endpoint = upstream.unusable === undefined ? (to.endpoint ?? upstream.pick()) : undefined;
  const upgrade = createUpgrade({ req, socket, to, upstream, endpoint });
  if (!endpoint) return upgrade.fail(failureOf('ERR_ROUTING_NO_ENDPOINT'), 'UH', upstream.unusable);
  try {
    // What cannot be written is no fault of the upstream.
    requestHead({ method: 'GET', path: to.path, headers: to.headers }, hostOf(endpoint), undefined);
    const headers = collect(to.headers);
    sendUpgrade(upgrade, { pool: upstream.pool(endpoint), endpoint, path: to.path, headers, head });
  } catch (error) {
    const { failure, flags, details } = explain(error as Error, 'connecting');
    upgrade.fail(failure, flags, details);
  }
};

interface UpgradeParts {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly to: UpgradeTarget;
  readonly upstream: Cluster;
  readonly endpoint: Endpoint | undefined;
}

function createUpgrade({ req, socket, to, upstream, endpoint }: UpgradeParts): Upgrade {
  const before = { read: socket.bytesRead, written: socket.bytesWritten };
  const { stats } = upstream;
  let status = 0;
  let flags = '';
  let details: string | undefined;
  stats.rqTotal.value++;
  stats.rqActive.value++;
  const upgrade: Upgrade = {
    socket,
    protocol: req.headers.upgrade ?? 'websocket',
    connected: false,
    fail(failure, flag, why) {
      if (status !== 0) return;
      upgrade.onResponse(failure.status);
      flags = flag;
      details = why;
      refuse(socket, failure);
    },
    onResponse(sent) {
      status = sent;
      stats.responded(sent);
    },
  };
  const done = (): void => {
    stats.rqActive.value--;
    stats.rqCompleted.value++;
    if (status === 0) stats.rqCancelled.value++;
    to.onDone?.({
      status,
      flags: status === 0 ? 'DC' : flags,
      details,
      endpoint: endpoint && hostOf(endpoint),
      bytesSent: socket.bytesWritten - before.written,
      bytesReceived: socket.bytesRead - before.read,
    });
  };
  if (socket.destroyed) process.nextTick(done);
  else socket.once('close', done);
  return upgrade;
}

function refuse(socket: Socket, { status, message }: ForwardFailure): void {
  if (socket.destroyed || !socket.writable) return;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: text/plain',
    `content-length: ${Buffer.byteLength(message)}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${message}`);
  linger(socket);
}

function collect(flat: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    if (isHopByHop(name)) continue;
    const known = headers[name];
    headers[name] = known === undefined ? flat[i + 1]! : [...[known].flat(), flat[i + 1]!];
  }
  return headers;
}
