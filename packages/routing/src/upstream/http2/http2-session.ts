import { startTimer } from '@edge-gateway/core';
import type { ClientHttp2Stream } from 'node:http2';
import type { OnReadOpts, Socket } from 'node:net';
import { localEndOf, type LocalEnd } from '../../format/local-end.ts';
import { ReadBuffer } from '../../http1/read-buffer.ts';
import type { ChannelUser } from '../channel.ts';
import type { ConnectionSettings } from '../cluster-settings.ts';
import { prefaceOf, type ClientAddresses } from '../connect/proxy-header.ts';
import type { Connector } from '../connector.ts';
import { IdleTimer } from '../idle-timer.ts';
import type { ClusterStats } from '../stats.ts';
import type {
  ClientConnection,
  ClientStream,
  ConnectionObserver,
  RequestOptions,
  StreamObserver,
} from './client-connection.ts';
import { NodeConnection } from './client-session.ts';
import { FrameConnection } from './frame-connection.ts';
import { PingCheck, type PingedConnection } from './ping-check.ts';
import { sessionError, type Goaway } from './stream-errors.ts';
import { MAX_HEADER_LIST_BYTES } from './stream-head.ts';
import { UpstreamStream, type StreamSession } from './upstream-stream.ts';

/** Maximum time that a peer has to end its side of a connection that is being closed, in milliseconds. */
const CLOSE_MS = 1000;
const SETTINGS_ACK_BYTES = 9;

/** Why a session could not be used. */
export interface SessionFailure {
  readonly error: Error;
  /** True if the connection was open. */
  readonly connected: boolean;
}

/** The part of the pool that a session uses. */
export interface SessionOwner {
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  readonly scheme: 'http' | 'https';
  readonly connect: Connector;
  /** True if connections are read and written frame by frame, without `node:http2`. */
  readonly usesFrames: boolean;
  connected(): void;
  disconnected(): void;
  connectFailed(error: Error): void;
  /** Streams of the session became available. */
  available(session: Http2Session): void;
  /** The session accepts no further streams. */
  draining(session: Http2Session): void;
  /** The session is closed; `failure` if it was never ready. */
  closed(session: Http2Session, failure: SessionFailure | undefined): void;
}

/** One HTTP/2 connection to a host. It is ready when the settings of the peer have arrived, and allow streams. */
export class Http2Session implements StreamSession, PingedConnection {
  readonly client: ClientAddresses | undefined;
  /** This side of the connection; unknown over a Unix socket. */
  local: LocalEnd | undefined;
  /** Number of requests in progress. */
  active = 0;
  /** Number of requests that were sent. */
  served = 0;
  /** The `GOAWAY` of the peer. */
  goaway: Goaway | undefined;
  isReady = false;
  /** The peer announced it with its settings. */
  acceptsWebSockets = false;
  readonly #owner: SessionOwner;
  readonly #idle: IdleTimer;
  /** Missing for connections of `node:http2`, which reads them itself. */
  readonly #buffer: ReadBuffer | undefined;
  #socket: Socket | undefined;
  #frames: FrameConnection | undefined;
  #session: ClientConnection | undefined;
  #isDraining = false;
  #isClosed = false;
  /** A request was not answered, and nothing was received since: no further streams are opened until the peer responds. */
  #isSuspect = false;
  #pings: PingCheck | undefined;
  /** Where this class sees them. */
  #receivedBytes = 0;
  #maxStreams: number;
  #hasSettings = false;
  #settingsTimer: NodeJS.Timeout | undefined;
  #closeTimer: NodeJS.Timeout | undefined;
  readonly #received = { read: 0, written: 0 };
  readonly #unflushed: UpstreamStream[] = [];

