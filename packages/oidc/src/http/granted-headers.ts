import { headerNames } from './claims.ts';
import type { LoginBlock } from '../login/settings.ts';

/** The names that only a login fills. */
export function loginHeaders({ headers = {}, identityToken, accessToken }: LoginBlock): ReadonlySet<string> {
  const rules = [...(identityToken?.claimsToHeaders ?? []), ...(accessToken?.claimsToHeaders ?? [])];
  return headerNames([headers.idTokenHeader, headers.accessTokenHeader, ...rules.map(({ header }) => header)]);
}

/** Those of them that no client may fill. `authorization` is not: who is not logged in here may log in there. */
export function grantedHeaders(block: LoginBlock): readonly string[] {
  return [...loginHeaders(block)].filter((name) => name !== 'authorization');
}
