import type { AuthRequest, HeaderChange } from '@edge-gateway/core';
import type { LoginBlock } from '../login/settings.ts';

const canonical = (name: string): string => name.toLowerCase().replaceAll('_', '-');

/** Returns the names of the headers that a login sets, in canonical form. */
export function loginHeaders({ headers = {}, identityToken, accessToken }: LoginBlock): ReadonlySet<string> {
  const rules = [...(identityToken?.claimsToHeaders ?? []), ...(accessToken?.claimsToHeaders ?? [])];
  const names = [headers.idTokenHeader, headers.accessTokenHeader, ...rules.map(({ header }) => header)];
  return new Set(names.filter((name) => name !== undefined && name !== '').map((name) => canonical(name!)));
}

/** Returns those that clients must not send. `authorization` is not among them: another auth step may read it. */
export function grantedHeaders(block: LoginBlock): readonly string[] {
  return [...loginHeaders(block)].filter((name) => name !== 'authorization');
}

/** Returns changes that remove headers with these names from the client, in every spelling (`-` or `_`). */
export function removeForged(request: AuthRequest, names: ReadonlySet<string>): HeaderChange[] {
  const sent = request.headers().filter((name, i) => i % 2 === 0 && names.has(canonical(name)));
  return [...new Set(sent.map((name) => name.toLowerCase()))].map((name) => ({ op: 'remove', name }));
}