  constructor(owner: SessionOwner, client: ClientAddresses | undefined) {
    this.#owner = owner;
    this.client = client;
    this.#maxStreams = owner.settings.http2.maxStreams;
    this.#idle = new IdleTimer(owner.settings.idleTimeoutMs, () => this.drain());
    this.#buffer = owner.usesFrames ? new ReadBuffer() : undefined;
    owner.connect(this.#onConnect, this.#reads, prefaceOf(owner.settings.proxyProtocol, client));
  }

  get #reads(): OnReadOpts | undefined {
    const buffer = this.#buffer;
    if (!buffer) return undefined;
    const callback = (bytes: number, into: Uint8Array): true => {
      this.#receivedBytes += bytes;
      this.#frames?.read(into as Buffer, bytes);
      return true;
    };
    return { buffer: () => buffer.current, callback };
  }

  get stats(): ClusterStats {
    return this.#owner.stats;
  }

  /** Number of further streams that may be opened now. */
  get free(): number {
    const isUsable = this.isReady && !this.#isDraining && !this.#isSuspect && !this.isClosed;
    return isUsable ? this.#maxStreams - this.active : 0;
  }

  get receivedBytes(): number {
    return this.#buffer ? this.#receivedBytes : (this.#socket?.bytesRead ?? 0);
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#session?.destroyed === true;
  }

  /** Opens a stream for `user`. */
  open(user: ChannelUser): void {
    if (this.active++ === 0) this.#session!.ref();
    this.#idle.end();
    const stream = new UpstreamStream(this, user);
    user.onOpen(stream);
  }

  request(observer: StreamObserver, headers: readonly string[], options: RequestOptions): ClientStream {
    this.served++;
    const stream = this.#session!.request(observer, headers, options);
    this.#checkServed();
    return stream;
  }

  openTunnel(headers: readonly string[]): ClientHttp2Stream {
    this.served++;
    const stream = this.#session!.openTunnel?.(headers);
    if (!stream) throw new Error('the connection has no tunnels');
    this.#checkServed();
    return stream;
  }

