import { failure } from '../error-codes.ts';
import { limitedFetch, type FetchOptions } from '../provider/limited-fetch.ts';

/** Maximum `Retry-After` that is honored, in seconds. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** A response of Microsoft: its JSON object, empty for anything else. */
export interface MicrosoftResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Host, status and error code, for logs. */
  readonly summary: string;
}

/** Makes one call. Rejects with `ERR_OIDC_GROUPS_UNAVAILABLE` without a complete response, or if 200 has no JSON object. */
export type CallMicrosoft = (url: string, options: FetchOptions) => Promise<MicrosoftResponse>;

/** Creates the calls to one service; after `Retry-After` with 429 or 503 it is not called for that time. */
export function createMicrosoftCall(now: () => number): CallMicrosoft {
  let quiet = { since: -Infinity, ms: 0 };
  return async (url, options) => {
    const { host } = new URL(url);
    // The clock may have been set back since.
    if (Math.abs(now() - quiet.since) < quiet.ms)
      throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `${host}: Retry-After has not passed`);
    const response = await limitedFetch(url, options).catch((error: Error) => {
      throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `groups: ${error.message}`, error);
    });
    const { status } = response;
    if (status === 429 || status === 503)
      quiet = { since: now(), ms: retryAfterSeconds(response.headers.get('retry-after')) * 1000 };
    const body: unknown = await response.json().catch(() => undefined);
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
    if (status === 200 && !isObject)
      throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `${host}: the response is not a JSON object`);
    const known = isObject ? (body as Record<string, unknown>) : {};
    return { status, body: known, summary: `${host}: status ${status}${errorOf(known)}` };
  };
}

function retryAfterSeconds(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 0);
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) : 0;
}

/** Returns an error code for logs: `error` of the token endpoint or `error.code` of Graph, in few plain characters. */
function errorOf({ error }: Readonly<Record<string, unknown>>): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : error;
  return typeof code === 'string' ? ` ${code.replaceAll(/[^\w.:/-]/g, '_').slice(0, 60)}` : '';
}
