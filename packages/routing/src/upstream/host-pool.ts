import type { LookupFunction } from 'node:net';
import type { UpstreamTls } from '@edge-gateway/core';
import { authorityOf } from '../http1/authority.ts';
import type { ConnectionSettings } from './cluster-settings.ts';
import type { Tunnel } from './connect/tunnel.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import { connectFailureText } from './failure.ts';
import type { Host } from './hosts/host.ts';
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

/** The connections to one host, over either version of HTTP: counts them, and the requests that wait for one. */
export abstract class HostPool {
  abstract readonly isHttp2: boolean;
  readonly host: Host;
  readonly settings: ConnectionSettings;
  readonly stats: ClusterStats;

  /** Throws a `TypeError` for an invalid address of the host: Node would reject it only when connecting, and with an unclear message. */
  constructor({ host, settings, stats }: PoolOptions) {
    if (!URL.canParse(`http://${authorityOf(host)}`)) throw new TypeError(`${host.address} is not an address`);
    this.host = host;
    this.settings = settings;
    this.stats = stats;
  }

  connected(): void {
    this.stats.connected(this.isHttp2);
    const { host } = this;
    host.cxTotal++;
    host.cxActive++;
    host.recovered('connection');
  }

  disconnected(): void {
    this.stats.disconnected();
    this.host.cxActive--;
  }

  connectFailed(error: Error): void {
    this.stats.cxConnectFail.value++;
    this.host.cxConnectFail++;
    this.host.failed(connectFailureText(error));
  }

  /** Counts a request that waits for a connection. Returns false if it must not wait, because `waiting` others already do. */
  protected countWaiting(waiting: number): boolean {
    if (waiting >= this.settings.maxPending) {
      this.stats.rqPendingOverflow.value++;
      return false;
    }
    this.stats.rqPendingTotal.value++;
    this.stats.rqPendingActive.value++;
    return true;
  }

  /** Counts requests that no longer wait. */
  protected countServed(requests = 1): void {
    this.stats.rqPendingActive.value -= requests;
  }
}
