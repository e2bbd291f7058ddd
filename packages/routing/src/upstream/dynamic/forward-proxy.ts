import { isIP } from 'node:net';
import {
  delayOf,
  ownPorts,
  type Context,
  type Endpoint,
  type SnapshotUpstream,
  startInterval,
} from '@edge-gateway/core';
import type { HttpListenerOptions } from '@edge-gateway/core/schema';
import { Cluster, type ClusterEnvironment } from '../cluster.ts';
import { createLookup, LOOKUP_TIMEOUT_MS, type Addresses, type AddressFamily } from '../dns/lookup.ts';
import { hasServers, routable } from '../dns/machine.ts';
import { createWatchedNames, type WatchedNames, type WatchRules } from '../dns/watched-names.ts';
import { failureOf, type FailureReason } from '../failure.ts';
import { addressProblem, type AddressPolicy } from './address-policy.ts';
import { parseNamedHost } from './named-host.ts';

/** The options of a listener for hosts that requests name. */
export type ForwardProxyOptions = NonNullable<HttpListenerOptions['dynamicForwardProxy']>;
type DnsCache = NonNullable<ForwardProxyOptions['dnsCacheConfig']>;

/** Name of the cluster in logs and statistics. */
export const FORWARD_PROXY_CLUSTER = 'dynamic_forward_proxy';
const REFRESH_MS = 60_000;
const HOST_TTL_MS = 300_000;
const MAX_HOSTS = 1024;
const MAX_PENDING = 1024;
/** Which addresses are looked up, by `dnsLookupFamily`. Default: both families. */
export const FAMILIES: Readonly<Record<string, AddressFamily>> = { V4_ONLY: 'v4', V6_ONLY: 'v6' };

/** The upstream for a host, or why there is none. */
export type ChosenHost = { readonly cluster: Cluster } | { readonly failure: FailureReason };
type Waiting = (chosen: ChosenHost) => void;

/** One host that requests named: it is checked and resolved, and its connections go to the checked addresses only. */
class DynamicHost {
  usedAt = performance.now();
  chosen: ChosenHost | undefined;
  readonly waiting: Waiting[] = [];
  /** What it was last resolved to, and the own ports that were checked then. */
  found: FoundAddresses | undefined;
  checkedPorts: ReadonlySet<number> | undefined;
  stop: () => void = () => {};
}

export interface ForwardProxyParts {
  readonly context: Context;
  readonly environment: ClusterEnvironment;
  /** Default namespace of the secret of `sslConfig`. */
  readonly namespace: string;
}

/** Forwards to hosts that requests name: the DNS cache of one `dynamicForwardProxy` block, and the connections to its hosts. */
export class ForwardProxy {
  readonly #options: ForwardProxyOptions;
  readonly #parts: ForwardProxyParts;
  readonly #names: WatchedNames;
  readonly #rules: WatchRules;
  readonly #hosts = new Map<string, DynamicHost>();
  readonly #sweeper: NodeJS.Timeout;
  #pending = 0;

  constructor(options: ForwardProxyOptions, parts: ForwardProxyParts) {
    this.#options = options;
    this.#parts = parts;
    const cache = options.dnsCacheConfig ?? {};
    const timeoutMs = delayOf(cache.dnsQueryTimeout) || LOOKUP_TIMEOUT_MS;
    this.#names = createWatchedNames(createLookup({ servers: serversOf(cache), timeoutMs }));
    this.#rules = rulesOf(cache);
    this.#sweeper = startInterval(() => this.#sweep(), Math.max(this.#ttlMs / 2, 10)).unref();
    for (const written of (cache.preresolveHostnames ?? []) as { address?: string; portValue?: number }[])
      if (written.address) this.choose(`${written.address}:${written.portValue ?? this.#defaultPort}`, () => {});
  }

