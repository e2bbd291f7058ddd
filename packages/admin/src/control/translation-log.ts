import { SECONDS_BUCKETS, type ControlPlane, type Metrics } from '@edge-gateway/core';
import type { TranslationRecord } from './options.ts';

/** How many records are kept. */
const KEPT = 50;
/** The histogram in which the control plane measures its translations, in seconds. */
const DURATION = {
  path: 'gw_edge/translation_time_sec',
  metric: 'gw_edge_translation_time_sec',
  labels: { translator_name: 'gateway' },
} as const;

/** The last translations of a control plane. */
export interface TranslationLog {
  /** Newest first; at most 50. */
  records(): readonly TranslationRecord[];
  close(): void;
}

/**
 * Notes every translation of a control plane, for `/zpages`. `metrics` are those the control plane was given; `now`
 * gives milliseconds since the epoch, by default the system's.
 *
 * @example
 * const log = followTranslations(controlPlane, metrics);
 * const admin = createControlAdmin({ ...options, translations: log.records });
 */
export function followTranslations(
  controlPlane: Pick<ControlPlane, 'subscribe'>,
  metrics: Metrics,
  now: () => number = Date.now,
): TranslationLog {
  const histogram = metrics.histogram(DURATION, SECONDS_BUCKETS);
  const records: TranslationRecord[] = [];
  let measured = 0;
  const close = controlPlane.subscribe(({ revision, resources, issues }) => {
    const durationMs = (histogram.sum - measured) * 1000;
    measured = histogram.sum;
    records.unshift({ revision, at: now(), durationMs, resources: resources.size, problems: issues.length });
    if (records.length > KEPT) records.pop();
  });
  return { records: () => [...records], close };
}
