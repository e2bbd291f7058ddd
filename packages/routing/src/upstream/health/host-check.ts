import { startTimer } from '@edge-gateway/core';
import type { Host } from '../hosts/host.ts';
import type { CheckSchedule } from './check-schedule.ts';
import type { CheckStarts } from './check-starts.ts';
import { HealthState, type Thresholds, type Transition } from './health-state.ts';
import type { HealthEvent } from './health-event-log.ts';
import type { CheckStats } from './health-stats.ts';
import { activeFailure, type CheckFailure, type CheckResult, type Probe } from './probe.ts';

/** What the checks of all hosts of an upstream share. */
export interface HostCheckParts {
  readonly thresholds: Thresholds;
  readonly schedule: CheckSchedule;
  readonly timeoutMs: number;
  readonly alwaysLogFailures: boolean;
  readonly stats: CheckStats;
  readonly starts: CheckStarts;
  hasTraffic(): boolean;
  /** Logs a change, and failures that change nothing. */
  log(host: Host, event: HealthEvent, failure?: CheckFailure): void;
  /** Called after each check. */
  onChecked(host: Host, passed: boolean): void;
}

/** The checks of one host, one after the other. */
export class HostCheck {
  readonly state: HealthState;
  readonly #host: Host;
  readonly #probe: Probe;
  readonly #parts: HostCheckParts;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `healthy` is what to assume until the first check. */
  constructor(host: Host, probe: Probe, parts: HostCheckParts, healthy: boolean) {
    this.#host = host;
    this.#probe = probe;
    this.#parts = parts;
    this.state = new HealthState(parts.thresholds, healthy);
    host.setFlag('failedActiveHc', !healthy);
    if (healthy) parts.stats.healthy.value++;
  }

  start(): void {
    this.#schedule(this.#parts.schedule.first());
  }

  /** Ends the checks. The health of the host stays as it is. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#probe.cancel();
    if (this.state.healthy) this.#parts.stats.healthy.value--;
  }

  /** Marks the host as unhealthy without a check. */
  failPassively(reason: string): void {
    if (this.#closed) return;
    this.#host.setFlag('excludedByHost', true);
    this.#failed({ type: 'PASSIVE', reason });
  }

  #schedule(delayMs: number): void {
    this.#timer = startTimer(() => this.#parts.starts.add(this.#begin), delayMs).unref();
  }

  readonly #begin = (): void => {
    if (this.#closed) return;
    const { stats, timeoutMs } = this.#parts;
    stats.attempt.value++;
    this.#timer = startTimer(() => {
      this.#probe.cancel();
      this.#finish({ type: 'NETWORK_TIMEOUT', reason: `no response in ${timeoutMs} ms` });
    }, timeoutMs).unref();
    try {
      this.#probe.run((result) => this.#finish(result));
    } catch (error) {
      this.#finish(activeFailure((error as Error).message));
    }
  };

  #finish(result: CheckResult): void {
    clearTimeout(this.#timer);
    const passed = typeof result === 'string';
    const transition = passed ? this.#passed(result === 'degraded') : this.#failed(result);
    this.#parts.onChecked(this.#host, passed);
    if (this.#closed) return;
    this.#schedule(this.#parts.schedule.next({ passed, transition, hasTraffic: this.#parts.hasTraffic() }));
  }

  #passed(degraded: boolean): Transition {
    const { log, stats } = this.#parts;
    const host = this.#host;
    const { first, healthy } = this.state;
    const transition = this.state.pass();
    stats.success.value++;
    host.setFlag('activeHcTimeout', false);
    host.setFlag('excludedByHost', false);
    if (!healthy && this.state.healthy) {
      stats.healthy.value++;
      host.setFlag('failedActiveHc', false);
      log(host, { add_healthy_event: { first_check: first } });
    }
    if (degraded !== host.hasFlag('degraded')) {
      host.setFlag('degraded', degraded);
      log(host, degraded ? { degraded_healthy_host: {} } : { no_longer_degraded_host: {} });
    }
    return transition;
  }

  #failed(failure: CheckFailure): Transition {
    const { log, stats, alwaysLogFailures } = this.#parts;
    const host = this.#host;
    const { type } = failure;
    const { first, healthy } = this.state;
    const transition = this.state.fail(type);
    stats.failure.value++;
    if (type === 'PASSIVE') stats.passiveFailure.value++;
    if (type === 'NETWORK' || type === 'NETWORK_TIMEOUT') stats.networkFailure.value++;
    if (type === 'NETWORK_TIMEOUT') host.setFlag('activeHcTimeout', true);
    if (healthy && !this.state.healthy) {
      stats.healthy.value--;
      host.setFlag('failedActiveHc', true);
      log(host, { eject_unhealthy_event: { failure_type: type } }, failure);
    }
    if (first || alwaysLogFailures)
      log(host, { health_check_failure_event: { failure_type: type, first_check: first } }, failure);
    return transition;
  }
}
