import type { ServerMetadata } from 'openid-client';
import type { LoginBlock } from '../login/settings.ts';

/**
 * What a login asks for and the provider says it does not support: a response type, scopes, claims. It may work all the
 * same, since providers need not list everything; where it does not, this says why.
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
