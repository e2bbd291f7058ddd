import { decodeContent, isTrustedUrl, readLimited, type Context, type GatewayError } from '@edge-gateway/core';
import { FETCH_TIMEOUT_MS } from '@edge-gateway/core/jwt';
import { rbacError } from '../error-codes.ts';
import type { JwtProvider } from '@edge-gateway/core/schema';

/** A larger key set is rejected. */
export const MAX_KEY_SET_BYTES = 524_288;

type RemoteJwks = NonNullable<NonNullable<JwtProvider['jwks']>['remote']>;

/**
 * Fetches the key set of a provider: through the upstream that it names if the context reaches upstreams, otherwise directly
 * from its URL, which then must be HTTPS or loopback. Throws `ERR_RBAC_PROVIDER` for an invalid URL.
 */
export function fetchKeysOf(provider: string, remote: RemoteJwks, context: Context): () => Promise<string> {
  const url = URL.parse(remote.url ?? '');
  if (!url) throw rbacError('ERR_RBAC_PROVIDER', `provider ${provider}: jwks.remote.url must be an absolute URL`);
  const { name, namespace } = remote.upstreamRef ?? {};
  const call = context.callUpstream;
  if (name !== undefined && namespace !== undefined && call) {
    const request = {
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: ['host', url.host, 'accept', 'application/json', 'accept-encoding', 'identity'],
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBodyBytes: MAX_KEY_SET_BYTES,
    };
    return async () => {
      const answer = await call({ name, namespace }, request);
      if (answer.status !== 200) throw unreachable(`the key set server responded with status ${answer.status}`);
      return decodeContent(answer.body, answer.headers['content-encoding'], MAX_KEY_SET_BYTES).toString('utf8');
    };
  }
  return () => fetchDirectly(url);
}

async function fetchDirectly(url: URL): Promise<string> {
  if (!isTrustedUrl(url.href))
    throw unreachable('a key set must come over HTTPS, from this machine, or from an upstream');
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
  const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (response.status !== 200) throw unreachable(`the key set server responded with status ${response.status}`);
  const body = await readLimited(response.body, MAX_KEY_SET_BYTES);
  if (!body) throw unreachable('the key set is too large');
  return body.toString('utf8');
}

function unreachable(message: string): GatewayError {
  return rbacError('ERR_RBAC_KEYS_UNREACHABLE', message);
}
