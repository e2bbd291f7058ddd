import { Agent, STATUS_CODES, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { linger } from '@edge-gateway/core';
import { localEndOf, type LocalEnd } from '../format/local-end.ts';
import { authorityOf, hostOf } from '../http1/authority.ts';
import { UpstreamProtocolError } from '../http1/errors.ts';
import { isHopByHop } from '../http1/hop-by-hop.ts';
import { requestHead } from '../http1/request-head.ts';
import { DEFAULT_TIMEOUT_MS } from '../upstream/cluster-settings.ts';
import { Cluster } from '../upstream/cluster.ts';
import type { Deadline, Limited } from '../upstream/deadlines.ts';
import type { Host } from '../upstream/hosts/host.ts';
import {
  explain,
  failureOf,
  noEndpoint,
  overflow,
  withResetText,
  type FailureReason,
  type ForwardFailure,
} from '../upstream/failure.ts';
import type { ConnectionPool, UnpooledUser } from '../upstream/pool.ts';
import type { ForwardUpgrade, UpgradeOutcome, UpgradeTarget } from './forward.ts';
import { WebSocketTunnel } from '../websocket/websocket-tunnel.ts';
import { StreamTimer, type ReachedLimit } from './stream-timer.ts';

/** Maximum time that an upstream may still send to a client that has finished sending, in milliseconds. */
const HALF_CLOSED_MS = 1000;
/** http-proxy-middleware reads the server of a request and does nothing without one. */
const SERVER = {};

/**
 * Forwards an upgrade to an endpoint of an upstream and joins the two connections until either side ends. A response other
 * than 101 is relayed and the connection closed; if the upstream refuses, is slow (`timeoutMs`) or sends no HTTP, the response is 503, 504
 * or 502; for a request that cannot be sent it is 500. Throws only a `TypeError` for an upstream that is not from `createUpstreams`.
 */
export const forwardUpgrade: ForwardUpgrade = (req, duplex, head, to) => {
  const { upstream } = to;
  if (!(upstream instanceof Cluster)) throw new TypeError('forwardUpgrade requires upstreams from createUpstreams');
  const socket = duplex as Socket;
  socket.on('error', () => {});
  const host = upstream.unusable === undefined ? (to.endpoint ?? upstream.pick(to.pickContext)) : undefined;
  const upgrade = new Upgrade(socket, to, upstream, host);
  if (host && !upstream.breakers.allowsRequest()) return upgrade.fail(overflow('too many active requests'));
  if (host) return upgrade.send(host, req.headers.upgrade ?? 'websocket', head);
  upgrade.fail(noEndpoint(upstream.unusable ?? 'no endpoint'));
};

class Upgrade implements Limited {
  readonly #socket: Socket;
  readonly #to: UpgradeTarget;
  readonly #cluster: Cluster;
  readonly #host: Host | undefined;
  readonly #before: { readonly read: number; readonly written: number };
  #status = 0;
  #reason: Pick<UpgradeOutcome, 'flags' | 'details' | 'cause'> = { flags: '' };
  #connected = false;
  #local: LocalEnd | undefined;
  #timer: StreamTimer | undefined;
  #deadline: Deadline | undefined;
  #stopWaiting: (() => void) | undefined;
  #hasEnded = false;
  #isWebSocket = false;
  #proxyReq: ClientRequest | undefined;

  constructor(socket: Socket, to: UpgradeTarget, cluster: Cluster, host: Host | undefined) {
    this.#socket = socket;
    this.#to = to;
    this.#cluster = cluster;
    this.#host = host;
    this.#before = { read: socket.bytesRead, written: socket.bytesWritten };
    cluster.stats.rqTotal.value++;
    cluster.stats.rqActive.value++;
    if (host) {
      host.rqTotal++;
      host.active++;
    }
    if (socket.destroyed) process.nextTick(this.#done);
    else socket.once('close', this.#done);
  }

  /** Sends the handshake over a separate connection, and joins the two connections if the upstream accepts it. */
  send(host: Host, protocol: string, head: Buffer): void {
    const { path, headers, streamLimits, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#to;
    this.#isWebSocket = protocol.toLowerCase() === 'websocket';
    if (timeoutMs > 0) this.#deadline = this.#cluster.deadlines.start(this, timeoutMs, performance.now());
    if (streamLimits) this.#timer = new StreamTimer(this.#cluster.deadlines, streamLimits, this.#limited);
    try {
      // A write error is not a failure of the upstream.
      requestHead({ method: 'GET', path, headers }, authorityOf(host), undefined);
      const proxied = {
        method: 'GET',
        url: path,
        headers: { ...headersByName(headers), connection: 'Upgrade', upgrade: 'websocket' },
        httpVersionMajor: 1,
        socket: { server: SERVER },
      };
      const proxy = createProxyMiddleware({
        // The agent uses TLS if the upstream does, so the target is always plain.
        target: `http://${authorityOf(host)}`,
        agent: this.#createAgent(this.#cluster.pool(host)),
        ejectPlugins: true,
        plugins: [
          (server) => {
            server.on('proxyReqWs', (proxyReq) => this.#watch(proxyReq.setHeader('upgrade', protocol)));
            server.on('error', this.#failed);
          },
        ],
      });
      proxy.upgrade(proxied as unknown as IncomingMessage, this.#socket, head);
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  /** Ends the upgrade before the tunnel exists, with a response of the gateway. */
  fail(reason: FailureReason): void {
    if (this.#status !== 0) return;
    this.#stopWaiting?.();
    this.#responded(reason.failure.status);
    const { flags, details, cause } = reason;
    this.#reason = { flags, details, cause };
    const failure = withResetText(reason, false);
    if (!this.#to.onFailure) return refuse(this.#socket, failure);
    // Later errors are not attributed to the host.
    this.#end();
    this.#to.onFailure(failure, this.#outcome());
  }

  /** The upstream took too long: it has not responded, or its response that refuses the upgrade is not complete. */
  expire(): void {
    this.#cluster.stats.rqTimeout.value++;
    this.#host!.rqTimeout++;
    const failure = failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT');
    this.#stop({ failure, flags: 'UT', details: 'response_timeout', cause: 'no complete response to the upgrade' });
  }

  /** Connections for upgrades: never shared or kept. */
  #createAgent(pool: ConnectionPool): Agent {
    const createConnection: Agent['createConnection'] = (_options, callback) => {
      const user: UnpooledUser = {
        client: this.#socket,
        onConnect: (error, socket) => callback?.(error, socket as Socket),
      };
      this.#stopWaiting = () => pool.cancel(user);
      pool.acquireUnpooled(user);
      return undefined;
    };
    return Object.assign(new Agent({ keepAlive: false, maxSockets: Infinity }), { createConnection });
  }

  #watch(proxyReq: ClientRequest): void {
    const socket = this.#socket;
    this.#proxyReq = proxyReq;
    const giveUp = (): void => {
      proxyReq.destroy();
      socket.destroy();
    };
    // A connection without a reader does not report that its peer disconnected.
    const peek = (): void => {
      socket.read(0);
      // The end is only reported when what was sent before it is read.
      if (hasEnded(socket)) giveUp();
    };
    const settle = (): void => {
      socket.off('readable', peek).off('end', giveUp).off('close', giveUp);
    };
    socket.on('readable', peek).on('end', giveUp).on('close', giveUp);
    if (hasEnded(socket)) return giveUp();
    proxyReq.once('socket', () => (this.#connected = true));
    // Until the failure is reported: a paused socket would not report that the client disconnected.
    proxyReq.once('error', settle).once('close', settle);
    const onResponse = (response: IncomingMessage): void => {
      const { statusCode: status = 0 } = response;
      settle();
      if (status < 200 || status > 599) return this.#failed(new UpstreamProtocolError(`unexpected status ${status}`));
      this.#responded(status);
      // Bytes after the response are an error of the request, for which http-proxy-middleware would end the connection of the client.
      proxyReq.removeAllListeners('error').on('error', () => {});
      // A response instead of a tunnel is not limited: its pauses are not observed.
      this.#timer?.cancel();
      if (this.#to.onResponse) this.#to.onResponse(response, this.#host!);
      else socket.once('finish', () => linger(socket));
    };
    proxyReq.once('response', onResponse);
    // http-proxy-middleware adds its own listener after this one, which would relay the response too.
    if (this.#to.onResponse)
      process.nextTick(() => proxyReq.removeAllListeners('response').once('response', onResponse));
    proxyReq.once('upgrade', (_response, tunnel: Socket) => {
      settle();
      this.#deadline?.cancel();
      this.#join(tunnel);
    });
  }

  #join(tunnel: Socket): void {
    const socket = this.#socket;
    this.#responded(101);
    this.#local = localEndOf(tunnel);
    // After http-proxy-middleware has put back what came with the heads and before the first read: a listener added now would take those bytes.
    process.nextTick(() => this.#observe(tunnel));
    socket.once('close', () => tunnel.destroy());
    // A client that vanished looks like one that only finished sending: an upstream that does not close is not waited for.
    socket.once('end', () => setTimeout(() => socket.destroy(), HALF_CLOSED_MS).unref());
    // What the upstream sent before it closed is still written; a client that never closes is not waited for.
    tunnel.once('close', () => (tunnel.readableEnded ? socket.destroySoon() : socket.destroy()));
    if (socket.destroyed) tunnel.destroy();
  }

  #observe(tunnel: Socket): void {
    if (this.#hasEnded) return;
    if (this.#timer) this.#watchPauses(this.#timer, tunnel);
    if (this.#isWebSocket) this.#to.onOpen?.(new WebSocketTunnel(this.#socket, tunnel));
  }

  #watchPauses(timer: StreamTimer, tunnel: Socket): void {
    const progress = (): void => timer.progress();
    this.#socket.on('data', progress);
    tunnel.on('data', progress);
  }

  #responded(status: number): void {
    this.#status = status;
    this.#cluster.stats.responded(status);
    this.#host?.responded(status);
  }

  readonly #limited = ({ code, flags, details }: ReachedLimit): void =>
    this.#stop({ failure: failureOf(code), flags, details });

  /** Ends the upgrade for a reason of the gateway: with a response if there is none yet. */
  #stop(reason: FailureReason): void {
    if (this.#status === 0) this.fail(reason);
    else {
      this.#reason = { flags: reason.flags, details: reason.details };
      this.#socket.destroy();
    }
    this.#proxyReq?.destroy();
  }

  readonly #failed = (error: Error): void => this.fail(explain(error, this.#connected ? 'sent' : 'connecting'));

  readonly #done = (): void => {
    if (this.#hasEnded) return;
    this.#end();
    this.#to.onDone?.(this.#outcome());
  };

  /** Ends the timers and statistics. */
  #end(): void {
    const { stats } = this.#cluster;
    this.#hasEnded = true;
    this.#stopWaiting?.();
    this.#timer?.cancel();
    this.#deadline?.cancel();
    stats.rqActive.value--;
    if (this.#host) this.#host.active--;
    stats.rqCompleted.value++;
    if (this.#status === 0) stats.rqCancelled.value++;
  }

  #outcome(): UpgradeOutcome {
    const status = this.#status;
    return {
      ...this.#reason,
      ...(status === 0 && { flags: 'DC' }),
      status,
      endpoint: this.#host && hostOf(this.#host),
      local: this.#local,
      bytesSent: this.#socket.bytesWritten - this.#before.written,
      bytesReceived: this.#socket.bytesRead - this.#before.read,
    };
  }
}

/** Returns true if the peer has finished sending, also while something that it sent is unread. */
function hasEnded(socket: Socket): boolean {
  return (socket as Socket & { readonly _readableState: { readonly ended: boolean } })._readableState.ended;
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

function headersByName(flat: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    if (isHopByHop(name)) continue;
    const known = headers[name];
    headers[name] = known === undefined ? flat[i + 1]! : [...[known].flat(), flat[i + 1]!];
  }
  return headers;
}
