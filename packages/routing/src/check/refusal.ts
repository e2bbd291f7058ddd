import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';

/** Why a request is not served. Its connection is closed after the response, because later bytes on it cannot be trusted. */
export interface Refusal {
  readonly code: RoutingErrorCode;
  readonly status: number;
  /** The message to the client. */
  readonly message: string;
  /** Further details for the log. */
  readonly detail?: string;
  /** Flat `[name, value, …]`, sent with the response. */
  readonly headers?: readonly string[];
}

export interface RefusalParts {
  readonly detail?: string;
  readonly status?: number;
  readonly headers?: readonly string[];
}

export function refusal(code: RoutingErrorCode, parts: RefusalParts = {}): Refusal {
  return { code, ...ERROR_CODES[code], ...parts };
}

/** The JSON body of the response to a rejected request. */
export function refusalBody({ code, message }: Refusal, requestId: string): string {
  return JSON.stringify({ code, message, requestId });
}
