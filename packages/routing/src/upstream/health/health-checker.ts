import {
  declaredCheckHost,
  parseDuration,
  type Context,
  type Endpoint,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import type { HealthCheck } from './health-spec.ts';
import type { Connector } from '../connector.ts';
import type { Host } from '../hosts/host.ts';
import type { HostSet } from '../hosts/host-set.ts';
import { compileCheck, type CompiledCheck } from './compile-check.ts';
import { compileSchedule } from './check-schedule.ts';
import { CheckStarts } from './check-starts.ts';
import { HostCheck, type HostCheckParts } from './host-check.ts';
import { openEventLog, type HealthEvent, type HealthEventLog } from './health-event-log.ts';
import { createCheckStats } from './health-stats.ts';
import type { CheckFailure } from './probe.ts';

/** The upstream whose hosts are checked. */
export interface CheckedUpstream {
  readonly upstream: SnapshotUpstream;
  readonly hosts: HostSet;
  readonly context: Context;
  /** Creates the connector of an endpoint, with TLS as the upstream has it; `alpn` replaces its protocols. */
  connector(endpoint: Endpoint, alpn: readonly string[] | undefined): Connector;
  /** True once a request had a connection. */
  hasTraffic(): boolean;
}

/** Default of `timeout` and `interval`, which valid resources set. */
const DEFAULT_MS = 5_000;

/**
 * Actively checks all hosts of an upstream until it is closed. Hosts are unhealthy until their first check passes, except
 * those that `before`, the checker of the previous version of the upstream, or traffic without checks, found usable.
 */
export class HealthChecker {
  /** Resolves when each of the first hosts was checked once, or the checker was closed. */
  readonly firstRound: Promise<boolean>;
  readonly #checked: CheckedUpstream;
  readonly #compiled: CompiledCheck;
  readonly #parts: HostCheckParts;
  readonly #events: HealthEventLog | undefined;
  readonly #checks = new Map<Host, HostCheck>();
  readonly #unwatch: () => void;
  readonly #unchecked = new Set<Host>();
  #firstRoundOver!: (complete: boolean) => void;

  private constructor(
    checked: CheckedUpstream,
    { check, compiled, before, onPassed }: CheckerOptions & { readonly compiled: CompiledCheck },
  ) {
    const { upstream, hosts, context } = checked;
    this.#checked = checked;
    this.#compiled = compiled;
    this.#events = check.eventLogPath
      ? openEventLog(check.eventLogPath, { cluster: upstream.name, type: compiled.type }, context)
      : undefined;
    this.#parts = {
      thresholds: { healthy: check.healthyThreshold ?? 1, unhealthy: check.unhealthyThreshold ?? 1 },
      schedule: compileSchedule(check),
      timeoutMs: Math.ceil(check.timeout === undefined ? DEFAULT_MS : parseDuration(check.timeout)),
      alwaysLogFailures: check.alwaysLogHealthCheckFailures ?? false,
      stats: createCheckStats(context.metrics, upstream.name),
      starts: context.state('health-check-starts', () => new CheckStarts()),
      hasTraffic: checked.hasTraffic,
      log: (host, event, failure) => this.#log(host, event, failure),
      onChecked: (host, passed) => this.#onChecked(host, passed, onPassed),
    };
    this.firstRound = new Promise((resolve) => (this.#firstRoundOver = resolve));
    for (const host of hosts.all) this.#add(host, before?.(host) ?? false);
    if (hosts.all.length === 0) this.#firstRoundOver(true);
    this.#unwatch = hosts.watch({
      onMembers: (added, removed) => {
        for (const host of added) this.#add(host, false);
        for (const host of removed) this.#remove(host);
      },
    });
  }

  /** Starts the checks of an upstream. Returns `undefined` if it has none. */
  static start(checked: CheckedUpstream, options: Omit<CheckerOptions, 'check'>): HealthChecker | undefined {
    const { upstream, context } = checked;
    const check = upstream.spec.healthChecks?.[0];
    if (!check) return undefined;
    const stats = createCheckStats(context.metrics, upstream.name);
    const compiled = compileCheck(check, { upstream, context, stats });
    return compiled && new HealthChecker(checked, { ...options, check, compiled });
  }

  /** Marks a host as unhealthy until its checks pass again, because its response asked for it. */
  failPassively(host: Host, reason: string): void {
    this.#checks.get(host)?.failPassively(reason);
  }

  close(): void {
    this.#unwatch();
    for (const check of this.#checks.values()) check.close();
    this.#checks.clear();
    this.#events?.close();
    this.#firstRoundOver(false);
  }

  #add(host: Host, healthy: boolean): void {
    const { upstream, connector } = this.#checked;
    const { port, hostname, path, method } = host.endpoint.healthCheck ?? {};
    const endpoint = port ? { ...host.endpoint, port } : host.endpoint;
    const probe = this.#compiled.probe({
      // A connector holds the certificates that were valid at its creation.
      connect: (callback, onread) => connector(endpoint, this.#compiled.alpn)(callback, onread),
      tls: upstream.tls,
      hostname,
      declaredHost: declaredCheckHost(upstream, host.endpoint),
      path,
      method,
    });
    const check = new HostCheck(host, probe, this.#parts, healthy);
    this.#checks.set(host, check);
    this.#unchecked.add(host);
    check.start();
  }

  #remove(host: Host): void {
    this.#checks.get(host)?.close();
    this.#checks.delete(host);
    this.#checkedOnce(host);
  }

  #onChecked(host: Host, passed: boolean, onPassed: CheckerOptions['onPassed']): void {
    this.#checkedOnce(host);
    if (passed) onPassed?.(host);
  }

  #checkedOnce(host: Host): void {
    if (this.#unchecked.delete(host) && this.#unchecked.size === 0) this.#firstRoundOver(true);
  }

  #log(host: Host, event: HealthEvent, failure: CheckFailure | undefined): void {
    this.#events?.write(host, event);
    const logger = this.#checked.context.log.get('upstream');
    const fields = { upstream: this.#checked.upstream.name, host: host.name };
    if (failure) logger.warn({ ...fields, type: failure.type, reason: failure.reason }, 'health check failed');
    else if ('add_healthy_event' in event) logger.info(fields, 'host became healthy');
  }
}

interface CheckerOptions {
  readonly check: HealthCheck;
  /** Returns the health that a host had in the previous version of the upstream; `undefined` if it is new. */
  readonly before: ((host: Host) => boolean | undefined) | undefined;
  /** Called when a host passed a check. */
  readonly onPassed: ((host: Host) => void) | undefined;
}
