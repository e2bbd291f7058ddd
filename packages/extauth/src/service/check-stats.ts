import type { Counter, Metrics } from '@edge-gateway/core';

type CheckOutcome = 'allowed' | 'denied' | 'error';

const PREFIX = 'extauth.vendor.io/checks';
/** Label of checks that name no known AuthConfig: their names come from outside. */
const UNKNOWN = 'unknown';

/** Counts checks by AuthConfig and outcome, and measures them. */
export function createCheckStats(metrics: Metrics) {
  const counters = new Map<string, Readonly<Record<CheckOutcome, Counter>>>();
  const time = metrics.histogram({
    path: 'extauth.vendor.io/check_time_ms',
    metric: 'extauth_vendor_io_check_time_ms',
  });
  const active = metrics.gauge({ path: 'extauth.vendor.io/active_checks', metric: 'extauth_vendor_io_active_checks' });

  function countersOf(config: string): Readonly<Record<CheckOutcome, Counter>> {
    let known = counters.get(config);
    if (!known) counters.set(config, (known = create(config)));
    return known;
  }

  function create(config: string): Readonly<Record<CheckOutcome, Counter>> {
    const counter = (outcome: CheckOutcome): Counter =>
      metrics.counter({
        path: `${PREFIX}.${config}.${outcome}`,
        metric: 'extauth_vendor_io_checks',
        labels: { auth_config: config, outcome },
      });
    return { allowed: counter('allowed'), denied: counter('denied'), error: counter('error') };
  }

  return {
    get active(): number {
      return active.value;
    },
    /** Begins a check and returns the function that ends it. `config` is empty if there is no such AuthConfig. */
    begin(config: string): (outcome: CheckOutcome) => void {
      const began = performance.now();
      const counted = countersOf(config === '' ? UNKNOWN : config);
      active.value++;
      return (outcome) => {
        active.value--;
        counted[outcome].value++;
        time.observe(performance.now() - began);
      };
    },
    /** Removes the counters of AuthConfigs that do not exist anymore. */
    keep(configs: ReadonlySet<string>): void {
      for (const config of counters.keys()) {
        if (config === UNKNOWN || configs.has(config)) continue;
        counters.delete(config);
        metrics.remove(`${PREFIX}.${config}.`);
      }
    },
  };
}
