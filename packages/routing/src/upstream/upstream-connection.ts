import type { Socket } from 'node:net';
import { localEndOf, type LocalEnd } from '../format/local-end.ts';
import { UpstreamClosedError } from '../http1/errors.ts';
import type { HeadCache } from '../http1/head-cache.ts';
import { allowQueuedMessages, hasUnwrittenMessage } from '../http1/queued-messages.ts';
import { ReadBuffer } from '../http1/read-buffer.ts';
import type { RequestBody } from '../http1/request-body.ts';
import { RequestWriter, writeBuffered } from '../http1/request-writer.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import { ResponseParser, type ResponseSink } from '../http1/response-parser.ts';
import type { Channel, ChannelUser, PreparedHead } from './channel.ts';
import { prefaceOf, type ClientAddresses } from './connect/proxy-header.ts';
import { readBeforeFailing } from './failed-writes.ts';
import { IdleTimer } from './idle-timer.ts';
import type { ConnectionSettings } from './cluster-settings.ts';
import type { Connector } from './connector.ts';
import type { ClusterStats } from './stats.ts';

/** A connection is not reused in the last seconds of the keep-alive time that its server declares. */
const KEEP_ALIVE_MARGIN_S = 2;

/** The part of the pool that a connection uses. */
export interface ConnectionOwner {
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  readonly connect: Connector;
  readonly heads: HeadCache;
  /** Counts a connection that is open, closed, or could not be opened. */
  connected(): void;
  disconnected(): void;
  connectFailed(error: Error): void;
  /** Returns a connection to the pool. */
  release(connection: Http1UpstreamConnection): void;
  /** Removes a closed connection. Its slot is then free: see {@link fill}. */
  forget(connection: Http1UpstreamConnection): void;
  /** Opens connections for waiting users, up to the limit. */
  fill(): void;
}

/** One connection to an endpoint. It carries one exchange at a time, and is opened for the first. */
export class Http1UpstreamConnection implements Channel, ResponseSink {
  reused = false;
  sent = false;
  responding = false;
  local: LocalEnd | undefined;
  readonly #pool: ConnectionOwner;
  readonly #client: ClientAddresses | undefined;
  readonly #parser: ResponseParser;
  readonly #buffer = new ReadBuffer();
  readonly #idle: IdleTimer;
  #socket: Socket | undefined;
  #user: ChannelUser | undefined;
  #writer: RequestWriter | undefined;
  #body: RequestBody | undefined;
  #served = 0;
  #paused = false;
  #gone = false;
  #abandoned = false;

  constructor(pool: ConnectionOwner, client?: ClientAddresses) {
    this.#pool = pool;
    this.#client = client;
    this.#parser = new ResponseParser(this, pool.heads);
    this.#idle = new IdleTimer(pool.settings.idleTimeoutMs, () => this.#close());
  }

  /** Returns true if requests of a client may use this connection. */
  serves(client: ClientAddresses | undefined): boolean {
    return this.#pool.settings.proxyProtocol === undefined || this.#client === client;
  }

  /** Opens the connection without a user; it is released when it is open. */
  open(settled: () => void): void {
    this.#connect(settled);
  }

