import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@edge-gateway/core';

/** Polling interval in milliseconds. Polling also detects replaced symbolic links in parent folders, as in mounted Secrets. */
const INTERVAL_MS = 1000;

/** Certificates that are reloaded when their files change. */
export interface WatchedTls<Tls> {
  /** The last valid ones. */
  readonly current: Tls;
  close(): void;
}

/**
 * Polls certificate files, and calls back when they changed. If `read` throws, for example because the certificate was replaced before its
 * key, the last valid certificates stay in use. Throws the error of the first `read`.
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
      if (message !== problem) log.warn({ reason: message }, 'failed to reload certificate, keeping previous one');
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
