import type { ControlPlaneState } from './control-plane.ts';
import type { Logger } from './logger.ts';
import type { Metrics, StatName } from './metrics.ts';
import { formatIssue } from './parse/issue.ts';
import type { ResourceKey, ResourceStatus } from './resource.ts';
import type { StoreState } from './store.ts';

/** Tells the log and the statistics what became of each change. */
export interface ChangeReport {
  /** Runs a translation and measures it. */
  translated<T>(translate: () => T): T;
  /** One line for the change, and one for each problem that is new. */
  changed(state: ControlPlaneState, store: StoreState, milliseconds: number): void;
  failed(error: unknown): void;
}

const STATS = {
  valid: { path: 'validation.gateway.vendor.io/valid_config', metric: 'validation_gateway_vendor_io_valid_config' },
  accepted: {
    path: 'validation.gateway.vendor.io/resources_accepted',
    metric: 'validation_gateway_vendor_io_resources_accepted',
  },
  rejected: {
    path: 'validation.gateway.vendor.io/resources_rejected',
    metric: 'validation_gateway_vendor_io_resources_rejected',
  },
  resources: { path: 'api.gw.vendor.io/translator/resources', metric: 'api_gw_vendor_io_translator_resources' },
  seconds: {
    path: 'gw_edge/translation_time_sec',
    metric: 'gw_edge_translation_time_sec',
    labels: { translator_name: 'gateway' },
  },
} satisfies Record<string, StatName>;

export function reportChanges(log: Logger, metrics: Metrics): ChangeReport {
  const valid = metrics.gauge(STATS.valid);
  const resources = metrics.gauge(STATS.resources);
  const accepted = metrics.counter(STATS.accepted);
  const rejected = metrics.counter(STATS.rejected);
  const seconds = metrics.histogram(STATS.seconds);
  let statuses: ReadonlyMap<ResourceKey, ResourceStatus> = new Map();
  let problems = new Set<string>();

  return {
    translated(translate) {
      const began = performance.now();
      try {
        return translate();
      } finally {
        seconds.observe((performance.now() - began) / 1000);
      }
    },
    changed(state, store, milliseconds) {
      for (const [key, status] of state.statuses) {
        if (statuses.get(key) === status) continue;
        if (isRejected(status)) rejected.value++;
        else accepted.value++;
      }
      statuses = state.statuses;
      const found = problemsOf(state, store);
      for (const [problem, severity] of found) {
        if (problems.has(problem)) continue;
        log[severity]({ revision: state.revision }, problem);
      }
      problems = new Set(found.keys());
      resources.value = state.resources.size;
      valid.value = [...found.values()].includes('error') ? 0 : 1;
      const ms = Math.round(milliseconds);
      log.info(
        { revision: state.revision, resources: state.resources.size, problems: found.size, ms },
        'configuration',
      );
    },
    failed(error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error({ reason }, 'a change of the configuration could not be taken in');
    },
  };
}

/** Problems of what is written, and those that translation found, by their words. */
function problemsOf(state: ControlPlaneState, store: StoreState): Map<string, 'warn' | 'error'> {
  const found = new Map<string, 'warn' | 'error'>();
  for (const issue of state.issues) found.set(formatIssue(issue), issue.severity === 'error' ? 'error' : 'warn');
  for (const [key, { statuses }] of state.statuses) {
    if ((store.stored.get(key)?.issues.length ?? 0) > 0) continue;
    for (const { state, reason } of Object.values(statuses)) {
      if (state === 'Accepted' || state === 'Pending') continue;
      found.set(`${key} ${reason ?? state}`, state === 'Rejected' ? 'error' : 'warn');
    }
  }
  return found;
}

function isRejected({ statuses }: ResourceStatus): boolean {
  return Object.values(statuses).some(({ state }) => state === 'Rejected');
}
