import { startInterval } from '@edge-gateway/core';
import type { AttemptObserver } from '../attempt.ts';
import type { Host } from '../hosts/host.ts';
import type { HostSet } from '../hosts/host-set.ts';
import { HealthChecker, type CheckedUpstream } from './health-checker.ts';
import { createOutlierStats } from './health-stats.ts';
import { OutlierDetector } from './outlier-detector.ts';

/** The previous version of an upstream. */
export interface PreviousUpstream {
  readonly hosts: HostSet;
  readonly health: ClusterHealth | undefined;
}

/** Keeps the health of the hosts of one upstream: by active checks, and by the outcomes of requests. */
export class ClusterHealth {
  /** Receives the outcomes of requests; missing without outlier detection. */
  readonly onAttempt: AttemptObserver | undefined;
  readonly #checker: HealthChecker | undefined;
  readonly #outliers: OutlierDetector | undefined;
  readonly #sweeps: NodeJS.Timeout | undefined;
  readonly #unwatch: () => void;

  /** Unchanged hosts keep the health that they have in `before`. */
  constructor(checked: CheckedUpstream, before: PreviousUpstream | undefined) {
    const { upstream, hosts, context } = checked;
    const earlier = before && new Map(before.hosts.all.map((host) => [keyOf(host), host]));
    const { outlierDetection } = upstream.spec;
    const outliers =
      outlierDetection &&
      new OutlierDetector(outlierDetection, {
        cluster: upstream.name,
        hosts,
        stats: createOutlierStats(context.metrics, upstream.name),
        log: context.log.get('upstream'),
        now: () => performance.now(),
        random: Math.random,
      });
    this.#outliers = outliers;
    this.onAttempt = outliers && ((outcome) => outliers.report(outcome));
    this.#sweeps = outliers && startInterval(() => outliers.sweep(), outliers.intervalMs).unref();
    for (const host of hosts.all) this.#inherit(host, before?.health, earlier?.get(keyOf(host)));
    this.#checker = HealthChecker.start(checked, {
      before: (host) => {
        const known = earlier?.get(keyOf(host));
        return known && !known.hasFlag('failedActiveHc');
      },
      onPassed: outliers && ((host) => outliers.passedCheck(host)),
    });
    this.#unwatch = hosts.watch({
      onMembers: (_added, removed) => {
        for (const host of removed) this.#outliers?.forget(host);
      },
    });
    if (this.#checker && context.holdListeners)
      context.holdListeners(`health checks of upstream ${upstream.name}`, this.#checker.firstRound);
  }

  /** True with active health checks. */
  get isChecked(): boolean {
    return this.#checker !== undefined;
  }

  /** Marks a host as unhealthy until its checks pass again, because its response asked for it. */
  failPassively(host: Host, reason: string): void {
    this.#checker?.failPassively(host, reason);
  }

  close(): void {
    clearInterval(this.#sweeps);
    this.#unwatch();
    this.#checker?.close();
    this.#outliers?.close();
  }

  #inherit(host: Host, before: ClusterHealth | undefined, earlier: Host | undefined): void {
    if (!earlier || !before || !before.#outliers) return;
    const monitor = before.#outliers.monitorOf(earlier);
    this.#outliers?.inherit(host, monitor, earlier.hasFlag('failedOutlierCheck'));
  }
}

function keyOf({ address, port, sni = '', hostname }: Host): string {
  return `${address} ${port} ${sni} ${hostname}`;
}
