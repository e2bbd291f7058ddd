import { isDeepStrictEqual } from 'node:util';
import type { UsedCertificates } from '@edge-gateway/admin';
import type { Logger } from '@edge-gateway/core';
import { warnOfCertificates } from './flag-certificates.ts';

/** Polling interval in milliseconds. Polling also detects replaced symbolic links in parent folders, as in mounted Secrets. */
const INTERVAL_MS = 1000;

/** Certificates that are reloaded when their files change. */
export interface WatchedTls<Tls> {
  /** The last valid ones. */
  readonly current: Tls;
  /** Those as admin pages list them. */
  certificates(): readonly UsedCertificates[];
  close(): void;
}

interface WatchOptions<Tls> {
  readonly log: Logger;
  /** Returns certificates as admin pages list them. The log warns of those that peers reject because of their dates, now or soon. */
  readonly shown: (tls: Tls) => readonly UsedCertificates[];
  readonly onChange?: (tls: Tls) => void;
}

/**
 * Polls certificate files, and calls back when they changed. If `read` throws, for example because the certificate was replaced before its
 * key, the last valid certificates stay in use. Throws the error of the first `read`.
 */
export function watchTls<Tls>(read: () => Tls, { log, shown, onChange }: WatchOptions<Tls>): WatchedTls<Tls> {
  let current = read();
  warnOfCertificates(shown(current), log);
  let problem = '';
  const timer = setInterval(() => {
    try {
      const next = read();
      problem = '';
      if (isDeepStrictEqual(next, current)) return;
      current = next;
      log.info({}, 'certificate replaced');
      warnOfCertificates(shown(next), log);
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
    certificates: () => shown(current),
    close: () => clearInterval(timer),
  };
}
