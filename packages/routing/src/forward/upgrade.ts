import { Agent, STATUS_CODES, type ClientRequest, type IncomingMessage } from 'node:http';
import { constants, type ClientHttp2Stream } from 'node:http2';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { linger } from '@edge-gateway/core';
import { localEndOf, type LocalEnd } from '../format/local-end.ts';
import { authorityOf } from '../http1/authority.ts';
import { UpstreamClosedError, UpstreamProtocolError } from '../http1/errors.ts';
import { findHeader } from '../http1/flat-headers.ts';
import { isHopByHop } from '../http1/hop-by-hop.ts';
import { checkField, connectHead, isFraming, requestHead } from '../http1/request-head.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import { acceptOf } from '../websocket/accept.ts';
import type { ChannelUser } from '../upstream/channel.ts';
import { DEFAULT_TIMEOUT_MS } from '../upstream/cluster-settings.ts';
import { Cluster } from '../upstream/cluster.ts';
import { ConnectExchange } from '../upstream/connect/connect-exchange.ts';
import { RelayedResponse } from '../upstream/connect/relayed-response.ts';
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
import { readResponseHeaders } from '../upstream/http2/stream-head.ts';
import type { UpstreamStream } from '../upstream/http2/upstream-stream.ts';
import type { ForwardUpgrade, UpgradeOutcome, UpgradeTarget, UpstreamReply } from './forward.ts';
import { join } from './join.ts';
import { WebSocketTunnel } from '../websocket/websocket-tunnel.ts';
import { StreamTimer, type ReachedLimit } from './stream-timer.ts';

/** Maximum time that an upstream may still send to a client that has finished sending, in milliseconds. */
const HALF_CLOSED_MS = 1000;
const CANCEL = constants.NGHTTP2_CANCEL;
/** Headers of an HTTP/1.1 handshake that are not copied from the upstream. */
const OWN_OF_HANDSHAKE = /^(?:connection|upgrade|content-length|sec-websocket-accept)$/i;
const ignore = (): void => {};
const require = createRequire(import.meta.url);
/** Loads the proxy with the first upgrade: most gateways forward none. */
const loadProxy = () => require('http-proxy-middleware') as typeof import('http-proxy-middleware');
/** http-proxy-middleware reads the server of a request and does nothing without one. */
const SERVER = {};

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
  const upgrade = new Upgrade(socket, to, upstream, host);
  if (host && !upstream.breakers.allowsRequest()) return upgrade.fail(overflow('too many active requests'));
  if (host) return upgrade.send(host, { protocol: req.headers.upgrade ?? 'websocket', head });
  upgrade.fail(noEndpoint(upstream.unusable ?? 'no endpoint'));
};