  /** Serves `user` next: immediately, or when the connection is open. */
  give(user: ChannelUser): void {
    this.#user = user;
    this.#abandoned = false;
    this.#idle.end();
    this.sent = false;
    this.responding = false;
    if (this.#socket) {
      this.#socket.ref();
      user.onOpen(this);
    } else if (!this.#gone) this.#connect();
  }

  isFor(user: ChannelUser): boolean {
    return this.#user === user;
  }

  write(method: string, prepared: PreparedHead, body: Buffer | RequestBody | undefined): void {
    const socket = this.#socket!;
    const head = prepared as string;
    this.sent = true;
    this.#served++;
    this.#parser.expect(method);
    if (body === undefined || Buffer.isBuffer(body)) {
      writeBuffered(socket, head, body);
      this.#pool.stats.cxTxBytes.value += head.length + (body?.length ?? 0);
      return;
    }
    this.#body = body;
    this.#writer = new RequestWriter(socket, head, body);
    this.#writer.start();
  }

  pause(): void {
    if (this.#paused || this.#gone) return;
    this.#paused = true;
    this.#socket!.pause();
  }

  resume(): void {
    if (!this.#paused || this.#gone) return;
    this.#paused = false;
    this.#socket!.resume();
  }

  keep(buffer: Buffer, start: number, end: number): Buffer {
    return this.#buffer.keep(buffer, start, end);
  }

  owns(buffer: Buffer): boolean {
    return this.#buffer.owns(buffer);
  }

  detachBuffer(): void {
    this.#buffer.detachBuffer();
  }

  get trailers(): readonly string[] {
    return this.#parser.trailers;
  }

  /** Released by its user. If nothing was sent, it remains usable. */
  leave(): void {
    this.#user = undefined;
    if (this.sent) this.#close();
    else if (this.#socket) this.#release();
  }

  leaveLate(): void {
    this.leave();
  }

  /** Released during a response that is not read further: reused if all of it has arrived with its head, closed otherwise. */
  abandon(): void {
    this.#user = undefined;
    this.#abandoned = true;
  }

  destroy(): void {
    if (!this.#user) this.#close();
  }

  onHead(head: ResponseHead): void {
    this.#user?.onHead(head);
  }

  onInterim(head: ResponseHead): void {
    this.#user?.onInterim?.(head);
  }

  onHeadAlone(): void {
    this.#user?.onHeadAlone();
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#user?.onBody(buffer, start, end);
  }

  onEnd(buffer: Buffer, start: number, end: number): void {
    // The user is released only after this call: an error that it throws must be reported to it.
    this.#user?.onEnd(buffer, start, end);
    this.#user = undefined;
  }

  #connect(settled?: () => void): void {
    const onread = { buffer: () => this.#buffer.current, callback: this.#onRead };
    const opened: Parameters<Connector>[0] = (error, socket) => {
      settled?.();
      if (socket && !this.#gone) return this.#opened(socket);
      socket?.destroy();
      if (error) this.#pool.connectFailed(error);
      this.#break(error ?? undefined);
    };
    this.#pool.connect(opened, onread, prefaceOf(this.#pool.settings.proxyProtocol, this.#client));
  }

  #opened(socket: Socket): void {
    this.#pool.connected();
    this.#socket = socket;
    // A closed socket no longer has it.
    if (socket.localAddress !== undefined) this.local = localEndOf(socket);
    allowQueuedMessages(socket);
    readBeforeFailing(socket, () => this.#writer !== undefined);
    socket.on('error', (reason) => this.#break(reason)).on('drain', () => this.#writer?.resume());
    socket.on('end', this.#onEnded).on('close', this.#onEnded);
    if (this.#user) this.#user.onOpen(this);
    else this.#release();
  }

  readonly #onRead = (length: number, buffer: Uint8Array): boolean => {
    this.#pool.stats.cxRxBytes.value += length;
    if (this.#gone) return true;
    if (this.#parser.idle) {
      this.#break(new UpstreamClosedError('unsolicited data on an idle connection'));
      return true;
    }
    this.responding = true;
    let used: number;
    try {
      used = this.#parser.read(buffer as Buffer, length);
    } catch (error) {
      this.#break(error as Error);
      return true;
    }
    if (this.#parser.idle && !this.#gone) this.#completed(used === length);
    else if (this.#abandoned) this.#close();
    return true;
  };

  readonly #onEnded = (): void => {
    if (this.#gone) return;
    try {
      if (this.#parser.end()) return this.#close();
    } catch (error) {
      return this.#break(error as Error);
    }
    this.#break(new UpstreamClosedError('the upstream closed the connection before its response was complete'));
  };

  /** The response is complete; `exactly` if no bytes followed it. */
  #completed(exactly: boolean): void {
    const { keepAlive, keepAliveSeconds } = this.#parser.head!;
    const { settings } = this.#pool;
    this.#buffer.reset();
    // If the request is not fully written, the next one would have to wait for the rest.
    const isQueued = hasUnwrittenMessage(this.#socket!) || this.#socket!.writableLength > 0;
    const uploaded = (this.#body === undefined || this.#body.ended) && !isQueued;
    this.#forgetBody();
    if (keepAliveSeconds !== undefined) this.#idle.limit((keepAliveSeconds - KEEP_ALIVE_MARGIN_S) * 1000);
    const reachedRequestLimit =
      settings.maxRequestsPerConnection > 0 && this.#served >= settings.maxRequestsPerConnection;
    if (!exactly || !uploaded || !keepAlive || reachedRequestLimit || !this.#idle.allows) return this.#close();
    this.reused = true;
    this.resume();
    this.#release();
  }

  #release(): void {
    this.#idle.begin();
    // An idle connection does not keep the process alive.
    this.#socket!.unref();
    this.#pool.release(this);
  }

  #forgetBody(): void {
    if (this.#writer) this.#pool.stats.cxTxBytes.value += this.#writer.written;
    this.#writer = undefined;
    this.#body = undefined;
  }

  #close(): void {
    this.#break(undefined);
  }

  /** Closes the connection, reports the reason to its user, and releases its slot in the pool. */
  #break(error: Error | undefined): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#idle.stop();
    this.#forgetBody();
    this.#buffer.reset();
    if (this.#socket) {
      this.#pool.disconnected();
      this.#socket.destroy();
    }
    const user = this.#user;
    this.#user = undefined;
    this.#pool.forget(this);
    try {
      if (error) user?.onBroken(this, error);
    } finally {
      this.#pool.fill();
    }
  }
}
