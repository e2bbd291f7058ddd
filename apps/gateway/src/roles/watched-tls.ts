import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@edge-gateway/core';

/** Time between two looks at the files, in milliseconds. Looking also finds replaced links in any folder above, as in mounted Secrets. */
const INTERVAL_MS = 1000;

/** Certificates that follow their files. */
export interface WatchedTls<Tls> {
  /** The last valid ones. */
  readonly current: Tls;
  close(): void;
}

/**
 * Reads certificates again and again, and calls back when they changed. `read` throws for files that are unusable, as between the replacement of a
 * certificate and that of its key: the last valid ones are then used on. Throws what the first `read` throws.
 */
export function watchTls<Tls>(read: () => Tls, log: Logger, onChange?: (tls: Tls) => void): WatchedTls<Tls> {
  let current = read();
  let problem = '';
  const timer = setInterval(() => {
    try {
      const next = read();
      problem = '';
      if (isDeepStrictEqual(next, current)) return;
      current = next;
      log.info({}, 'certificate replaced');
      onChange?.(next);
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem) log.warn({ reason: message }, 'certificate unusable, the one before is used');
      problem = message;
    }
  }, INTERVAL_MS).unref();
  return {
    get current() {
      return current;
    },
    close: () => clearInterval(timer),
  };
}
