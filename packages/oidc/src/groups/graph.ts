import { failure } from '../error-codes.ts';
import type { FetchOptions } from '../provider/limited-fetch.ts';
import type { AppToken } from './app-token.ts';
import type { MicrosoftResponse, CallMicrosoft } from './microsoft.ts';

/** Graph itself returns at most 11,000. */
const MAX_GROUPS = 20_000;
const MAX_PAGES = 20;
/** No further page is requested after this time. */
const MAX_MS = 10_000;

/** Reads the ids of all groups of a user, direct and transitive. Rejects with `ERR_OIDC_GROUPS_UNAVAILABLE`. */
export type ReadGroups = (oid: string) => Promise<readonly string[]>;

/** Creates the reader of groups from Microsoft Graph at `origin`. */
export function createGraph(origin: string, appToken: AppToken, call: CallMicrosoft): ReadGroups {
  async function withToken(url: string, options: FetchOptions): Promise<MicrosoftResponse> {
    const token = await appToken.get();
    const headers = { ...options.headers, accept: 'application/json', authorization: `Bearer ${token}` };
    const response = await call(url, { ...options, headers });
    if (response.status === 401) appToken.forget(token);
    return response;
  }

  /** A cached token may have been revoked, so 401 is retried once with a new one. */
  async function page(url: string, options: FetchOptions): Promise<MicrosoftResponse['body']> {
    const first = await withToken(url, options);
    const response = first.status === 401 ? await withToken(url, options) : first;
    if (response.status === 200) return response.body;
    const hint =
      response.status === 403 ? '; the application requires User.ReadBasic.All and GroupMember.Read.All' : '';
    throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `cannot read groups, ${response.summary}${hint}`);
  }

  return async (oid) => {
    const groups = new Set<string>();
    const stopAt = performance.now() + MAX_MS;
    const body = JSON.stringify({ securityEnabledOnly: false });
    const headers = { 'content-type': 'application/json' };
    let response = await page(`${origin}/v1.0/users/${oid}/getMemberObjects`, { method: 'POST', headers, body });
    for (let pages = 1; ; pages++) {
      for (const group of idsIn(response)) groups.add(group);
      const next = response['@odata.nextLink'];
      if (groups.size > MAX_GROUPS) throw unusable('too many groups');
      if (next === undefined || next === null) return Object.freeze([...groups]);
      if (pages === MAX_PAGES) throw unusable('too many pages');
      if (performance.now() > stopAt) throw unusable('too slow');
      response = await page(sameOrigin(next, origin), {});
    }
  };
}

function idsIn({ value }: MicrosoftResponse['body']): readonly string[] {
  if (Array.isArray(value) && value.every((id) => typeof id === 'string')) return value;
  throw unusable('not a list of ids');
}

/** Prevents sending the token for Graph to another server. */
function sameOrigin(link: unknown, origin: string): string {
  const url = typeof link === 'string' ? URL.parse(link) : null;
  if (url?.origin === origin && !url.username && !url.password) return url.href;
  throw unusable('the next page is on another server');
}

function unusable(detail: string): Error {
  return failure('ERR_OIDC_GROUPS_UNAVAILABLE', `invalid groups from Graph: ${detail}`);
}
