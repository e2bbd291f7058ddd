import { STATUS_CODES } from 'node:http';
import { DEFAULTS, parseDuration } from '@edge-gateway/core';
import type { ExtAuthServer } from '@edge-gateway/core/schema';
import { configError } from './error-codes.ts';

/** Default timeout of a step that calls a server, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = parseDuration(DEFAULTS.authTimeout);

export type AuthSettings = Readonly<ReturnType<typeof settingsOf>>;

/** Returns how external auth behaves, with all defaults filled in. Throws `ERR_EXTAUTH_CONFIG` for a status that does not exist. */
export function settingsOf(written: ExtAuthServer = {}) {
  const { requestTimeout, requestBody, statusOnError = DEFAULTS.authStatusOnError } = written;
  if (statusOnError < 200 || !STATUS_CODES[statusOnError]) {
    throw configError(`statusOnError: ${statusOnError} is not a valid final status`);
  }
  return {
    timeoutMs: delayMs(requestTimeout) ?? DEFAULT_TIMEOUT_MS,
    /** Allows requests if there is no decision because a server failed. */
    failureModeAllow: written.failureModeAllow ?? false,
    statusOnError,
    /** Lower case. */
    userIdHeader: (written.userIdHeader || DEFAULTS.userIdHeader).toLowerCase(),
    clearRouteCache: written.clearRouteCache ?? false,
    /** Empty: none. */
    statPrefix: written.statPrefix ?? '',
    /** Unset: the body is not read. */
    body: requestBody && {
      maxBytes: requestBody.maxRequestBytes || DEFAULTS.authBodyBytes,
      partial: requestBody.allowPartialMessage ?? false,
      asBytes: requestBody.packAsBytes ?? false,
    },
  };
}

/** Converts a duration to whole milliseconds. Returns `undefined` for none or 0. */
export function delayMs(written: string | undefined): number | undefined {
  const ms = written === undefined ? 0 : Math.ceil(parseDuration(written));
  return ms === 0 ? undefined : ms;
}