/** The requested protocol, and the data that the client sent after its request. */
interface RequestedUpgrade {
  readonly protocol: string;
  readonly head: Buffer;
}

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
  /** Aborts the pending upstream request. */
  #abort: (() => void) | undefined;

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

  /** Sends the request upstream, and joins client and upstream if it is accepted. */
  send(host: Host, requested: RequestedUpgrade): void {
    const { streamLimits, tunnel, isHttp2 = false, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#to;
    this.#isWebSocket = tunnel === undefined && requested.protocol.toLowerCase() === 'websocket';
    if (timeoutMs > 0) this.#deadline = this.#cluster.deadlines.start(this, timeoutMs, performance.now());
    if (streamLimits) this.#timer = new StreamTimer(this.#cluster.deadlines, streamLimits, this.#limited);
    try {
      if (tunnel === 'terminate')
        this.#connect(host, (socket) => this.#accept({ status: 200, headers: [] }, socket, requested));
      else if (this.#cluster.usesHttp2(isHttp2)) this.#openStream(host, requested);
      else if (tunnel === 'forward') this.#sendConnect(host, requested);
      else this.#sendHandshake(host, requested);
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  /** Opens a connection to the host that is not pooled. */
  #connect(host: Host, use: (socket: Socket) => void): void {
    const pool = this.#cluster.pool(host);
    const user: UnpooledUser = {
      client: this.#socket,
      onConnect: (error, socket) => {
        settle();
        this.#stopWaiting = undefined;
        if (this.#isOver) return void socket?.destroy();
        if (!socket) return this.#failed(error!);
        this.#connected = true;
        socket.allowHalfOpen = true;
        use(socket);
      },
    };
    const settle = this.#watchClient(() => pool.cancel(user));
    this.#stopWaiting = () => pool.cancel(user);
    pool.acquireUnpooled(user);
  }

  /** Sends a CONNECT request over a connection of HTTP/1.1. */
  #sendConnect(host: Host, requested: RequestedUpgrade): void {
    const request = connectHead(this.#to.headers);
    this.#connect(host, (socket) => {
      const settle = this.#watchClient(() => socket.destroy());
      this.#abort = () => socket.destroy();
      new ConnectExchange(socket, {
        onOpen: (head) => {
          settle();
          this.#accept(head, socket, requested);
        },
        onRejection: (response) => {
          settle();
          this.#refused(response, host);
        },
        onError: (error) => {
          settle();
          this.#failed(error);
        },
      }).start(request);
    });
  }

  /** Opens a stream of HTTP/2 for a tunnel, or for a WebSocket if the server accepts them (RFC 8441). */
  #openStream(host: Host, requested: RequestedUpgrade): void {
    const pool = this.#cluster.http2Pool(host);
    const protocol = this.#to.tunnel ? undefined : requested.protocol;
    const head = pool.prepareTunnel(this.#to, protocol);
    const user: ChannelUser = {
      client: this.#socket,
      onOpen: (channel) => {
        settle();
        this.#stopWaiting = undefined;
        // All streams of this pool are HTTP/2 streams.
        const stream = channel as UpstreamStream;
        if (this.#isOver) return stream.leave();
        if (protocol === undefined || stream.acceptsWebSockets) return this.#useStream(stream, head, requested);
        stream.leave();
        this.#sendHandshake(host, requested);
      },
      onBroken: ({ sent }, error) => {
        settle();
        this.#connected ||= sent;
        this.#failed(error);
      },
      // The stream is used directly.
      onHead: ignore,
      onHeadAlone: ignore,
      onBody: ignore,
      onEnd: ignore,
    };
    const settle = this.#watchClient(() => pool.cancel(user));
    this.#stopWaiting = () => pool.cancel(user);
    if (!pool.acquire(user)) this.fail(overflow('too many requests are waiting'));
  }

  #useStream(channel: UpstreamStream, head: readonly string[], requested: RequestedUpgrade): void {
    let stream: ClientHttp2Stream;
    try {
      stream = channel.openTunnel(head);
    } catch (error) {
      return this.#failed(error as Error);
    }
    this.#connected = true;
    this.#local = channel.local;
    this.#abort = () => stream.close(CANCEL);
    let error: Error | undefined;
    const settle = this.#watchClient(() => stream.close(CANCEL));
    const broken = (): void => {
      settle();
      this.#failed(channel.tunnelError(error));
    };
    stream.on('error', (reason: Error) => (error = reason)).once('close', broken);
    stream.once('aborted', () => process.nextTick(endReset, stream, hasEnded(stream)));
    stream.once('response', (_headers: unknown, _flags: unknown, raw?: readonly string[]) => {
      stream.off('close', broken);
      settle();
      try {
        const response = readResponseHeaders(raw ?? [], false);
        if (response.status < 300) this.#accept(response, stream, requested);
        else this.#refused(relayStream(response, stream), this.#host!);
      } catch (reason) {
        this.#failed(reason as Error);
        stream.close(CANCEL);
      }
    });
  }

  /** Opens the tunnel towards the client, and joins both. */
  #accept(
    { status, headers }: Pick<ResponseHead, 'status' | 'headers'>,
    tunnel: Socket | ClientHttp2Stream,
    requested: RequestedUpgrade,
  ): void {
    const socket = this.#socket;
    this.#abort = undefined;
    let head: string;
    try {
      head = this.#isWebSocket ? this.#handshakeHead(headers) : this.#tunnelHead(status, headers);
    } catch (error) {
      tunnel.on('error', ignore).destroy();
      return this.#failed(new UpstreamProtocolError((error as Error).message));
    }
    this.#deadline?.cancel();
    socket.write(head, 'latin1');
    if (requested.head.length > 0) tunnel.write(requested.head);
    this.#opened(tunnel, this.#isWebSocket ? 101 : status);
    join(socket, tunnel);
    this.#observe(tunnel);
    if (this.#isWebSocket) this.#limitHalfClosed();
  }

  #tunnelHead(status: number, headers: readonly string[]): string {
    // A response that opens a tunnel has no length (RFC 9110 §9.3.6).
    const kept = headers.filter((_text, i) => !isFraming(headers[i - (i % 2)]!));
    return responseHead(status, this.#to.onTunnel?.(status, kept, this.#host!) ?? kept);
  }

  /** The handshake of HTTP/1.1 for a WebSocket over HTTP/2. */
  #handshakeHead(headers: readonly string[]): string {
    const accept = acceptOf(findHeader(this.#to.headers, 'sec-websocket-key') ?? '');
    const own = ['connection', 'Upgrade', 'upgrade', 'websocket', 'sec-websocket-accept', accept];
    const kept = headers.filter((_text, i) => !OWN_OF_HANDSHAKE.test(headers[i - (i % 2)]!));
    return responseHead(101, [...own, ...kept]);
  }

  /** Sends the handshake over a separate connection, and joins the two connections if the upstream accepts it. */
  #sendHandshake(host: Host, { protocol, head }: RequestedUpgrade): void {
    const { path, headers } = this.#to;
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
      const proxy = loadProxy().createProxyMiddleware({
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
    if (this.#isOver) return;
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
    this.#abort = () => proxyReq.destroy();
    const settle = this.#watchClient(() => proxyReq.destroy());
    if (socket.destroyed) return;
    proxyReq.once('socket', () => (this.#connected = true));
    // Until the failure is reported: a paused socket would not report that the client disconnected.
    proxyReq.once('error', settle).once('close', settle);
    const onResponse = (response: IncomingMessage): void => {
      const { statusCode: status = 0 } = response;
      settle();
      if (status < 200 || status > 599) return this.#failed(new UpstreamProtocolError(`unexpected status ${status}`));
      // Bytes after the response are an error of the request, for which http-proxy-middleware would end the connection of the client.
      proxyReq.removeAllListeners('error').on('error', () => {});
      this.#refused(response, this.#host!);
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

  /** Calls `giveUp` and ends the connection if the client disconnects, until the returned function is called. */
  #watchClient(giveUp: () => void): () => void {
    const socket = this.#socket;
    const end = (): void => {
      giveUp();
      socket.destroy();
    };
    // A connection without a reader does not report that its peer disconnected.
    const peek = (): void => {
      socket.read(0);
      // The end is only reported when what was sent before it is read.
      if (hasEnded(socket)) end();
    };
    socket.on('readable', peek).on('end', end).on('close', end);
    if (hasEnded(socket)) end();
    return () => void socket.off('readable', peek).off('end', end).off('close', end);
  }

  /** Relays the response of an upstream that rejects the request. */
  #refused(response: UpstreamReply, host: Host): void {
    this.#responded(response.statusCode ?? 502);
    // The idle timeout does not apply to a response that rejects the tunnel.
    this.#timer?.cancel();
    if (this.#to.onResponse) this.#to.onResponse(response, host);
    else this.#socket.once('finish', () => linger(this.#socket));
  }

  #opened(tunnel: Duplex, status: number): void {
    this.#responded(status);
    if (tunnel instanceof Socket) this.#local = localEndOf(tunnel);
  }

  #join(tunnel: Socket): void {
    const socket = this.#socket;
    this.#opened(tunnel, 101);
    // After http-proxy-middleware has put back what came with the heads and before the first read: a listener added now would take those bytes.
    process.nextTick(() => this.#observe(tunnel));
    socket.once('close', () => tunnel.destroy());
    this.#limitHalfClosed();
    // What the upstream sent before it closed is still written; a client that never closes is not waited for.
    tunnel.once('close', () => (tunnel.readableEnded ? socket.destroySoon() : socket.destroy()));
    if (socket.destroyed) tunnel.destroy();
  }

  /** A client that disconnected cannot be distinguished from a half-closed one, so do not wait for an upstream that does not close. */
  #limitHalfClosed(): void {
    const socket = this.#socket;
    socket.once('end', () => setTimeout(() => socket.destroy(), HALF_CLOSED_MS).unref());
  }

  #observe(tunnel: Duplex): void {
    if (this.#hasEnded) return;
    if (this.#timer) this.#watchPauses(this.#timer, tunnel);
    if (this.#isWebSocket) this.#to.onOpen?.(new WebSocketTunnel(this.#socket, tunnel));
  }

  #watchPauses(timer: StreamTimer, tunnel: Duplex): void {
    const progress = (): void => timer.progress();
    this.#socket.on('data', progress);
    tunnel.on('data', progress);
  }

  #responded(status: number): void {
    this.#status = status;
    this.#cluster.stats.responded(status);
    this.#host?.responded(status);
  }

  /** True if the client has received its response or disconnected. */
  get #isOver(): boolean {
    return this.#hasEnded || this.#status !== 0;
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
    this.#abort?.();
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
      endpoint: this.#host?.name,
      local: this.#local,
      bytesSent: this.#socket.bytesWritten - this.#before.written,
      bytesReceived: this.#socket.bytesRead - this.#before.read,
    };
  }
}

/** Relays a response body from an HTTP/2 stream. */
function relayStream(head: ResponseHead, stream: ClientHttp2Stream): RelayedResponse {
  const response = new RelayedResponse(head, stream);
  stream.on('data', (chunk: Buffer) => response.receive(chunk)).on('end', () => response.push(null));
  stream.once('close', () => stream.readableEnded || response.destroy(new UpstreamClosedError('it reset the stream')));
  return response;
}

/** Returns the head of a response. Throws for a header that is unsafe to send. */
function responseHead(status: number, headers: readonly string[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'OK'}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    checkField(headers[i]!, headers[i + 1]!);
    head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  }
  return `${head}\r\n`;
}

/**
 * Ends a stream that the upstream has reset with `NO_ERROR`, after what it sent if that is complete: Node waits for what is still written to the
 * stream, although that is never sent.
 */
function endReset(stream: ClientHttp2Stream, isComplete: boolean): void {
  if (stream.rstCode !== 0 || stream.destroyed) return;
  if (!isComplete) stream.destroy(new UpstreamClosedError('it reset the stream'));
  else if (stream.readableEnded) stream.destroy();
  else stream.once('end', () => stream.destroy());
}

/** Returns true if the peer has finished sending, also while something that it sent is unread. */
function hasEnded(socket: Socket | ClientHttp2Stream): boolean {
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
