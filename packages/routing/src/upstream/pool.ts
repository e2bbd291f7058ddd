import type { Socket } from 'node:net';
import { authorityOf } from '../http1/authority.ts';
import { HeadCache } from '../http1/head-cache.ts';
import { withProperCase, withWrittenCase } from '../http1/header-case.ts';
import { requestHead } from '../http1/request-head.ts';
import type { ChannelPool, ChannelRequest, ChannelUser } from './channel.ts';
import { framingOf } from './framing.ts';
import { HostPool, type PoolOptions } from './host-pool.ts';
import { Http1UpstreamConnection, type ConnectionOwner } from './upstream-connection.ts';
import { createConnector, type Connector } from './connector.ts';
import { prefaceOf, type ClientAddresses } from './connect/proxy-header.ts';
import { ConnectionOverflowError, type ConnectionLimit, type LimitedPool } from './connection-limit.ts';

/** The user of a connection that is never shared or reused. */
export interface UnpooledUser {
  /** Connection of the client, for the PROXY header. */
  readonly client?: ClientAddresses | undefined;
  /** Called once, with the connection or the reason of the failure. */
  onConnect(error: Error | null, socket?: Socket): void;
}

/** The connections to one host: the most recently used one is used first, so that surplus ones become idle and close. */
export class ConnectionPool extends HostPool implements ChannelPool, ConnectionOwner, LimitedPool {
  readonly isHttp2 = false;
  readonly connect: Connector;
  readonly heads = new HeadCache();
  readonly #limit: ConnectionLimit;
  readonly #connections = new Set<Http1UpstreamConnection>();
  readonly #idle: Http1UpstreamConnection[] = [];
  readonly #waiting: (ChannelUser | UnpooledUser)[] = [];
  /** Number of connections that are never shared. */
  #unpooled = 0;
  #whenEmpty: (() => void) | undefined;
  #closing = false;
  /** Connections that are opened ahead of requests. */
  #opening = 0;

  /** Throws a `TypeError` for an invalid address of the host. */
  constructor(options: PoolOptions) {
    super(options);
    const { host, settings, limit, tls, tunnel, lookup } = options;
    this.#limit = limit;
    limit.add(this);
    this.connect = createConnector(host, { ...settings, tls, tunnel, lookup });
  }

  prepare(request: ChannelRequest): string {
    const head = requestHead(request, authorityOf(this.host), framingOf(request.body));
    if (request.writtenNames) return withWrittenCase(head, request.writtenNames);
    return this.settings.properCase ? withProperCase(head) : head;
  }

  acquire(user: ChannelUser): boolean {
    const connection = this.#idleFor(user) ?? this.#create(user.client);
    if (connection) {
      connection.give(user);
      if (this.settings.preconnectRatio > 1 && user.client === undefined) this.#preconnect();
      return true;
    }
    return this.#wait(user);
  }

  acquireFresh(user: ChannelUser): boolean {
    const connection = this.#create(user.client);
    if (connection) connection.give(user);
    return connection !== undefined;
  }

