import type { Endpoint, HealthFlagName, HostState, SnapshotUpstream } from '@edge-gateway/core';
import { hostOf } from '../http1/authority.ts';
import { usesHash } from '../upstream/balance/algorithms.ts';
import { LoadBalancer } from '../upstream/balance/load-balancer.ts';
import { loadSettings } from '../upstream/balance/load-settings.ts';
import { byPriority, priorityLoads, type PriorityLoad } from '../upstream/balance/priority-load.ts';
import { hasLabels, membersOf } from '../upstream/balance/subsets.ts';
import { flagsOfNames, namesOfFlags } from '../upstream/hosts/health-flags.ts';
import { HostSet } from '../upstream/hosts/host-set.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { PickContext } from '../upstream/hosts/pick-context.ts';
import type { ExplainedDestination, ExplainedHost } from './explanation.ts';

const UNUSED_REASONS: Readonly<Partial<Record<HealthFlagName, string>>> = {
  failed_active_hc: 'its health checks fail',
  failed_outlier_check: 'outlier detection ejected it',
  pending_active_hc: 'it waits for its first health check',
  excluded_via_immediate_hc_fail: 'one of its responses excluded it',
};

/** The hosts of an upstream as far as they are known, and the choice among them. */
export class ExplainedHosts {
  readonly #hosts = new HostSet();
  readonly #settings: ReturnType<typeof loadSettings>;
  readonly #balancer: LoadBalancer;

  /** Without `states` every declared endpoint counts as healthy. */
  constructor(upstream: SnapshotUpstream, states: readonly HostState[] | undefined) {
    this.#settings = loadSettings(upstream);
    this.#balancer = new LoadBalancer(this.#hosts, this.#settings);
    const live = (states ?? []).flatMap((state) => {
      const declared = declarationOf(state, upstream.endpoints);
      const { address, port, weight, hostname, priority, locality } = state;
      return declared
        ? [{ state, endpoint: { ...declared, address, port, weight, hostname, priority, locality } }]
        : [];
    });
    // States of other hosts are those of another gateway.
    this.#hosts.update(live.length > 0 ? live.map(({ endpoint }) => endpoint) : upstream.endpoints);
    for (const [i, { state }] of live.entries()) {
      const host = this.#hosts.all[i];
      if (host) host.flags = flagsOfNames(state.healthFlags);
    }
  }

  /** Returns the host that the request determines; otherwise the first one that may be used. */
  pick(context?: PickContext): Host | undefined {
    if (this.#isDetermined(context)) return this.#balancer.pick(context);
    const found = this.#hosts.all.find((host) => this.#unusedReason(host, context) === undefined);
    return this.#balancer.pick(context) && found;
  }

  /** Returns why the request determines its host; `undefined` if it does not. */
  choice(context: PickContext | undefined): ExplainedDestination['host'] {
    const host = this.#isDetermined(context) ? this.pick(context) : undefined;
    if (!host) return undefined;
    const address = hostOf(host);
    if (context?.wanted === address) return { address, reason: 'the session of the client names it' };
    return { address, reason: `hash ${context!.hash!.toString(16).padStart(16, '0')} of the request` };
  }

  list(context: PickContext | undefined): ExplainedHost[] {
    return this.#hosts.all.map((host) => {
      const reason = this.#unusedReason(host, context);
      return { address: hostOf(host), priority: host.priority, used: reason === undefined, ...(reason && { reason }) };
    });
  }

  /** False if a subset of a destination is ignored. */
  get hasSubsets(): boolean {
    return this.#settings.subsets !== undefined;
  }

  #isDetermined(context: PickContext | undefined): boolean {
    if (context?.wanted !== undefined) {
      const isBound = this.#balancer.pick({ ...context, strict: true }) !== undefined;
      if (isBound || context.strict) return true;
    }
    return usesHash(this.#settings) && context?.hash !== undefined;
  }

  #unusedReason(host: Host, context: PickContext | undefined): string | undefined {
    const { subsets } = this.#settings;
    const labels = context?.metadataMatch;
    const members = subsets ? membersOf(this.#hosts.all, subsets, labels) : this.#hosts.all;
    if (!members.includes(host)) return labels && !hasLabels(host, labels) ? lacks(labels) : 'it is not in the subset';
    const priorities = byPriority(members);
    const index = priorities.findIndex(({ priority }) => priority === host.priority);
    const load = priorityLoads(priorities, this.#settings)[index]!;
    if (host.weight <= 0) return 'its weight is 0';
    const isUsed = load.healthy + load.degraded > 0;
    if (isUsed && load.panic) return undefined;
    const otherwise = isUsed ? spareReason(host, load) : 'hosts of other priorities receive all requests';
    return flagReason(host) ?? otherwise;
  }
}

function lacks(labels: Readonly<Record<string, string>>): string {
  const list = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return `it lacks the labels ${list.join(', ')}`;
}

function flagReason({ flags }: Host): string | undefined {
  const reasons = namesOfFlags(flags).flatMap((name) => UNUSED_REASONS[name] ?? []);
  return reasons.length > 0 ? reasons.join(', ') : undefined;
}

function spareReason(host: Host, load: PriorityLoad): string | undefined {
  const isSpare = host.hasFlag('degraded') ? load.degraded === 0 : load.healthy === 0;
  return isSpare ? 'it is degraded, and the healthy hosts receive all requests' : undefined;
}

/** Returns the declaration of a host, which alone has its labels and the weight of its locality. */
function declarationOf(state: HostState, declared: readonly Endpoint[]): Endpoint | undefined {
  return declared.find(
    ({ address, port }) => port === state.port && (address === state.address || address === state.hostname),
  );
}
