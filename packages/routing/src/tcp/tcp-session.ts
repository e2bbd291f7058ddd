import type { Socket } from 'node:net';
import { nodeDelay, startInterval, startTimer, type TcpDestination, type TcpHost } from '@edge-gateway/core';
import { localEndOf, type LocalEnd } from '../format/local-end.ts';
import { recordConnection } from '../format/raw-connection.ts';
import type { RequestRecord } from '../format/record.ts';
import { destinationAt } from '../route/destination-at.ts';
import { Cluster } from '../upstream/cluster.ts';
import { openTunnel } from '../upstream/connect/tunnel.ts';
import { explain, noEndpoint, type FailureReason } from '../upstream/failure.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { UnpooledUser } from '../upstream/pool.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { join } from './join.ts';
import type { TcpSettings } from './tcp-settings.ts';
import type { TcpStats } from './tcp-stats.ts';

export interface TcpSessionParts {
  readonly socket: Socket;
  readonly host: TcpHost;
  readonly settings: TcpSettings;
  readonly upstreams: Upstreams;
  readonly stats: TcpStats;
  readonly now: () => number;
  /** Counts a connection that no attempt could open. */
  readonly onExhausted: (cluster: string) => void;
  /** Writes the access log. */
  readonly write: (record: RequestRecord) => void;
}

const NO_ROUTE = 'no destination for the connection';

/** One TCP connection of a client and that of its upstream. Closes both when either fails; each direction ends on its own. */
export class TcpSession {
  readonly #parts: TcpSessionParts;
  readonly #record: ReturnType<typeof recordConnection>;
  readonly #tried = new Set<Host>();
  #cluster: Cluster | undefined;
  #upstreamName = '';
  #host: Host | undefined;
  #upstreamLocal: LocalEnd | undefined;
  #attempts = 0;
  #flags = '';
  #failure = '';
  #termination = '';
  #flush: NodeJS.Timeout | undefined;
  /** Cancels the attempt in progress. */
  #cancel: (() => void) | undefined;

  constructor(parts: TcpSessionParts) {
    this.#parts = parts;
    this.#record = recordConnection(parts.socket, parts.now());
  }

  start(): void {
    const { socket, stats, settings } = this.#parts;
    stats.total.value++;
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#closed());
    // What the client sends and receives is all there is: silence of its connection is silence of both.
    socket.setTimeout(nodeDelay(settings.idleMs), () => {
      stats.idleTimeout.value++;
      this.#termination = 'idle_timeout';
      socket.destroy();
    });
    if (settings.flushMs > 0) this.#flush = startInterval(() => this.#write(), settings.flushMs).unref();
    const destination = this.#choose();
    this.#upstreamName = destination?.upstream ?? '';
    const cluster = destination?.broken === undefined ? this.#parts.upstreams.get(this.#upstreamName) : undefined;
    if (!(cluster instanceof Cluster)) return this.#noRoute(destination);
    this.#cluster = cluster;
    this.#connect(cluster, destination?.subset);
  }