  /** Opens a connection that is never shared or reused, and counts it with the others. Fails if the limit is reached. */
  connectUnpooled(onConnect: UnpooledUser['onConnect']): void {
    if (this.#reserve()) this.#openUnpooled({ onConnect });
    else onConnect(new ConnectionOverflowError('too many connections'));
  }

  /** Opens such a connection for a request, which waits like other requests if the limit is reached, see {@link cancel}. */
  acquireUnpooled(user: UnpooledUser): void {
    if (this.#reserve()) this.#openUnpooled(user);
    else if (!this.#wait(user)) user.onConnect(new ConnectionOverflowError('too many requests are waiting'));
  }

  cancel(user: ChannelUser | UnpooledUser): void {
    const index = this.#waiting.indexOf(user);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      this.countServed();
      return;
    }
    if (isUnpooled(user)) return;
    for (const connection of this.#connections) if (connection.isFor(user)) return connection.leave();
  }

  release(connection: Http1UpstreamConnection): void {
    if (this.#closing && this.#waiting.length === 0) return connection.destroy();
    const user = this.#waiting[0];
    if (!user) return void this.#idle.push(connection);
    // A connection with the PROXY header of another client must not be used; its slot is then free for a new one.
    if (isUnpooled(user) || !connection.serves(user.client)) return connection.destroy();
    this.#shift();
    connection.give(user);
  }

  forget(connection: Http1UpstreamConnection): void {
    if (this.#connections.delete(connection)) this.#limit.free();
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  fill(): void {
    this.serveWaiting();
    this.#limit.wake();
    if (this.#connections.size === 0) this.#emptied();
  }

  serveWaiting(): void {
    while (this.#waiting.length > 0) {
      if (!this.#reserve()) return this.#limit.wait(this);
      const user = this.#shift();
      if (!user) return this.#limit.free();
      if (isUnpooled(user)) this.#openUnpooled(user);
      else this.#add(user.client).give(user);
    }
  }

  close(): Promise<void> {
    this.#closing = true;
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      while (this.closeIdle());
      if (this.#connections.size === 0) this.#emptied();
    });
  }

  closeIdle(): boolean {
    const [longest] = this.#idle;
    longest?.destroy();
    return longest !== undefined;
  }

  #emptied(): void {
    if (!this.#whenEmpty) return;
    this.#limit.remove(this);
    this.#whenEmpty();
  }

  #wait(user: ChannelUser | UnpooledUser): boolean {
    if (!this.countWaiting(this.#waiting.length)) return false;
    this.#waiting.push(user);
    this.#limit.wait(this);
    return true;
  }

  /** Reserves the place of a connection, if necessary that of an idle one. */
  #reserve(): boolean {
    // It belongs to another client, or the new one is not shared.
    if (this.#limit.isReached) this.closeIdle();
    return this.#limit.reserve(this.#connections.size + this.#unpooled === 0);
  }

  #openUnpooled({ client, onConnect }: UnpooledUser): void {
    this.#unpooled++;
    const closed = (): void => {
      this.#unpooled--;
      this.#limit.free();
      this.fill();
    };
    const settle: UnpooledUser['onConnect'] = (error, socket) => {
      if (!socket) {
        this.connectFailed(error ?? new Error('no connection'));
        onConnect(error);
        return closed();
      }
      this.connected();
      socket.once('close', () => {
        this.disconnected();
        closed();
      });
      onConnect(null, socket);
    };
    this.connect(settle, undefined, prefaceOf(this.settings.proxyProtocol, client));
  }

  #create(client: ClientAddresses | undefined): Http1UpstreamConnection | undefined {
    return this.#reserve() ? this.#add(client) : undefined;
  }

  #add(client: ClientAddresses | undefined): Http1UpstreamConnection {
    const connection = new Http1UpstreamConnection(this, client);
    this.#connections.add(connection);
    return connection;
  }

  #idleFor(user: ChannelUser): Http1UpstreamConnection | undefined {
    return this.settings.proxyProtocol === undefined ? this.#idle.pop() : this.#idleOf(user.client);
  }

  #idleOf(client: ClientAddresses | undefined): Http1UpstreamConnection | undefined {
    const index = this.#idle.findLastIndex((connection) => connection.serves(client));
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  /** Opens connections ahead of requests, so that their number is that of the active requests times the ratio. */
  #preconnect(): void {
    const active = this.#connections.size - this.#idle.length - this.#opening;
    const wanted = Math.ceil(active * this.settings.preconnectRatio);
    while (this.#connections.size < wanted && !this.#closing && !this.#limit.isReached) {
      const connection = this.#create(undefined);
      if (!connection) return;
      this.#opening++;
      connection.open(() => this.#opening--);
    }
  }

  #shift(): ChannelUser | UnpooledUser | undefined {
    const user = this.#waiting.shift();
    if (user) this.countServed();
    return user;
  }
}

const isUnpooled = (user: ChannelUser | UnpooledUser): user is UnpooledUser => 'onConnect' in user;
