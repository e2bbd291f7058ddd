import type { Host } from '../hosts/host.ts';
import type { HostSet } from '../hosts/host-set.ts';
import type { PickContext } from '../hosts/pick-context.ts';
import type { PickHost } from './algorithm.ts';
import { usesHash } from './algorithms.ts';
import { createBalancer } from './balancer.ts';
import type { LoadSettings } from './load-settings.ts';
import { createSubsets, hasLabels } from './subsets.ts';

/**
 * Chooses a host of an upstream for each request. It is built again at the first request after a change of the hosts. The
 * tables of consistent hashing are large: changes of health and weights within `updateMergeWindow` are applied together.
 */
export class LoadBalancer {
  readonly #hosts: HostSet;
  readonly #settings: LoadSettings;
  readonly #mergeWindowMs: number;
  #pick: PickHost | undefined;
  #byAddress: Map<string, Host> | undefined;
  #builds = 0;
  #builtAt = 0;
  #isStale = false;

  constructor(hosts: HostSet, settings: LoadSettings) {
    this.#hosts = hosts;
    this.#settings = settings;
    this.#mergeWindowMs = usesHash(settings) ? settings.mergeWindowMs : 0;
    hosts.watch({
      onMembers: (added, removed) => {
        this.#byAddress = undefined;
        if (added.length > 0 || removed.length > 0) this.#pick = undefined;
        else this.#changed();
      },
      onHealth: () => this.#changed(),
    });
  }

  pick(context?: PickContext): Host | undefined {
    if (context?.wanted !== undefined && (context.attempt ?? 1) === 1) {
      const host = this.#find(context.wanted);
      const { metadataMatch } = context;
      const isAllowed = !metadataMatch || !this.#settings.subsets || (host && hasLabels(host, metadataMatch));
      if (host?.isHealthy && isAllowed) return host;
      if (context.strict) return undefined;
    }
    if (this.#pick === undefined || (this.#isStale && performance.now() - this.#builtAt >= this.#mergeWindowMs)) {
      this.#pick = this.#build();
    }
    return this.#pick(context);
  }

  #find(address: string): Host | undefined {
    this.#byAddress ??= new Map(this.#hosts.all.map((host) => [host.name, host]));
    return this.#byAddress.get(address);
  }

  #changed(): void {
    if (this.#mergeWindowMs === 0) this.#pick = undefined;
    else this.#isStale = true;
  }

  /** Each build begins with another host: otherwise frequent changes would favour the first one. */
  #build(): PickHost {
    const { all } = this.#hosts;
    const first = this.#builds++ % (all.length || 1);
    this.#isStale = false;
    this.#builtAt = performance.now();
    const hosts = [...all.slice(first), ...all.slice(0, first)];
    const { subsets } = this.#settings;
    return subsets ? createSubsets(hosts, subsets, this.#settings) : createBalancer(hosts, this.#settings);
  }
}
