import { failure } from '../failure.ts';
import { limitedFetch, type FetchOptions } from '../provider/limited-fetch.ts';

/** Who asks for patience is not asked for so long, in seconds, whatever he says. */
const MAX_PATIENCE_SECONDS = 60;

/** An answer of Microsoft: its JSON object, empty for anything else. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Host, status and error code, for logs. */
  readonly said: string;
}

/** Asks once. Throws `ERR_OIDC_GROUPS_UNAVAILABLE` where there is no whole answer, or JSON was due and did not come. */
export type Ask = (url: string, options: FetchOptions) => Promise<Answer>;

/** Makes the calls to one service; after `Retry-After` with 429 or 503 it is left alone for that time. */
export function createAsk(now: () => number): Ask {
  let quietUntil = 0;
  return async (url, options) => {
    const { host } = new URL(url);
    if (now() < quietUntil) throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `${host}: it asked not to be called now`);
    const response = await limitedFetch(url, options).catch((error: Error) => {
      throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `groups: ${error.message}`, error);
    });
    const { status } = response;
    if (status === 429 || status === 503) quietUntil = now() + patience(response.headers.get('retry-after')) * 1000;
    const body: unknown = await response.json().catch(() => undefined);
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
    if (status === 200 && !isObject)
      throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `${host}: the answer is not a JSON object`);
    const known = isObject ? (body as Record<string, unknown>) : {};
    return { status, body: known, said: `${host}: status ${status}${errorOf(known)}` };
  };
}

function patience(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 0);
  return seconds > 0 ? Math.min(seconds, MAX_PATIENCE_SECONDS) : 0;
}

/** The code of an error, `error` of the token endpoint or `error.code` of Graph; only few plain characters of it. */
function errorOf({ error }: Readonly<Record<string, unknown>>): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : error;
  return typeof code === 'string' ? ` ${code.replaceAll(/[^\w.:/-]/g, '_').slice(0, 60)}` : '';
}
