import type { Logger } from '../observe/logger.ts';

const REPORT_EVERY_MS = 5000;
const PASSWORD = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ALTNAME/;
const TLS = /^(EPROTO|ERR_SSL|ERR_TLS)/;

/** Returns what is wrong with a Redis, for the log: the words that tell a person where to look. */
export function troubleOf(error: unknown): string {
  const { message = '', code = '' } = error as { message?: string; code?: unknown };
  const text = String(code);
  if (PASSWORD.test(message)) return 'Redis rejected the user name or password';
  if (CERTIFICATE.test(text)) return 'untrusted Redis certificate: check tlsCertMountPath';
  if (TLS.test(text)) return 'TLS handshake with Redis failed';
  return 'Redis is unavailable';
}

/** Logs what is wrong with a Redis. */
export interface Report {
  failed(error: unknown): void;
  /** A command succeeded. */
  recovered(): void;
}

/** Creates a report that logs each kind of trouble once until Redis has recovered, and at most every 5 s. */
export function createReport(log: Logger): Report {
  const reportedAt = new Map<string, number>();
  const present = new Set<string>();
  return {
    failed(error) {
      const trouble = troubleOf(error);
      const now = performance.now();
      if (present.has(trouble) || now - (reportedAt.get(trouble) ?? -Infinity) < REPORT_EVERY_MS) return;
      reportedAt.set(trouble, now);
      present.add(trouble);
      log.warn({ reason: reasonOf(error) }, trouble);
    },
    recovered() {
      if (present.size === 0) return;
      present.clear();
      log.info({}, 'Redis is available again');
    },
  };
}

/** Returns the message of an error. If connections to several addresses failed, it is that of the first. */
function reasonOf(error: unknown): string {
  const { message, errors, code } = error as Partial<AggregateError> & { code?: unknown };
  return message || (errors?.[0] as Error | undefined)?.message || String(code ?? error);
}
