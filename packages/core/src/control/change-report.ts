import type { ControlPlaneState } from './state.ts';
import { differingKeys } from '../layered-map.ts';
import type { Logger } from '../observe/logger.ts';
import { SECONDS_BUCKETS, type Metrics, type StatName } from '../observe/metrics.ts';
import { formatIssue, groupByCause, type Problem } from '../resource/problem.ts';

/** Reports the result of each change to the log and the metrics. */
export interface ChangeReport {
  /** Counts a translation, which took so many milliseconds. */
  translated(milliseconds: number): void;
  /** Logs one line for the change, and one for each new cause of problems. `unwatched` counts the resources that are not read. */
  changed(state: ControlPlaneState, milliseconds: number, unwatched: number): void;
  failed(error: unknown): void;
}

/** The metric has the name of the path. */
function stat(path: string): StatName {
  return { path, metric: path.replaceAll(/[^a-z]/g, '_') };
}

export function reportChanges(log: Logger, metrics: Metrics): ChangeReport {
  const valid = metrics.gauge(stat('validation.gateway.vendor.io/valid_config'));
  const resources = metrics.gauge(stat('api.gw.vendor.io/translator/resources'));
  const accepted = metrics.counter(stat('validation.gateway.vendor.io/resources_accepted'));
  const rejected = metrics.counter(stat('validation.gateway.vendor.io/resources_rejected'));
  const seconds = metrics.histogram(
    { ...stat('gw_edge/translation_time_sec'), labels: { translator_name: 'gateway' } },
    SECONDS_BUCKETS,
  );
  const problems = metrics.gauge(stat('validation.gateway.vendor.io/problems'));
  let statuses: ControlPlaneState['statuses'] = new Map();
  let logged: ReadonlySet<string> = new Set();
  /** The ports of default gateways that are replaced. */
  let replaced: readonly number[] = [];
  let isFirst = true;

  return {
    translated: (milliseconds) => seconds.observe(milliseconds / 1000),
    changed(state, milliseconds, unwatched) {
      const { revision, issues } = state;
      const verdicts = verdictsOf(state.statuses, statuses);
      statuses = state.statuses;
      accepted.value += verdicts.accepted;
      rejected.value += verdicts.rejected;
      const texts = new Map(issues.map((issue) => [formatIssue(issue), issue]));
      for (const { severity, message, places } of linesOf(texts, logged)) {
        log[severity]({ revision, ...(places > 1 && { places }) }, message);
      }
      logged = new Set(texts.keys());
      const { replacedDefaultPorts: ports } = state;
      if (ports.length > 0 && replaced.length === 0) {
        if (isFirst) log.info({ ports }, 'Gateway resources replace the default gateways, whose ports are not opened');
        else log.warn({ ports }, 'the first Gateway resource replaces the default gateways, whose ports close');
      }
      replaced = ports;
      isFirst = false;
      resources.value = state.resources.size;
      problems.value = issues.length;
      valid.value = issues.some(({ severity }) => severity === 'error') ? 0 : 1;
      const ms = Math.round(milliseconds);
      const counts = {
        resources: state.resources.size,
        ...(state.rejected.size > 0 && { rejected: state.rejected.size }),
        ...(unwatched > 0 && { unwatched }),
        problems: issues.length,
      };
      log.info({ revision, ...counts, ms }, 'configuration applied');
    },
    failed(error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error({ reason }, 'failed to apply configuration change');
    },
  };
}

interface LogLine {
  readonly severity: 'warn' | 'error';
  readonly message: string;
  /** Number of problems with the same cause. */
  readonly places: number;
}

/** Returns one line for each new cause: its first place, and the number of further places. */
function linesOf(issues: ReadonlyMap<string, Problem>, logged: ReadonlySet<string>): readonly LogLine[] {
  const fresh = [...issues].filter(([text]) => !logged.has(text)).map(([, issue]) => issue);
  return groupByCause(fresh).map((group) => {
    const rest = group.length - 1;
    const more = rest === 0 ? '' : `  (and in ${rest} more ${rest === 1 ? 'place' : 'places'})`;
    const isError = group.some(({ severity }) => severity === 'error');
    const isKept = isError && group[0].effect === 'keeps-last-good';
    const kept = isKept ? '; the last good version stays in use' : '';
    return { severity: isError ? 'error' : 'warn', message: formatIssue(group[0]) + kept + more, places: group.length };
  });
}

/** Counts the accepted and rejected resources among the changed statuses. */
function verdictsOf(now: ControlPlaneState['statuses'], before: ControlPlaneState['statuses']) {
  const verdicts = { accepted: 0, rejected: 0 };
  for (const key of differingKeys(before, now)) {
    const status = now.get(key);
    if (!status) continue;
    const isRejected = Object.values(status.statuses).some(({ state }) => state === 'Rejected');
    verdicts[isRejected ? 'rejected' : 'accepted']++;
  }
  return verdicts;
}
