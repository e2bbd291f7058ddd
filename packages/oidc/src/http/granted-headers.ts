import { headerNames } from './forged-headers.ts';
import type { LoginBlock } from '../login/settings.ts';

/** Returns the names of the headers that a login sets. */
export function loginHeaders({ headers = {}, identityToken, accessToken }: LoginBlock): ReadonlySet<string> {
  const rules = [...(identityToken?.claimsToHeaders ?? []), ...(accessToken?.claimsToHeaders ?? [])];
  return headerNames([headers.idTokenHeader, headers.accessTokenHeader, ...rules.map(({ header }) => header)]);
}

/** Returns those that clients must not send. `authorization` is not among them: another auth step may read it. */
export function grantedHeaders(block: LoginBlock): readonly string[] {
  return [...loginHeaders(block)].filter((name) => name !== 'authorization');
}
