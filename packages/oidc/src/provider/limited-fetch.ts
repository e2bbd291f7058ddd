import { isLoopbackUrl, isTrustedUrl, readLimited, type UrlTrust } from '@edge-gateway/core';
import { codeOf, failure } from '../error-codes.ts';

/** Limits of a call to an identity provider: 5 s, and a response of 512 KiB. */
const TIMEOUT_MS = 5000;
const MAX_BYTES = 512 * 1024;

export interface FetchOptions extends UrlTrust {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: RequestInit['body'];
}

/** Applies `isTrustedUrl` to an address from a provider: only a provider on this machine may refer to this machine. */
export function isTrustedFrom(issuerUrl: string, url: string, trust: UrlTrust = {}): boolean {
  return isTrustedUrl(url, trust) && (!isLoopbackUrl(url) || isLoopbackUrl(issuerUrl));
}

/**
 * Calls an identity provider, within the limits above and without following redirects. Rejects with
 * `ERR_OIDC_PROVIDER_TIMEOUT`, `ERR_OIDC_PROVIDER_UNAVAILABLE`, or `ERR_OIDC_PROVIDER_ANSWER` for a response that is too large.
 */
export async function limitedFetch(url: string, { allowHttp, ...options }: FetchOptions = {}): Promise<Response> {
  if (!isTrustedUrl(url, { allowHttp }))
    throw failure('ERR_OIDC_PROVIDER_ANSWER', 'an endpoint of the provider does not use https');
  const { host } = new URL(url);
  try {
    const headers = { ...options.headers, 'accept-encoding': 'identity' };
    const response = await fetch(url, {
      ...options,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body = await readLimited(response.body, MAX_BYTES);
    if (!body) throw failure('ERR_OIDC_PROVIDER_ANSWER', 'a response of the provider is larger than 512 KiB');
    const empty = response.status === 204 || response.status === 304 || body.length === 0;
    return new Response(empty ? null : body, { status: response.status, headers: response.headers });
  } catch (error) {
    if (codeOf(error)) throw error;
    const slow = error instanceof DOMException && error.name === 'TimeoutError';
    const code = slow ? 'ERR_OIDC_PROVIDER_TIMEOUT' : 'ERR_OIDC_PROVIDER_UNAVAILABLE';
    throw failure(code, `${host}: ${slow ? 'no response in time' : 'unreachable'}`, error);
  }
}

/** Returns the JSON object at a URL. Rejects with `ERR_OIDC_PROVIDER_ANSWER` for anything else. */
export async function fetchObject(url: string, trust: UrlTrust = {}): Promise<Record<string, unknown>> {
  const response = await limitedFetch(url, { ...trust, headers: { accept: 'application/json' } });
  const code = response.status >= 500 ? 'ERR_OIDC_PROVIDER_UNAVAILABLE' : 'ERR_OIDC_PROVIDER_ANSWER';
  if (response.status !== 200) throw failure(code, `${new URL(url).host}: status ${response.status}`);
  const parsed: unknown = await response.json().catch(() => undefined);
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
  throw failure('ERR_OIDC_PROVIDER_ANSWER', `${new URL(url).host}: the response is not a JSON object`);
}
