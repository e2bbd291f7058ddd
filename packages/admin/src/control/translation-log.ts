import type { ControlPlane } from '@edge-gateway/core';
import type { TranslationRecord } from './control-options.ts';

/** How many records are kept. */
const KEPT = 50;
/** The last translations of a control plane. */
export interface TranslationLog {
  /** Newest first; at most 50. */
  records(): readonly TranslationRecord[];
  close(): void;
}

/**
 * Records every translation of a control plane, for `/zpages`. `now` returns milliseconds since the epoch; default: the
 * clock of the system.
 *
 * @example
 * const log = followTranslations(controlPlane);
 * const admin = createControlAdmin({ ...options, translations: log.records });
 */
export function followTranslations(
  controlPlane: Pick<ControlPlane, 'subscribe'>,
  now: () => number = Date.now,
): TranslationLog {
  const records: TranslationRecord[] = [];
  const close = controlPlane.subscribe(({ revision, translationMs, resources, issues }) => {
    records.unshift({
      revision,
      at: now(),
      durationMs: translationMs,
      resources: resources.size,
      problems: issues.length,
    });
    if (records.length > KEPT) records.pop();
  });
  return { records: () => [...records], close };
}
