import { isIPv6 } from 'node:net';
import type { Endpoint, UpstreamTls } from '@edge-gateway/core';
import { Connection } from './connection.ts';
import { createConnector, type Connector } from './connector.ts';
import type { ConnectionSettings } from './settings.ts';
import type { ClusterStats } from './stats.ts';

/** What a connection is wanted for. */
export interface ConnectionUser {
  /** Called with a connection that is its own until it says `finished`. */
  onConnection(connection: Connection): void;
}

/** What the connections of a pool share. */
export interface PoolOptions {
  readonly endpoint: Endpoint;
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  readonly tls: UpstreamTls | undefined;
}

/** The connections to one endpoint: the one used last is used first, so that those not needed can grow old and close. */
export class ConnectionPool {
  readonly origin: string;
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;
  readonly connect: Connector;
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: ConnectionUser[] = [];
  #whenEmpty: (() => void) | undefined;
  #closing = false;

  /** Throws a `TypeError` when the address of the endpoint cannot be one. */
  constructor({ endpoint, settings, stats, tls }: PoolOptions) {
    const host = isIPv6(endpoint.address) ? `[${endpoint.address}]` : endpoint.address;
    this.origin = new URL(`${tls ? 'https' : 'http'}://${host}:${endpoint.port}`).origin;
    this.settings = settings;
    this.stats = stats;
    this.connect = createConnector(endpoint, settings.connectTimeoutMs, tls);
  }

  /** Gives `user` a connection, at once or when one is free. False when too many wait already. */
  acquire(user: ConnectionUser): boolean {
    const connection = this.#idle.pop() ?? this.#create();
    if (connection) {
      give(connection, user);
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

  /** Gives `user` a connection that nothing was sent on yet. False when there is no room for one. */
  acquireFresh(user: ConnectionUser): boolean {
    const connection = this.#create();
    if (connection) give(connection, user);
    return connection !== undefined;
  }

  /** Takes a user out of the queue; one that has its connection is not touched. */
  cancel(user: ConnectionUser): void {
    const index = this.#waiting.indexOf(user);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    this.stats.rqPendingActive.value--;
  }

  /** Takes a connection back from its user. */
  release(connection: Connection): void {
    if (!connection.open || (this.#closing && this.#waiting.length === 0)) {
      this.remove(connection);
      return;
    }
    const user = this.#shift();
    if (user) give(connection, user);
    else this.#idle.push(connection);
  }

  /** Drops a connection that has no user, and makes a new one if somebody waits. */
  remove(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    connection.destroy();
    const user = this.#shift();
    const next = user && this.#create();
    if (user && next) give(next, user);
    if (this.#connections.size === 0) this.#whenEmpty?.();
  }

  /** Resolves when the last exchange is over and its connection closed. Exchanges that still come are served. */
  close(): Promise<void> {
    this.#closing = true;
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      while (this.#idle.length > 0) this.remove(this.#idle.at(-1)!);
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

function give(connection: Connection, user: ConnectionUser): void {
  connection.busy = true;
  user.onConnection(connection);
}
