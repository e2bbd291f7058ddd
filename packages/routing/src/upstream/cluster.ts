import { createRoundRobin, type Context, type Endpoint, type SnapshotUpstream } from '@edge-gateway/core';
import type { AttemptObserver } from './attempt.ts';
import { ConnectionPool } from './pool.ts';
import { connectionSettings, type ConnectionSettings } from './cluster-settings.ts';
import type { Deadlines } from './deadlines.ts';
import { createClusterStats, type ClusterStats } from './stats.ts';
import { loadUpstreamTls, type LoadedTls } from './tls.ts';
import type { Upstream } from './upstream.ts';

/** An {@link Upstream} with what the forwarder needs: TLS, connections, statistics. */
export class Cluster implements Upstream {
  readonly name: string;
  readonly snapshot: SnapshotUpstream;
  readonly stats: ClusterStats;
  readonly deadlines: Deadlines;
  /** Set by what judges the endpoints by their outcomes. */
  onAttempt: AttemptObserver | undefined;
  readonly #context: Context;
  readonly #settings: ConnectionSettings;
  readonly #next: () => Endpoint | undefined;
  #loaded: LoadedTls | undefined;
  #unusable: string | undefined;
  #pools = new Map<Endpoint, ConnectionPool>();
  readonly #closing = new Set<Promise<void>>();
  #closed = false;

  constructor(snapshot: SnapshotUpstream, context: Context, deadlines: Deadlines) {
    this.name = snapshot.name;
    this.snapshot = snapshot;
    this.deadlines = deadlines;
    this.stats = createClusterStats(context.metrics, snapshot.name);
    this.#context = context;
    this.#settings = connectionSettings(snapshot);
    this.#next = createRoundRobin(snapshot.endpoints);
    this.refresh();
  }

  /** Why none of the endpoints can be used, e.g. a missing certificate. */
  get unusable(): string | undefined {
    return this.#unusable;
  }

  pick(): Endpoint | undefined {
    return this.#unusable === undefined ? this.#next() : undefined;
  }

  pool(endpoint: Endpoint): ConnectionPool {
    let pool = this.#pools.get(endpoint);
    if (!pool) {
      pool = new ConnectionPool({ endpoint, settings: this.#settings, stats: this.stats, tls: this.#loaded?.tls });
      this.#pools.set(endpoint, pool);
      if (this.#closed) this.#retire(pool);
    }
    return pool;
  }

  /** Reads the certificates again. If they changed, new connections use the new ones, and existing exchanges finish. */
  refresh(): void {
    if (this.snapshot.tls) this.#refreshTls();
    const { endpoints } = this.snapshot;
    this.stats.membershipTotal.value = endpoints.length;
    this.stats.membershipHealthy.value = this.#unusable === undefined ? endpoints.length : 0;
  }

  /** Resolves when the last exchange has ended and its connection is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const pool of this.#pools.values()) this.#retire(pool);
    await Promise.all(this.#closing);
  }

  #refreshTls(): void {
    try {
      const loaded = loadUpstreamTls(this.snapshot, this.#context.secrets, this.#loaded);
      if (loaded === this.#loaded) return;
      this.#loaded = loaded;
      this.#unusable = undefined;
    } catch (error) {
      this.#loaded = undefined;
      this.#unusable = (error as Error).message;
      this.#context.log.get('upstream').error({ upstream: this.name, error }, 'upstream cannot be used');
    }
    const pools = [...this.#pools.values()];
    this.#pools = new Map();
    for (const pool of pools) this.#retire(pool);
  }

  #retire(pool: ConnectionPool): void {
    const closing: Promise<void> = pool.close().then(() => void this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
