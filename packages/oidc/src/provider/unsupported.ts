import type { ServerMetadata } from 'openid-client';
import type { LoginBlock } from '../login/settings.ts';

/**
 * Returns what a login requests and the provider does not list: a response type, scopes, claims. The login may work anyway,
 * because providers need not list everything; if it does not, this explains why.
 */
export function unsupportedOf(block: LoginBlock, metadata: ServerMetadata): readonly string[] {
  const { scopes = [], identityToken } = block;
  const claims = (identityToken?.claimsToHeaders ?? []).map(({ claim = '' }) => claim);
  return [
    ...missing('response type', ['code'], metadata.response_types_supported),
    ...missing('scope', scopes, metadata.scopes_supported),
    ...missing('claim', claims, metadata.claims_supported),
  ];
}

function missing(kind: string, wanted: readonly string[], listed: unknown): string[] {
  return Array.isArray(listed) ? wanted.filter((each) => !listed.includes(each)).map((each) => `${kind} ${each}`) : [];
}
