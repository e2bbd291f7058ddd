import type { Context, Endpoint, HostState, SnapshotUpstream } from '@edge-gateway/core';
import type { AttemptObserver } from './attempt.ts';
import { LoadBalancer } from './balance/load-balancer.ts';
import { loadSettings } from './balance/load-settings.ts';
import { CircuitBreakers } from './circuit-breakers.ts';
import type { LimitedPool } from './connection-limit.ts';
import type { Host } from './hosts/host.ts';
import { HostSet } from './hosts/host-set.ts';
import { Membership } from './hosts/membership.ts';
import type { PickContext } from './hosts/pick-context.ts';
import type { ChannelPool } from './channel.ts';
import { Http2Pool } from './http2/http2-pool.ts';
import type { PoolOptions } from './host-pool.ts';
import { ConnectionPool } from './pool.ts';
import { connectionSettings, type ConnectionSettings } from './cluster-settings.ts';
import { createCheckConnector } from './health/check-connector.ts';
import { ClusterHealth } from './health/cluster-health.ts';
import type { CheckedUpstream } from './health/health-checker.ts';
import type { Deadlines } from './deadlines.ts';
import { hasName, resolveEndpoints } from './dns/resolved-endpoints.ts';
import type { WatchedNames } from './dns/watched-names.ts';
import { createClusterStats, type ClusterStats } from './stats.ts';
import { compileTunnel } from './connect/tunnel.ts';
import { loadUpstreamTls, tlsOf, usesTls, type LoadedTls } from './tls.ts';
import type { Upstream } from './upstream.ts';

/** The parts that the clusters of a data plane share. */
export interface ClusterEnvironment {
  readonly deadlines: Deadlines;
  readonly names: WatchedNames;
  /** Default: `direct`. */
  readonly http2Client?: Http2Client | undefined;
}

/** What sends requests to upstreams over HTTP/2: frames that are read and written here, or `node:http2`, which tunnels always use. */
export type Http2Client = 'direct' | 'node';

/** An {@link Upstream} with what the forwarder needs: hosts, TLS, connections, statistics. */
export class Cluster implements Upstream {
  readonly name: string;
  readonly snapshot: SnapshotUpstream;
  readonly stats: ClusterStats;
  readonly deadlines: Deadlines;
  readonly breakers: CircuitBreakers;
  /** Sources of endpoints update it; health checks watch it. */
  readonly hosts = new HostSet();
  /** Set by what judges the hosts by their outcomes. */
  onAttempt: AttemptObserver | undefined;
  /** Missing without health checks and outlier detection. */
  readonly health: ClusterHealth | undefined;
  readonly #context: Context;
  readonly #membership: Membership;
  readonly settings: ConnectionSettings;
  readonly #balancer: LoadBalancer;
  #loaded: LoadedTls | undefined;
  #unusable: string | undefined;
  readonly #pools = new Map<Host, ConnectionPool>();
  readonly #http2Pools = new Map<Host, Http2Pool>();
  readonly #directPools = new Map<Host, Http2Pool>();
  readonly #http2Client: Http2Client;
  readonly #closing = new Set<Promise<void>>();
  readonly #names: WatchedNames;
  readonly #stopResolving: () => void;
  #closed = false;