  #choose(): Pick<TcpDestination, 'upstream' | 'subset' | 'broken'> | undefined {
    const { host, socket, settings } = this.#parts;
    if (host.forwardsServerName) {
      const { servername } = socket as Socket & { readonly servername?: unknown };
      return typeof servername === 'string' ? { upstream: servername } : undefined;
    }
    return destinationAt(host.destinations, Math.random() * settings.totalWeight);
  }

  #noRoute(destination: Pick<TcpDestination, 'broken'> | undefined): void {
    this.#parts.stats.noRoute.value++;
    this.#flags = destination ? 'NC' : 'NR';
    this.#termination = destination?.broken ?? NO_ROUTE;
    this.#parts.socket.destroy();
  }

  #connect(cluster: Cluster, metadataMatch: TcpDestination['subset']): void {
    const { socket, settings } = this.#parts;
    const attempt = ++this.#attempts;
    const host = cluster.pick({ metadataMatch, excluded: this.#tried, attempt });
    if (!host) return this.#fail(noEndpoint(cluster.unusable ?? 'no endpoint'));
    this.#host = host;
    this.#tried.add(host);
    const startedAt = performance.now();
    const settle = (error: Error | null, upstream?: Socket): void => {
      this.#cancel = undefined;
      const reason = error ? explain(error, 'connecting') : undefined;
      const elapsedMs = performance.now() - startedAt;
      cluster.onAttempt?.({ host, attempt, status: reason ? 0 : 200, reason, elapsedMs });
      if (upstream) return this.#join(upstream, host);
      host.responded(0);
      if (socket.destroyed) return;
      // A limit of connections applies to every host.
      if (reason!.reset === 'overflow' || attempt >= settings.maxAttempts) return this.#fail(reason!);
      this.#connect(cluster, metadataMatch);
    };
    this.#open(cluster, host, settle);
  }

  /** Opens a connection to a host, and the tunnel through it. */
  #open(cluster: Cluster, host: Host, settle: (error: Error | null, upstream?: Socket) => void): void {
    const { socket, settings } = this.#parts;
    let isCancelled = false;
    const user: UnpooledUser = {
      client: socket,
      onConnect: (error, upstream) => {
        if (isCancelled) return void upstream?.destroy();
        if (!upstream) return settle(error);
        upstream.allowHalfOpen = true;
        if (settings.tunnel === undefined) return settle(null, upstream);
        this.#cancel = () => {
          isCancelled = true;
          upstream.destroy();
        };
        void this.#openTunnel(upstream, cluster.settings.connectTimeoutMs, (failure) => {
          if (!isCancelled) settle(failure, failure ? undefined : upstream);
        });
      },
    };
    try {
      const pool = cluster.pool(host);
      this.#cancel = () => {
        isCancelled = true;
        pool.cancel(user);
      };
      pool.acquireUnpooled(user);
    } catch (error) {
      settle(error as Error);
    }
  }

  async #openTunnel(upstream: Socket, timeoutMs: number, done: (failure: Error | null) => void): Promise<void> {
    const late = Object.assign(new Error('the proxy did not respond in time'), { code: 'ETIMEDOUT' });
    const timer = startTimer(() => upstream.destroy(late), timeoutMs);
    let failure: Error | null = null;
    try {
      await openTunnel(upstream, this.#parts.settings.tunnel!);
    } catch (error) {
      failure = error as Error;
      upstream.destroy();
    }
    clearTimeout(timer);
    done(failure);
  }

  #join(upstream: Socket, host: Host): void {
    const { socket } = this.#parts;
    if (socket.destroyed) return void upstream.destroy();
    this.#upstreamLocal = localEndOf(upstream);
    host.active++;
    host.rqTotal++;
    host.responded(200);
    upstream.once('close', () => {
      host.active--;
      this.#countBytes(upstream);
    });
    join(socket, upstream);
  }

  #countBytes({ bytesRead, bytesWritten }: Socket): void {
    const { stats } = this.#cluster!;
    stats.cxRxBytes.value += bytesRead;
    stats.cxTxBytes.value += bytesWritten;
  }

  #fail({ flags, details, cause }: FailureReason): void {
    const { socket, settings, onExhausted } = this.#parts;
    const isExhausted = flags === 'UF' && this.#attempts >= settings.maxAttempts;
    if (isExhausted) onExhausted(this.#upstreamName);
    this.#flags = isExhausted ? 'UF,URX' : flags;
    this.#failure = cause ?? '';
    this.#termination = details;
    socket.destroy();
  }

  #closed(): void {
    const { socket, stats } = this.#parts;
    clearInterval(this.#flush);
    this.#cancel?.();
    stats.rxBytes.value += socket.bytesRead;
    stats.txBytes.value += socket.bytesWritten;
    this.#write();
  }

  #write(): void {
    const { host, write } = this.#parts;
    const route = { routeName: host.name, virtualHost: '', upstream: this.#upstreamName };
    const result = {
      upstreamHost: this.#host?.name ?? '',
      upstreamLocal: this.#upstreamLocal,
      flags: this.#flags,
      transportFailure: this.#failure,
      termination: this.#termination,
      attempts: this.#attempts,
    };
    write(this.#record({ route, result }));
  }
}