  release(wasSent: boolean): void {
    this.active--;
    if (wasSent) this.#countBytes();
    if (this.#isClosed) return;
    if (this.active > 0) {
      if (!this.#isDraining) this.#owner.available(this);
      return;
    }
    if (this.#isDraining || !this.#idle.allows) return this.drain();
    this.#idle.begin();
    this.#session!.unref();
    this.#owner.available(this);
  }

  /** Opens no further streams, and closes the connection after the last one. */
  drain(): void {
    this.#stopStreams();
    if (this.active > 0 || this.#isClosed || this.#closeTimer) return;
    if (!this.#session) return this.#end(undefined);
    if (!this.isReady) return this.#session.destroy();
    this.#session.close();
    // A peer that does not end its side is not waited for.
    this.#closeTimer = setTimeout(() => this.#socket!.destroy(), CLOSE_MS);
  }

  leftUnanswered(bytesBefore: number): void {
    if (this.isClosed) return;
    // The settings of this side are confirmed after the first request was sent.
    if (this.receivedBytes - bytesBefore <= SETTINGS_ACK_BYTES) this.onDoubt();
    this.#pings?.start();
  }

  ping(): void {
    this.#session?.ping();
  }

  onDoubt(): void {
    this.#isSuspect = true;
  }

  onResponsive(): void {
    if (!this.#isSuspect || this.#isClosed) return;
    this.#isSuspect = false;
    if (!this.#isDraining) this.#owner.available(this);
  }

  onSilent(error: Error): void {
    this.#session?.destroy(error);
  }

  protocolViolated(): void {
    if (!this.#owner.settings.http2.endsOnlyStream) this.drain();
  }

  flushLater(stream: UpstreamStream): void {
    if (this.#unflushed.push(stream) === 1) setImmediate(flushStreams, this.#unflushed);
  }

  readonly #onConnect: Parameters<Connector>[0] = (error, socket) => {
    if (!socket || this.#isClosed) {
      socket?.destroy();
      if (error && !this.#isClosed) this.#owner.connectFailed(error);
      return this.#end(error ?? undefined);
    }
    this.#owner.connected();
    this.#socket = socket;
    if (socket.localAddress !== undefined) this.local = localEndOf(socket);
    const session = (this.#session = this.#start(socket));
    const { connectTimeoutMs, http2 } = this.#owner.settings;
    this.#pings = new PingCheck(this, http2.pings);
    this.#settingsTimer = startTimer(() => {
      const missing = this.#hasSettings ? 'the server still allows no streams' : 'no HTTP/2 settings';
      const reason = new Error(`${missing} after ${connectTimeoutMs} ms`);
      session.destroy(Object.assign(reason, { code: 'ETIMEDOUT' }));
    }, connectTimeoutMs);
  };

  #start(socket: Socket): ClientConnection {
    const { scheme, settings } = this.#owner;
    const observer: ConnectionObserver = {
      onSettings: (maxStreams, acceptsWebSockets) => {
        this.acceptsWebSockets = acceptsWebSockets;
        this.#settle(maxStreams);
      },
      onGoaway: (code, lastId) => this.#onGoaway(code, lastId),
      onPong: () => this.#pings?.confirmed(),
      onClose: (error) => this.#end(sessionError(error, this.goaway?.code)),
    };
    if (!this.#buffer) return new NodeConnection(socket, scheme, settings, observer);
    const { streamWindow, connectionWindow } = settings.http2;
    const options = {
      streamWindow,
      connectionWindow,
      maxHeaderListBytes: MAX_HEADER_LIST_BYTES,
      // Those beyond the limit are counted too, so that the error can say so.
      maxHeaderFields: 2 * settings.maxHeaders,
    };
    return (this.#frames = new FrameConnection(socket, this.#buffer, observer, options));
  }

  #checkServed(): void {
    const { settings, stats } = this.#owner;
    const isLast = settings.maxRequestsPerConnection > 0 && this.served >= settings.maxRequestsPerConnection;
    if (isLast) stats.cxMaxRequests.value++;
    if (isLast || this.#session!.isExhausted) this.#stopStreams();
  }

  /** The settings of the peer arrived. */
  #settle(maxConcurrentStreams: number | undefined): void {
    this.#hasSettings = true;
    this.#maxStreams = Math.min(this.#owner.settings.http2.maxStreams, maxConcurrentStreams ?? Infinity);
    // A peer that allows no streams yet is waited for: further connections to it would not help.
    if (this.#maxStreams === 0 && !this.isReady) return;
    clearTimeout(this.#settingsTimer);
    if (!this.isReady) {
      this.isReady = true;
      if (this.active === 0) {
        this.#idle.begin();
        this.#session!.unref();
      }
    }
    if (!this.#isDraining) this.#owner.available(this);
  }

  #onGoaway(code: number, lastId: number): void {
    this.goaway = { code, lastId };
    this.#owner.stats.cxCloseNotify.value++;
    this.#stopStreams();
    // A peer that says so and leaves its side open is not waited for either.
    if (this.active === 0) this.drain();
  }

  #stopStreams(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#owner.draining(this);
  }

  #countBytes(): void {
    const { bytesRead = 0, bytesWritten = 0 } = this.#socket ?? {};
    this.stats.cxRxBytes.value += bytesRead - this.#received.read;
    this.stats.cxTxBytes.value += bytesWritten - this.#received.written;
    this.#received.read = bytesRead;
    this.#received.written = bytesWritten;
  }

  #end(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#settingsTimer);
    clearTimeout(this.#closeTimer);
    this.#idle.stop();
    this.#pings?.stop();
    this.#stopStreams();
    if (this.#socket) {
      this.#countBytes();
      this.#owner.disconnected();
    }
    const isFailure = !this.isReady && error !== undefined;
    this.#owner.closed(this, isFailure ? { error, connected: this.#socket !== undefined } : undefined);
  }
}

function flushStreams(streams: UpstreamStream[]): void {
  for (const stream of streams.splice(0)) stream.flush();
}
