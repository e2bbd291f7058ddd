import { GatewayError, redactText } from '@edge-gateway/core';
import { ERROR_CODES } from '../error-codes.ts';

/** The `Status` object with which the API server rejects a request. */
export interface ApiStatus {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
  readonly metadata?: { readonly continue?: string };
}

/** A rejected request. `apiStatus` is the HTTP status of the API server, `reason` its word for it, e.g. `Conflict`. */
export class ApiError extends GatewayError {
  override readonly name = 'ApiError';
  readonly apiStatus: number;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly details: ApiStatus['details'];

  constructor(request: string, { apiStatus, status, retryAfterMs }: RejectedRequest) {
    const text = redactText(status.message ?? '').slice(0, MAX_MESSAGE) || `status ${apiStatus}`;
    super(`${request}: ${text}`, {
      code: 'ERR_KUBERNETES_API',
      status: ERROR_CODES.ERR_KUBERNETES_API.status,
    });
    this.apiStatus = apiStatus;
    this.reason = status.reason;
    this.retryAfterMs = retryAfterMs;
    this.details = status.details;
  }
}

interface RejectedRequest {
  readonly apiStatus: number;
  readonly status: ApiStatus;
  readonly retryAfterMs: number | undefined;
}

const MAX_MESSAGE = 2_000;

/** Returns whether an error is a rejection with one of these HTTP statuses. */
export function isApiError(error: unknown, ...statuses: readonly number[]): error is ApiError {
  return error instanceof ApiError && (statuses.length === 0 || statuses.includes(error.apiStatus));
}

/** Returns whether the API server rejects what was sent: the same would be rejected again. */
export function isRejectedObject(error: unknown): error is ApiError {
  return isApiError(error, 400, 413, 422);
}
