import type { Context } from './concern.ts';
import type { AzureGroups } from '../schema/auth/oauth2.ts';

/** The claims of a verified token. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** Reads the groups of users whose tokens omit them because there are too many. */
export interface GroupLookup {
  /**
   * Returns the claims with all `groups`; the same object if none were omitted. Rejects with a `GatewayError` if they
   * cannot be read, so that nobody is treated as a user without groups.
   */
  complete(claims: TokenClaims): Promise<TokenClaims>;
  /** Closes the connections. */
  close(): void;
}

/** Creates a lookup from its block in an AuthConfig. It is synchronous, makes no call and throws a `GatewayError`. */
export type GroupLookupKind = (block: AzureGroups, parts: { readonly context: Context }) => GroupLookup;