  /** `before` is the previous version of the upstream: hosts that it had keep their health. */
  constructor(
    snapshot: SnapshotUpstream,
    context: Context,
    { deadlines, names, http2Client }: ClusterEnvironment,
    before?: Cluster,
  ) {
    this.name = snapshot.name;
    this.snapshot = snapshot;
    this.deadlines = deadlines;
    this.stats = createClusterStats(context.metrics, snapshot.name);
    this.#context = context;
    this.#http2Client = http2Client ?? 'direct';
    this.breakers = new CircuitBreakers(snapshot, this.stats, context.metrics);
    this.settings = connectionSettings(snapshot, this.breakers);
    const load = loadSettings(snapshot);
    this.#balancer = new LoadBalancer(this.hosts, load);
    this.#membership = new Membership(this.hosts, this.stats, () => this.#unusable === undefined);
    this.hosts.watch({
      onMembers: (_added, removed) => this.#membersChanged(removed, load.closesOnChange),
      onHealth: (host) => {
        this.#membership.healthChanged();
        if (host.hasFlag('failedActiveHc')) this.#closeIdle(host);
      },
    });
    this.hosts.keepsHealthy =
      (snapshot.spec.healthChecks?.length ?? 0) > 0 && snapshot.spec.ignoreHealthOnHostRemoval !== true;
    this.#names = names;
    this.#stopResolving = resolveEndpoints({
      upstream: snapshot,
      names,
      stats: this.stats,
      log: context.log.get('upstream'),
      onEndpoints: (endpoints) => this.#update(endpoints),
    });
    if (before) this.hosts.continueFrom(before.hosts);
    this.refresh();
    this.health = this.#startHealth(before);
    this.onAttempt = this.health?.onAttempt;
    if (this.health) this.#membership.count();
  }

  /** Why none of the endpoints can be used, e.g. a missing certificate. */
  get unusable(): string | undefined {
    return this.#unusable;
  }

  get hostStates(): readonly HostState[] {
    return this.hosts.all.map(({ state }) => state);
  }

  pick(context?: PickContext): Host | undefined {
    return this.#unusable === undefined ? this.#balancer.pick(context) : undefined;
  }

  /** The HTTP/1.1 connections to a host, and those of other protocols that are never shared. */
  pool(host: Host): ConnectionPool {
    return this.#pools.get(host) ?? this.#keep(this.#pools, new ConnectionPool(this.#poolOptions(host)));
  }

  /** Returns true if requests are sent over HTTP/2; `isHttp2` if that is the version of the client. */
  usesHttp2(isHttp2: boolean): boolean {
    const { httpVersion } = this.settings;
    return httpVersion === 'downstream' ? isHttp2 : httpVersion === 'http2';
  }

  /** The connections for requests to a host; `isHttp2` if their client uses HTTP/2. */
  channels(host: Host, isHttp2: boolean): ChannelPool {
    if (!this.usesHttp2(isHttp2)) return this.pool(host);
    return this.#http2Client === 'direct' ? this.#directPool(host) : this.http2Pool(host);
  }

  /** The HTTP/2 connections to a host that tunnels use too. */
  http2Pool(host: Host): Http2Pool {
    return this.#http2Pools.get(host) ?? this.#keep(this.#http2Pools, new Http2Pool(this.#poolOptions(host)));
  }

  #directPool(host: Host): Http2Pool {
    return this.#directPools.get(host) ?? this.#keep(this.#directPools, new Http2Pool(this.#poolOptions(host), true));
  }

  /** Reads the certificates again. If they changed, new connections use the new ones, and existing exchanges finish. */
  refresh(): void {
    if (usesTls(this.snapshot)) this.#refreshTls();
    this.#membership.count();
  }

  /** Resolves when the last exchange has ended and its connection is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopResolving();
    this.health?.close();
    this.#retireAll();
    await Promise.all(this.#closing);
  }

  #membersChanged(removed: readonly Host[], closesAll: boolean): void {
    for (const pools of [this.#pools, this.#http2Pools, this.#directPools]) {
      for (const host of closesAll ? [...pools.keys()] : removed) {
        const pool = pools.get(host);
        pools.delete(host);
        if (pool) this.#retire(pool);
      }
    }
    this.#membership.count();
  }

  /** As in Envoy: connections to a host that fails its health checks may be dead. */
  #closeIdle(host: Host): void {
    for (const pools of [this.#pools, this.#http2Pools, this.#directPools]) {
      const pool: LimitedPool | undefined = pools.get(host);
      while (pool?.closeIdle());
    }
  }

  #update(endpoints: readonly Endpoint[]): void {
    this.hosts.update(endpoints);
    // A name that is resolved now has no health of its own for which it would stay.
    for (const host of this.hosts.all)
      if (host.hasFlag('pendingDynamicRemoval') && hasName(host)) this.hosts.remove(host);
  }

  #startHealth(before: Cluster | undefined): ClusterHealth | undefined {
    const { healthChecks, outlierDetection } = this.snapshot.spec;
    if (!healthChecks?.[0] && !outlierDetection) return undefined;
    const connector: CheckedUpstream['connector'] = (endpoint, alpn) => {
      const { snapshot, settings, unusable } = this;
      const { lookup } = this.#names;
      return createCheckConnector({ snapshot, settings, unusable, lookup, loaded: this.#loaded }, endpoint, alpn);
    };
    const hasTraffic = (): boolean => this.stats.cxTotal.value > 0;
    const { snapshot: upstream, hosts } = this;
    return new ClusterHealth({ upstream, hosts, context: this.#context, connector, hasTraffic }, before);
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
    this.#retireAll();
    this.#pools.clear();
    this.#http2Pools.clear();
    this.#directPools.clear();
  }

  #poolOptions(host: Host): PoolOptions {
    const tunnel = compileTunnel(this.snapshot, this.#loaded?.proxy?.tls);
    const tls = tlsOf(this.#loaded, host.endpoint);
    const { lookup } = this.#names;
    const { settings, stats } = this;
    return { host, settings, stats, limit: this.breakers.connections, tls, tunnel, lookup };
  }

  #keep<P extends ChannelPool & { readonly host: Host }>(pools: Map<Host, P>, pool: P): P {
    const { host } = pool;
    if (host.isMember) pools.set(host, pool);
    if (this.#closed || !host.isMember) this.#retire(pool);
    return pool;
  }

  #retireAll(): void {
    for (const pools of [this.#pools, this.#http2Pools, this.#directPools])
      for (const pool of pools.values()) this.#retire(pool);
  }

  #retire(pool: ChannelPool): void {
    const closing: Promise<void> = pool.close().then(() => void this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
