import type { Logger } from '@edge-gateway/core';

const REPORT_EVERY_MS = 5000;
const PASSWORD = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ALTNAME/;
const TLS = /^(EPROTO|ERR_SSL|ERR_TLS)/;

/** What is wrong with a Redis, for the log: the words that tell a person where to look. */
export function troubleOf(error: unknown): string {
  const { message = '', code = '' } = error as { message?: string; code?: unknown };
  const text = String(code);
  if (PASSWORD.test(message)) return 'redis refused the user or the password';
  if (CERTIFICATE.test(text)) return 'the certificate of redis is not trusted: look at tlsCertMountPath';
  if (TLS.test(text)) return 'no TLS connection to redis could be made';
  return 'redis cannot be used';
}

/** Logs what is wrong, each trouble at most every 5 s. */
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