  /** Passes on the upstream for the authority of a request. A host that is known already is passed on at once. */
  choose(authority: string, callback: Waiting): void {
    const named = parseNamedHost(authority, this.#options.sslConfig !== undefined);
    if (!named) return callback({ failure: badHost(`invalid host '${authority}'`) });
    const { name, port } = named;
    const key = `${name} ${port}`;
    const known = this.#hosts.get(key) ?? this.#add(key, name, port);
    if (!known) return callback({ failure: OVERFLOW });
    known.usedAt = performance.now();
    if (known.found && known.checkedPorts !== ownPorts()) this.#check(known, known.found);
    if (known.chosen) return callback(known.chosen);
    if (this.#pending >= (this.#options.dnsCacheConfig?.dnsCacheCircuitBreaker?.maxPendingRequests ?? MAX_PENDING))
      return callback({ failure: OVERFLOW });
    this.#pending++;
    known.waiting.push(callback);
  }

  /** Reads the certificates of `sslConfig` again. */
  refresh(): void {
    for (const { chosen } of this.#hosts.values()) if (chosen && 'cluster' in chosen) chosen.cluster.refresh();
  }

  /** Resolves when the last exchange has ended. Requests that wait for a lookup fail. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#hosts.keys()].map((key) => this.#remove(key)));
  }

  get #defaultPort(): number {
    return this.#options.sslConfig ? 443 : 80;
  }

  get #ttlMs(): number {
    return delayOf(this.#options.dnsCacheConfig?.hostTtl) || HOST_TTL_MS;
  }

  #add(key: string, name: string, port: number): DynamicHost | undefined {
    if (this.#hosts.size >= (this.#options.dnsCacheConfig?.maxHosts ?? MAX_HOSTS) && !this.#forgetFailed())
      return undefined;
    const host = new DynamicHost();
    this.#hosts.set(key, host);
    host.stop = this.#names.watch(name, this.#rules, {
      onAddresses: (addresses) => this.#check(host, { name, port, addresses }),
      onFailure: (error) => {
        // A known host keeps its last addresses.
        if (!host.chosen || 'failure' in host.chosen) this.#settle(host, { failure: unresolved(name, error.message) });
      },
    });
    return host;
  }

  #check(host: DynamicHost, found: FoundAddresses): void {
    host.found = found;
    host.checkedPorts = ownPorts();
    this.#settle(host, this.#chosenFor(host, found));
  }

  #chosenFor(host: DynamicHost, { name, port, addresses }: FoundAddresses): ChosenHost {
    if (!addresses) return { failure: unresolved(name, 'the last addresses are too old') };
    const policy: AddressPolicy = {
      allowed: this.#options.allowedAddresses ?? [],
      ownPorts: ownPorts(),
    };
    const { dnsLookupFamily, caresDns } = this.#options.dnsCacheConfig ?? {};
    const usable = caresDns?.filterUnroutableFamilies ? routable(addresses) : addresses;
    const ordered = inOrder(usable, dnsLookupFamily);
    if (ordered.length === 0) return { failure: unresolved(name, 'no network interface for its addresses') };
    const problems = new Map(ordered.map((address) => [address, addressProblem(address, port, policy)]));
    const [address, ...alternatives] = ordered.filter((each) => problems.get(each) === undefined);
    if (address === undefined) return { failure: forbidden(name, problems.get(ordered[0]!)!) };
    const named = isIP(name) === 0 && { hostname: name };
    const endpoint: Endpoint = { address, port, weight: 1, ...named, alternatives };
    if (host.chosen && 'cluster' in host.chosen) {
      host.chosen.cluster.hosts.update([endpoint]);
      return host.chosen;
    }
    return { cluster: this.#createCluster(endpoint) };
  }

  #createCluster(endpoint: Endpoint): Cluster {
    const { sslConfig, circuitBreakers } = this.#options;
    const snapshot: SnapshotUpstream = {
      name: FORWARD_PROXY_CLUSTER,
      ref: { name: FORWARD_PROXY_CLUSTER, namespace: this.#parts.namespace },
      spec: { ...(sslConfig && { sslConfig }), ...(circuitBreakers && { circuitBreakers }) },
      endpoints: [endpoint],
      tls: sslConfig !== undefined,
    };
    return new Cluster(snapshot, this.#parts.context, this.#parts.environment);
  }

  #settle(host: DynamicHost, chosen: ChosenHost): void {
    const before = host.chosen;
    host.chosen = chosen;
    // Its addresses are not allowed any more.
    if (before && 'cluster' in before && 'failure' in chosen) void before.cluster.close();
    const waiting = host.waiting.splice(0);
    this.#pending -= waiting.length;
    for (const callback of waiting) callback(chosen);
  }

  /** Forgets the first host that cannot be used: invented names must not keep others out. Returns false if there is none. */
  #forgetFailed(): boolean {
    for (const [key, { chosen, waiting }] of this.#hosts) {
      if (!chosen || 'cluster' in chosen || waiting.length > 0) continue;
      void this.#remove(key);
      return true;
    }
    return false;
  }

  #sweep(): void {
    const oldest = performance.now() - this.#ttlMs;
    for (const [key, { usedAt, waiting }] of this.#hosts)
      if (usedAt < oldest && waiting.length === 0) void this.#remove(key);
  }

  async #remove(key: string): Promise<void> {
    const host = this.#hosts.get(key)!;
    this.#hosts.delete(key);
    host.stop();
    const { chosen } = host;
    if (!chosen) this.#settle(host, { failure: unresolved(key, 'the listener was removed') });
    else if ('cluster' in chosen) await chosen.cluster.close();
  }
}

interface FoundAddresses {
  readonly name: string;
  readonly port: number;
  readonly addresses: Addresses | undefined;
}

const OVERFLOW: FailureReason = {
  failure: failureOf('ERR_ROUTING_FORWARD_OVERFLOW'),
  flags: 'UO',
  details: 'dynamic_forward_proxy_overflow',
};

function badHost(cause: string): FailureReason {
  return { failure: failureOf('ERR_ROUTING_BAD_HOST'), flags: '', details: 'invalid_host', cause };
}

function forbidden(name: string, reason: string): FailureReason {
  return {
    failure: failureOf('ERR_ROUTING_FORWARD_ADDRESS'),
    flags: '',
    details: 'dynamic_forward_proxy_address',
    cause: `${name}: ${reason}`,
  };
}

function unresolved(name: string, reason: string): FailureReason {
  return {
    failure: failureOf('ERR_ROUTING_FORWARD_DNS'),
    flags: 'DF',
    details: 'dns_resolution_failure',
    cause: `${name}: ${reason}`,
  };
}

/** Returns addresses in the order of preference: IPv4 first, except with `AUTO`. */
export function inOrder({ v4, v6 }: Addresses, family: string | undefined): readonly string[] {
  return family === 'AUTO' ? [...v6, ...v4] : [...v4, ...v6];
}

function rulesOf({ dnsLookupFamily = 'V4_PREFERRED', dnsRefreshRate, dnsFailureRefreshRate }: DnsCache): WatchRules {
  const baseMs = delayOf(dnsFailureRefreshRate?.baseInterval) ?? 0;
  return {
    family: FAMILIES[dnsLookupFamily] ?? 'all',
    rateMs: delayOf(dnsRefreshRate) || REFRESH_MS,
    respectTtl: false,
    ...(baseMs > 0 && { backoff: { baseMs, maxMs: delayOf(dnsFailureRefreshRate?.maxInterval) || baseMs * 10 } }),
  };
}

/** Servers of `caresDns`. */
function serversOf({ caresDns }: DnsCache): readonly string[] | undefined {
  const { resolvers, useResolversAsFallback } = caresDns ?? {};
  if (useResolversAsFallback && hasServers()) return undefined;
  return resolvers?.flatMap(({ socketAddress: { address, portValue = 53 } = {} }) =>
    address ? [isIP(address) === 6 ? `[${address}]:${portValue}` : `${address}:${portValue}`] : [],
  );
}
