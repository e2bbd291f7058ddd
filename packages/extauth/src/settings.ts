import { STATUS_CODES } from 'node:http';
import { GatewayError } from '@edge-gateway/core';
import type { ExtAuthServer } from '@edge-gateway/core/schema';
import { delayMs } from './delay.ts';

/** Longest time for a step that asks others, in milliseconds, unless the Settings say otherwise. */
export const DEFAULT_TIMEOUT_MS = 200;
const DEFAULT_USER_HEADER = 'x-user-id';
const DEFAULT_BODY_BYTES = 4096;

/** How external auth behaves, with all defaults filled in. */
export interface AuthSettings {
  readonly timeoutMs: number;
  /** Lets requests pass when no judgement could be had. */
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
  const { requestTimeout, requestBody, statusOnError = 403 } = written;
  if (statusOnError < 200 || !STATUS_CODES[statusOnError]) {
    throw new GatewayError(`statusOnError: ${statusOnError} is no status that can end an answer`, {
      code: 'ERR_EXTAUTH_CONFIG',
    });
  }
  return {
    timeoutMs: delayMs(requestTimeout) ?? DEFAULT_TIMEOUT_MS,
    failureModeAllow: written.failureModeAllow ?? false,
    statusOnError,
    userIdHeader: (written.userIdHeader || DEFAULT_USER_HEADER).toLowerCase(),
    clearRouteCache: written.clearRouteCache ?? false,
    body: requestBody && {
      maxBytes: requestBody.maxRequestBytes || DEFAULT_BODY_BYTES,
      partial: requestBody.allowPartialMessage ?? false,
      asBytes: requestBody.packAsBytes ?? false,
    },
  };
}
