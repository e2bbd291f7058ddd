import type { Logger } from '@edge-gateway/core';
import type { OutlierDetection } from './health-spec.ts';
import type { AttemptOutcome } from '../attempt.ts';
import type { Host } from '../hosts/host.ts';
import type { HostSet } from '../hosts/host-set.ts';
import type { OutlierStats } from './health-stats.ts';
import { OutlierMonitor, type OutlierResult } from './outlier-monitor.ts';
import { compileOutliers, type OutlierSettings, type OutlierType } from './outlier-settings.ts';
import { outlierThreshold } from './success-rate.ts';

export interface OutlierParts {
  readonly cluster: string;
  readonly hosts: HostSet;
  readonly stats: OutlierStats;
  readonly log: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Returns numbers from 0 up to 1. */
  readonly random: () => number;
}

/** The statistics of a kind of ejection. */
const COUNTERS = {
  consecutive5xx: ['detectedConsecutive5xx', 'enforcedConsecutive5xx'],
  gatewayFailure: ['detectedGatewayFailure', 'enforcedGatewayFailure'],
  successRate: ['detectedSuccessRate', 'enforcedSuccessRate'],
  localOriginFailure: ['detectedLocalOriginFailure', 'enforcedLocalOriginFailure'],
  localOriginSuccessRate: ['detectedLocalOriginSuccessRate', 'enforcedLocalOriginSuccessRate'],
} as const;

/** Ejects hosts of an upstream that fail, for a time that grows with each ejection. */
export class OutlierDetector {
  readonly #settings: OutlierSettings;
  readonly #parts: OutlierParts;
  readonly #monitors = new Map<Host, OutlierMonitor>();
  #ejected = 0;

  constructor(block: OutlierDetection, parts: OutlierParts) {
    this.#settings = compileOutliers(block);
    this.#parts = parts;
  }

  get intervalMs(): number {
    return this.#settings.intervalMs;
  }

  /** Counts the outcome of an attempt. The host may be ejected at once. */
  report(outcome: AttemptOutcome): void {
    const result = resultOf(outcome);
    if (result) this.count(outcome.host, result);
  }

  count(host: Host, result: OutlierResult): void {
    if (!host.isMember) return;
    const monitor = this.monitorOf(host);
    const { split, limits } = this.#settings;
    const failed = 'localFailure' in result;
    if (split) monitor.countConnection(failed);
    if (!failed || !split) monitor.countStatus(failed ? result.localFailure : result.status);
    if (host.hasFlag('failedOutlierCheck')) return;
    if (split && reached(monitor.localOriginFailure, limits.localOriginFailure)) {
      monitor.localOriginFailure = 0;
      this.#detected(host, monitor, 'localOriginFailure');
    }
    if (reached(monitor.gatewayFailure, limits.gatewayFailure)) {
      monitor.gatewayFailure = 0;
      this.#detected(host, monitor, 'gatewayFailure');
    }
    if (reached(monitor.consecutive5xx, limits.consecutive5xx)) {
      monitor.consecutive5xx = 0;
      this.#detected(host, monitor, 'consecutive5xx');
    }
  }

  /** Ends an interval: returns hosts to service, and compares success rates. */
  sweep(): void {
    const now = this.#parts.now();
    const { baseEjectionMs, maxEjectionMs } = this.#settings;
    const hosts = this.#parts.hosts.all;
    const inService: OutlierMonitor[] = [];
    for (const host of hosts) {
      const monitor = this.#monitors.get(host);
      if (!monitor) continue;
      if (!host.hasFlag('failedOutlierCheck')) {
        inService.push(monitor);
        continue;
      }
      const ejectedMs = Math.min(baseEjectionMs * monitor.backoff, maxEjectionMs);
      if (now - monitor.ejectedAt >= ejectedMs) this.#restore(host, monitor, 'ejection time ended');
    }
    for (const monitor of inService) if (monitor.backoff > 0) monitor.backoff--;
    this.#compareRates(hosts);
  }

  /** Returns a host to service whose active health check passed, once its checks make it healthy, as Envoy does by default. */
  passedCheck(host: Host): void {
    if (!host.hasFlag('failedOutlierCheck') || host.hasFlag('failedActiveHc')) return;
    const monitor = this.#monitors.get(host);
    if (monitor) this.#restore(host, monitor, 'active health check passed');
  }

