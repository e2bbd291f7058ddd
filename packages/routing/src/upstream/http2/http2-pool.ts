import type { LookupFunction } from 'node:net';
import { authorityOf } from '../../http1/authority.ts';
import type { ChannelPool, ChannelProgress, ChannelRequest, ChannelUser } from '../channel.ts';
import type { ClientAddresses } from '../connect/proxy-header.ts';
import type { ConnectionLimit, LimitedPool } from '../connection-limit.ts';
import type { Connector } from '../connector.ts';
import { createConnector } from '../connector.ts';
import { framingOf } from '../framing.ts';
import { HostPool, type PoolOptions } from '../host-pool.ts';
import { requestHeaders, tunnelHeaders, type RequestTarget } from './stream-head.ts';
import { Http2Session, type SessionFailure, type SessionOwner } from './http2-session.ts';

/** Streams expected of a connection that is being opened, before its peer says how many it allows. */
const EXPECTED_STREAMS = 100;
const UNSENT: ChannelProgress = { reused: false, sent: false, responding: false };
const SENT: ChannelProgress = { reused: false, sent: true, responding: false };

/** The HTTP/2 connections to one host. Another one is opened only when all streams of the others are in use. */
export class Http2Pool extends HostPool implements ChannelPool, SessionOwner, LimitedPool {
  readonly isHttp2 = true;
  readonly scheme: 'http' | 'https';
  readonly connect: Connector;
  readonly usesFrames: boolean;
  readonly #target: RequestTarget;
  readonly #limit: ConnectionLimit;
  /** Those that accept streams, or are being opened. */
  readonly #sessions = new Set<Http2Session>();
  readonly #waiting: ChannelUser[] = [];
  /** Number of connections, also of those that only finish their streams. */
  #open = 0;
  #whenEmpty: (() => void) | undefined;
  #closing = false;

  /** Throws a `TypeError` for an invalid address of the host. */
  constructor(options: PoolOptions, usesFrames = false) {
    super(options);
    const { host, settings, limit, tls, tunnel, lookup } = options;
    this.usesFrames = usesFrames;
    this.#limit = limit;
    limit.add(this);
    this.scheme = tls ? 'https' : 'http';
    this.#target = { scheme: this.scheme, authority: authorityOf(host) };
    const overHttp2 = tls && { ...tls, alpnProtocols: ['h2'] };
    this.connect = createConnector(host, { ...settings, tls: overHttp2, tunnel, lookup: lookup as LookupFunction });
  }

  prepare(request: ChannelRequest): readonly string[] {
    return requestHeaders(request, this.#target, framingOf(request.body));
  }

  /** Returns the header list of a tunnel, see {@link tunnelHeaders}. */
  prepareTunnel(request: Pick<ChannelRequest, 'path' | 'headers'>, protocol: string | undefined): readonly string[] {
    return tunnelHeaders(request, this.#target, protocol);
  }

  acquire(user: ChannelUser): boolean {
    const session = this.#waiting.length === 0 ? this.#freeFor(user.client) : undefined;
    if (session) {
      session.open(user);
      return true;
    }
    if (!this.countWaiting(this.#waiting.length)) return false;
    this.#waiting.push(user);
    this.serveWaiting();
    return true;
  }

  acquireFresh(user: ChannelUser): boolean {
    return this.acquire(user);
  }

  cancel(user: ChannelUser): void {
    const index = this.#waiting.indexOf(user);
    if (index < 0) return;
    this.#take(index);
    if (this.#closing) this.#drainUnneeded();
  }

  available(session: Http2Session): void {
    while (session.free > 0) {
      const index = this.#waiting.findIndex((user) => this.#serves(session, user.client));
      if (index < 0) break;
      session.open(this.#take(index));
    }
    if (this.#waiting.length > 0) this.serveWaiting();
    else if (this.#closing && session.active === 0) session.drain();
  }

  draining(session: Http2Session): void {
    this.#sessions.delete(session);
  }

  closed(session: Http2Session, failure: SessionFailure | undefined): void {
    this.#sessions.delete(session);
    this.#open--;
    this.#limit.free();
    if (failure) this.#failWaiting(failure);
    if (this.#waiting.length > 0) this.serveWaiting();
    this.#limit.wake();
    if (this.#open === 0) this.#emptied();
  }

  /** Opens connections for waiting requests, up to the limit. */
  serveWaiting(): void {
    let missing = this.#waiting.length;
    for (const { isReady } of this.#sessions) if (!isReady) missing -= this.#expected;
    while (missing > 0) {
      if (!this.#limit.reserve(this.#open === 0)) return this.#limit.wait(this);
      this.#open++;
      // A connection for a client serves no others.
      const { client } = this.#waiting[this.#waiting.length - missing]!;
      this.#sessions.add(new Http2Session(this, client));
      missing -= this.#expected;
    }
  }

  /** Resolves when the last exchange has ended and its connection is closed. Further exchanges are served until then. */
  close(): Promise<void> {
    this.#closing = true;
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      this.#drainUnneeded();
      if (this.#open === 0) this.#emptied();
    });
  }

  /** The connection counts for the limit until it is closed. */
  closeIdle(): boolean {
    for (const session of this.#sessions) {
      if (!session.isReady || session.active > 0) continue;
      session.drain();
      return true;
    }
    return false;
  }

  #emptied(): void {
    if (!this.#whenEmpty) return;
    this.#limit.remove(this);
    this.#whenEmpty();
  }

  #drainUnneeded(): void {
    if (this.#waiting.length === 0) for (const session of this.#sessions) session.drain();
  }

  /** Number of requests that a connection serves as soon as it is open. */
  get #expected(): number {
    return this.settings.proxyProtocol === undefined ? Math.min(this.settings.http2.maxStreams, EXPECTED_STREAMS) : 1;
  }

  #freeFor(client: ClientAddresses | undefined): Http2Session | undefined {
    for (const session of this.#sessions) if (session.free > 0 && this.#serves(session, client)) return session;
    return undefined;
  }

  #serves(session: Http2Session, client: ClientAddresses | undefined): boolean {
    return this.settings.proxyProtocol === undefined || session.client === client;
  }

  #take(index: number): ChannelUser {
    this.countServed();
    return this.#waiting.splice(index, 1)[0]!;
  }

  /** As in Envoy, a connection that cannot be opened fails every request that waits for one. */
  #failWaiting({ error, connected }: SessionFailure): void {
    const isTimeout = (error as NodeJS.ErrnoException).code === 'ETIMEDOUT';
    const progress = connected && !isTimeout ? SENT : UNSENT;
    const waiting = this.#waiting.splice(0);
    this.countServed(waiting.length);
    for (const user of waiting) user.onBroken(progress, error);
  }
}
