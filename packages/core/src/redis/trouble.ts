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

/** Creates a function that logs what is wrong, each kind of trouble at most every 5 s. */
export function createReport(log: Logger): (error: unknown) => void {
  const reported = new Map<string, number>();
  return (err) => {
    const trouble = troubleOf(err);
    const now = Date.now();
    if (now - (reported.get(trouble) ?? -Infinity) < REPORT_EVERY_MS) return;
    reported.set(trouble, now);
    log.warn({ err }, trouble);
  };
}
