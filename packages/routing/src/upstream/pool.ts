import type { LookupFunction, Socket } from 'node:net';
import type { UpstreamTls } from '@edge-gateway/core';
import { authorityOf } from '../http1/authority.ts';
import { HeadCache } from '../http1/head-cache.ts';
import type { Host } from './hosts/host.ts';
import { Connection, type ConnectionOwner, type ConnectionUser } from './upstream-connection.ts';
import { createConnector, type Connector } from './connector.ts';
import { prefaceOf, type ClientAddresses } from './connect/proxy-header.ts';
import type { Tunnel } from './connect/tunnel.ts';
import type { ConnectionLimit, WaitingPool } from './connection-limit.ts';
import type { ConnectionSettings } from './cluster-settings.ts';
import type { ClusterStats } from './stats.ts';

export interface PoolOptions {
  readonly host: Host;
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  /** Shared by the pools of the cluster. */
  readonly limit: ConnectionLimit;
  readonly tls: UpstreamTls | undefined;
  /** The HTTP proxy to connect through. */
  readonly tunnel?: Tunnel | undefined;
  readonly lookup: LookupFunction;
}

/** The connections to one host: the most recently used one is used first, so that surplus ones become idle and close. */
export class ConnectionPool implements ConnectionOwner, WaitingPool {
  readonly host: Host;
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  readonly connect: Connector;
  readonly heads = new HeadCache();
  readonly #limit: ConnectionLimit;
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: ConnectionUser[] = [];
  #whenEmpty: (() => void) | undefined;
  #closing = false;
  /** Connections that are opened ahead of requests. */
  #opening = 0;

  /** Throws a `TypeError` for an invalid address of the host. */
  constructor({ host, settings, stats, limit, tls, tunnel, lookup }: PoolOptions) {
    checkAddress(host);
    this.host = host;
    this.settings = settings;
    this.stats = stats;
    this.#limit = limit;
    this.connect = createConnector(host, { ...settings, tls, tunnel, lookup });
  }

  /** Assigns a connection to `user`, immediately or when one is free. Returns false if too many users wait already. */
  acquire(user: ConnectionUser): boolean {
    const connection = this.#idleFor(user) ?? this.#create(user.client);
    if (connection) {
      connection.give(user);
      if (this.settings.preconnectRatio > 1 && user.client === undefined) this.#preconnect();
      return true;
    }
    if (this.#waiting.length >= this.settings.maxPending) {
      this.stats.rqPendingOverflow.value++;
      return false;
    }
    this.#waiting.push(user);
    this.#limit.wait(this);
    this.stats.rqPendingTotal.value++;
    this.stats.rqPendingActive.value++;
    return true;
  }

  /** Assigns a new, unused connection to `user`. Returns false if the limit is reached. */
  acquireFresh(user: ConnectionUser): boolean {
    const connection = this.#create(user.client);
    if (connection) connection.give(user);
    return connection !== undefined;
  }

  /** Opens a connection that is never shared or reused, and counts it with the others. */
  connectUnpooled(callback: (error: Error | null, socket?: Socket) => void, client?: ClientAddresses): void {
    const settle: typeof callback = (error, socket) => {
      if (!socket) {
        this.connectFailed();
        return callback(error);
      }
      this.connected();
      socket.once('close', () => this.disconnected());
      callback(null, socket);
    };
    this.connect(settle, undefined, prefaceOf(this.settings.proxyProtocol, client));
  }

  /** Removes a user from the queue, or from the connection that is being opened for it. */
  cancel(user: ConnectionUser): void {
    const index = this.#waiting.indexOf(user);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      this.stats.rqPendingActive.value--;
      return;
    }
    for (const connection of this.#connections) if (connection.isFor(user)) return connection.leave();
  }

  connected(): void {
    this.stats.connected();
    this.host.cxTotal++;
    this.host.cxActive++;
  }

  disconnected(): void {
    this.stats.disconnected();
    this.host.cxActive--;
  }

  connectFailed(): void {
    this.stats.cxConnectFail.value++;
    this.host.cxConnectFail++;
  }

  release(connection: Connection): void {
    if (this.#closing && this.#waiting.length === 0) return connection.destroy();
    const user = this.#waiting[0];
    if (!user) return void this.#idle.push(connection);
    // A connection with the PROXY header of another client must not be used; its slot is then free for a new one.
    if (!connection.serves(user.client)) return connection.destroy();
    connection.give(this.#shift()!);
  }

  forget(connection: Connection): void {
    if (this.#connections.delete(connection)) this.#limit.free();
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  fill(): void {
    this.serveWaiting();
    this.#limit.wake();
    if (this.#connections.size === 0) this.#whenEmpty?.();
  }

  serveWaiting(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#create(this.#waiting[0]!.client);
      if (!connection) return this.#limit.wait(this);
      connection.give(this.#shift()!);
    }
  }

  /** Resolves when the last exchange has ended and its connection is closed. Further exchanges are served until then. */
  close(): Promise<void> {
    this.#closing = true;
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      while (this.#idle.length > 0) this.#idle.at(-1)!.destroy();
      if (this.#connections.size === 0) resolve();
    });
  }

  #create(client: ClientAddresses | undefined): Connection | undefined {
    // The longest idle connection belongs to another client.
    if (this.#limit.isReached) this.#idle[0]?.destroy();
    if (!this.#limit.reserve(this.#connections.size === 0)) return undefined;
    const connection = new Connection(this, client);
    this.#connections.add(connection);
    return connection;
  }

  #idleFor(user: ConnectionUser): Connection | undefined {
    return this.settings.proxyProtocol === undefined ? this.#idle.pop() : this.#idleOf(user.client);
  }

  #idleOf(client: ClientAddresses | undefined): Connection | undefined {
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

  #shift(): ConnectionUser | undefined {
    const user = this.#waiting.shift();
    if (user) this.stats.rqPendingActive.value--;
    return user;
  }
}

/** Node would reject it only when connecting, and with an unclear message. */
function checkAddress(host: Host): void {
  if (!URL.canParse(`http://${authorityOf(host)}`)) throw new TypeError(`${host.address} is not an address`);
}
