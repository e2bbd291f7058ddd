import { STATUS_CODES } from 'node:http';
import { DEFAULTS, MAX_DELAY_MS, parseDuration } from '@edge-gateway/core';
import type { ExtAuthServer } from '@edge-gateway/core/schema';
import { configError } from './error-codes.ts';

/** Default timeout of a step that calls a server, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = parseDuration(DEFAULTS.authTimeout);

/** How external auth behaves, with all defaults filled in. */
export interface AuthSettings {
  readonly timeoutMs: number;
  /** Allows requests if there is no decision because a server failed. */
  readonly failureModeAllow: boolean;
  readonly statusOnError: number;
  /** Lower case. */
  readonly userIdHeader: string;
  readonly clearRouteCache: boolean;
  /** Unset: the body is not read. */
  readonly body: { readonly maxBytes: number; readonly partial: boolean; readonly asBytes: boolean } | undefined;
}

/** Throws `ERR_EXTAUTH_CONFIG` for a status that does not exist. */
export function settingsOf(written: ExtAuthServer = {}): AuthSettings {
  const { requestTimeout, requestBody, statusOnError = DEFAULTS.authStatusOnError } = written;
  if (statusOnError < 200 || !STATUS_CODES[statusOnError]) {
    throw configError(`statusOnError: ${statusOnError} is not a valid final status`);
  }
  return {
    timeoutMs: delayMs(requestTimeout) ?? DEFAULT_TIMEOUT_MS,
    failureModeAllow: written.failureModeAllow ?? false,
    statusOnError,
    userIdHeader: (written.userIdHeader || DEFAULTS.userIdHeader).toLowerCase(),
    clearRouteCache: written.clearRouteCache ?? false,
    body: requestBody && {
      maxBytes: requestBody.maxRequestBytes || DEFAULTS.authBodyBytes,
      partial: requestBody.allowPartialMessage ?? false,
      asBytes: requestBody.packAsBytes ?? false,
    },
  };
}

/** Converts a duration to whole milliseconds for timers, at most 24 days. Returns `undefined` for none or 0. */
export function delayMs(written: string | undefined): number | undefined {
  const ms = written === undefined ? 0 : Math.ceil(parseDuration(written));
  return ms === 0 ? undefined : Math.min(ms, MAX_DELAY_MS);
}
