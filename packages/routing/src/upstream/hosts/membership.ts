import type { Gauge } from '@edge-gateway/core';
import { EXCLUDED, UNHEALTHY } from './health-flags.ts';
import type { HostSet } from './host-set.ts';

export interface MembershipStats {
  readonly membershipTotal: Gauge;
  readonly membershipHealthy: Gauge;
  readonly membershipDegraded: Gauge;
  readonly membershipExcluded: Gauge;
}

/** Counts the hosts of an upstream by their health. */
export class Membership {
  readonly #hosts: HostSet;
  readonly #stats: MembershipStats;
  readonly #isUsable: () => boolean;
  #due = false;

  /** Without `isUsable` no host is healthy. */
  constructor(hosts: HostSet, stats: MembershipStats, isUsable: () => boolean) {
    this.#hosts = hosts;
    this.#stats = stats;
    this.#isUsable = isUsable;
  }

  /** Counts once for all changes of health that happen together: thousands of hosts may change. */
  healthChanged(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      if (this.#due) this.count();
    });
  }

  count(): void {
    this.#due = false;
    let healthy = 0;
    let degraded = 0;
    let excluded = 0;
    const { all } = this.#hosts;
    for (const host of all) {
      if ((host.flags & EXCLUDED) !== 0) excluded++;
      else if ((host.flags & UNHEALTHY) !== 0) continue;
      else if (host.hasFlag('degraded')) degraded++;
      else healthy++;
    }
    const usable = this.#isUsable();
    this.#stats.membershipTotal.value = all.length;
    this.#stats.membershipHealthy.value = usable ? healthy : 0;
    this.#stats.membershipDegraded.value = usable ? degraded : 0;
    this.#stats.membershipExcluded.value = excluded;
  }
}
