import type { Socket } from 'node:net';
import type { UpstreamTls } from '@edge-gateway/core';
import { hostOf } from '../http1/authority.ts';
import { HeadCache } from '../http1/head-cache.ts';
import type { Host } from './hosts/host.ts';
import { Connection, type ConnectionOwner, type ConnectionUser } from './upstream-connection.ts';
import { createConnector, type Connector } from './connector.ts';
import type { ConnectionSettings } from './cluster-settings.ts';
import type { ClusterStats } from './stats.ts';

export interface PoolOptions {
  readonly host: Host;
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  readonly tls: UpstreamTls | undefined;
}

/** The connections to one host: the most recently used one is used first, so that surplus ones become idle and close. */
export class ConnectionPool implements ConnectionOwner {
  readonly host: Host;
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  readonly connect: Connector;
  readonly heads = new HeadCache();
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: ConnectionUser[] = [];
  #whenEmpty: (() => void) | undefined;
  #closing = false;

  /** Throws a `TypeError` for an invalid address of the host. */
  constructor({ host, settings, stats, tls }: PoolOptions) {
    checkAddress(host);
    this.host = host;
    this.settings = settings;
    this.stats = stats;
    this.connect = createConnector(host, settings.connectTimeoutMs, tls);
  }

  /** Assigns a connection to `user`, immediately or when one is free. Returns false if too many users wait already. */
  acquire(user: ConnectionUser): boolean {
    const connection = this.#idle.pop() ?? this.#create();
    if (connection) {
      connection.give(user);
      return true;
    }
    if (this.#waiting.length >= this.settings.maxPending) {
      this.stats.rqPendingOverflow.value++;
      return false;
    }
    this.#waiting.push(user);
    this.stats.rqPendingTotal.value++;
    this.stats.rqPendingActive.value++;
    return true;
  }

  /** Assigns a new, unused connection to `user`. Returns false if the limit is reached. */
  acquireFresh(user: ConnectionUser): boolean {
    const connection = this.#create();
    if (connection) connection.give(user);
    return connection !== undefined;
  }

  /** Opens a connection that is never shared or reused, and counts it with the others. */
  connectUnpooled(callback: (error: Error | null, socket?: Socket) => void): void {
    this.connect((error, socket) => {
      if (!socket) {
        this.connectFailed();
        return callback(error);
      }
      this.connected();
      socket.once('close', () => this.disconnected());
      callback(null, socket);
    });
  }

  /** Removes a user from the queue; has no effect if it already has a connection. */
  cancel(user: ConnectionUser): void {
    const index = this.#waiting.indexOf(user);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    this.stats.rqPendingActive.value--;
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
    const user = this.#shift();
    if (user) connection.give(user);
    else this.#idle.push(connection);
  }

  forget(connection: Connection): void {
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  fill(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#create();
      if (!connection) break;
      connection.give(this.#shift()!);
    }
    if (this.#connections.size === 0) this.#whenEmpty?.();
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

  #create(): Connection | undefined {
    if (this.#connections.size >= this.settings.maxConnections) return undefined;
    const connection = new Connection(this);
    this.#connections.add(connection);
    return connection;
  }

  #shift(): ConnectionUser | undefined {
    const user = this.#waiting.shift();
    if (user) this.stats.rqPendingActive.value--;
    return user;
  }
}

/** Node would reject it only when connecting, and with an unclear message. */
function checkAddress(host: Host): void {
  if (!URL.canParse(`http://${hostOf(host)}`)) throw new TypeError(`${host.address} is not an address`);
}
