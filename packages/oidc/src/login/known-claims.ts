import type { JWTPayload } from 'jose';
import { claimsOf, type Session } from '../session/session.ts';
import type { Login } from './login.ts';

/** The claims of a login. */
export interface KnownClaims {
  readonly id: JWTPayload | undefined;
  /** Missing if no claim of it becomes a header. */
  readonly access: JWTPayload | undefined;
}

/** Returns the claims of a login, including groups that its tokens omit. Throws `ERR_OIDC_GROUPS_UNAVAILABLE`. */
export async function knownClaims({ block, groups }: Login, session: Session): Promise<KnownClaims> {
  const rules = block.accessToken?.claimsToHeaders ?? [];
  const wantsGroups = rules.some(({ claim }) => claim === 'groups');
  const complete = async (claims: JWTPayload | undefined): Promise<JWTPayload | undefined> =>
    claims && groups ? groups.complete(claims) : claims;
  const access = rules.length > 0 ? claimsOf(session.accessToken) : undefined;
  return { id: await complete(claimsOf(session.idToken)), access: wantsGroups ? await complete(access) : access };
}