  /** Returns what is known of a host, created at the first call. */
  monitorOf(host: Host): OutlierMonitor {
    let monitor = this.#monitors.get(host);
    if (!monitor) this.#monitors.set(host, (monitor = new OutlierMonitor()));
    return monitor;
  }

  /** Continues with what the detector of the previous version of the upstream knew of a host. */
  inherit(host: Host, monitor: OutlierMonitor, isEjected: boolean): void {
    this.#monitors.set(host, monitor);
    if (isEjected) this.#eject(host);
  }

  forget(host: Host): void {
    this.#monitors.delete(host);
    if (!host.hasFlag('failedOutlierCheck')) return;
    this.#ejected--;
    this.#parts.stats.active.value--;
  }

  /** Ends the detection. Hosts stay as they are. */
  close(): void {
    this.#parts.stats.active.value -= this.#ejected;
    this.#ejected = 0;
    this.#monitors.clear();
  }

  #compareRates(hosts: readonly Host[]): void {
    const { requestVolume } = this.#settings;
    for (const host of hosts) {
      const monitor = this.#monitors.get(host);
      host.successRate = monitor?.external.close(requestVolume) ?? -1;
      host.localOriginSuccessRate = monitor?.local.close(requestVolume) ?? -1;
    }
    this.#ejectBelow(hosts, 'successRate', 'successRate');
    this.#ejectBelow(hosts, 'localOriginSuccessRate', 'localOriginSuccessRate');
  }

  #ejectBelow(hosts: readonly Host[], rate: 'successRate' | 'localOriginSuccessRate', type: OutlierType): void {
    const { minimumHosts, stdevFactor } = this.#settings;
    const rated = hosts.filter((host) => host[rate] >= 0 && !host.hasFlag('failedOutlierCheck'));
    if (rated.length === 0 || rated.length < minimumHosts) return;
    const threshold = outlierThreshold(
      rated.map((host) => host[rate]),
      stdevFactor,
    );
    for (const host of rated) if (host[rate] < threshold) this.#detected(host, this.monitorOf(host), type);
  }

  #detected(host: Host, monitor: OutlierMonitor, type: OutlierType): void {
    const { stats, random, hosts, now } = this.#parts;
    const { maxEjectionPercent, enforcing, baseEjectionMs, maxEjectionMs } = this.#settings;
    const [detected, enforced] = COUNTERS[type];
    stats[detected].value++;
    if (host.hasFlag('failedOutlierCheck')) return;
    if ((100 * this.#ejected) / hosts.all.length >= maxEjectionPercent) {
      stats.overflow.value++;
      return;
    }
    if (random() * 100 >= enforcing[type]) return;
    stats[enforced].value++;
    stats.enforcedTotal.value++;
    monitor.ejectedAt = now();
    if (baseEjectionMs * monitor.backoff < maxEjectionMs + baseEjectionMs) monitor.backoff++;
    this.#eject(host);
    this.#log(host, { type, ejectionMs: Math.min(baseEjectionMs * monitor.backoff, maxEjectionMs) }, 'host ejected');
  }

  #eject(host: Host): void {
    this.#ejected++;
    this.#parts.stats.active.value++;
    host.setFlag('failedOutlierCheck', true);
  }

  #restore(host: Host, monitor: OutlierMonitor, reason: string): void {
    this.#ejected--;
    this.#parts.stats.active.value--;
    monitor.resetFailures();
    host.setFlag('failedOutlierCheck', false);
    this.#log(host, { reason }, 'host returned to service');
  }

  #log(host: Host, fields: object, message: string): void {
    this.#parts.log.warn({ upstream: this.#parts.cluster, host: host.name, ...fields }, message);
  }
}

/** A limit of 0 is never reached. */
function reached(count: number, limit: number): boolean {
  return limit > 0 && count >= limit;
}

/** Returns what an outcome says about the host; `undefined` if it failed for a reason of the gateway. */
function resultOf({ status, reason }: AttemptOutcome): OutlierResult | undefined {
  if (!reason) return { status };
  if (reason.flags === '' || reason.flags === 'UO') return undefined;
  return { localFailure: reason.failure.status };
}
