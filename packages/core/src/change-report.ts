import type { ControlPlaneState } from './control-plane.ts';
import type { Logger } from './logger.ts';
import { SECONDS_BUCKETS, type Metrics, type StatName } from './metrics.ts';
import { formatIssue } from './parse/issue.ts';
import type { ResourceKey, ResourceStatus, StatusReport } from './resource.ts';
import type { StoreState } from './store.ts';
import { reasonLines } from './translate/statuses.ts';

/** Tells the log and the statistics what became of each change. */
export interface ChangeReport {
  /** Runs a translation and measures it. */
  translated<T>(translate: () => T): T;
  /** One line for the change, and one for each problem that is new. */
  changed(state: ControlPlaneState, store: StoreState, milliseconds: number): void;
  failed(error: unknown): void;
}

type Severity = 'warn' | 'error';
/** A line for the log. */
type Told = readonly [string, Severity];

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
  const seconds = metrics.histogram(STATS.seconds, SECONDS_BUCKETS);
  const translation = createStatusProblems();
  let problems: ReadonlyMap<string, Severity> = new Map();

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
      const verdicts = translation.update(state, store);
      accepted.value += verdicts.accepted;
      rejected.value += verdicts.rejected;
      const found = new Map([...translation.problems.values()].flat());
      for (const issue of state.issues) found.set(formatIssue(issue), issue.severity === 'error' ? 'error' : 'warn');
      for (const [problem, severity] of found) {
        if (!problems.has(problem)) log[severity]({ revision: state.revision }, problem);
      }
      problems = found;
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

/** Follows the statuses; looks only at those that changed. */
function createStatusProblems() {
  const problems = new Map<ResourceKey, readonly Told[]>();
  let before: ControlPlaneState['statuses'] = new Map();

  function note(key: ResourceKey, status: ResourceStatus, state: ControlPlaneState, store: StoreState): boolean {
    problems.delete(key);
    const reports = Object.values(status.statuses);
    const rejected = reports.some(({ state }) => state === 'Rejected');
    const bad = reports.find(({ state }) => state === 'Rejected' || state === 'Warning');
    const hasIssues = (store.stored.get(key)?.issues.length ?? 0) > 0;
    // A proxy only says again what its virtual services say.
    if (bad && !key.startsWith('Proxy/')) {
      const { located, rest } = toldOf(key, bad, state);
      problems.set(key, hasIssues ? located : [...located, ...rest]);
    }
    return rejected;
  }

  return {
    /** What translation alone found, by the resource it is about. Problems of what is written are issues. */
    problems,
    update(state: ControlPlaneState, store: StoreState): { accepted: number; rejected: number } {
      const { statuses } = state;
      const verdicts = { accepted: 0, rejected: 0 };
      for (const [key, status] of statuses) {
        if (before.get(key) === status) continue;
        verdicts[note(key, status, state, store) ? 'rejected' : 'accepted']++;
      }
      for (const key of problems.keys()) if (!statuses.has(key)) problems.delete(key);
      before = statuses;
      return verdicts;
    },
  };
}

/** The lines of a status, each with the place of its field, and in one line those of which nobody knows the place. */
function toldOf(key: ResourceKey, { reason, state: verdict }: StatusReport, state: ControlPlaneState) {
  const [kind, namespace, name] = key.split('/') as [string, string, string];
  const lines = reasonLines(reason ?? verdict);
  const located = new Map<string, Told[]>();
  for (const { line, severity } of lines) {
    const places = state.placesOf?.(key, line) ?? [];
    const told = places.map((place): Told => {
      const issue = { code: 'STATUS', severity, kind, namespace, name, message: line, ...place };
      return [formatIssue(issue), severity === 'error' ? 'error' : 'warn'];
    });
    if (told.length > 0) located.set(line, told);
  }
  const left = lines.filter(({ line }) => !located.has(line));
  const heading = verdict === 'Rejected' && left.some(({ severity }) => severity === 'error') ? 'error' : 'warn';
  const rest: Told[] = left.length > 0 ? [[`${key}  ${left.map(({ line }) => line).join(' ')}`, heading]] : [];
  return { located: [...located.values()].flat(), rest };
}
