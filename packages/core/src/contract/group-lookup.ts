import type { Context } from './concern.ts';
import type { AzureGroups } from '../schema/auth/oauth2.ts';

/** The claims of a token that was verified. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** Reads the groups of users whose tokens leave them out because they are too many. */
export interface GroupLookup {
  /**
   * The claims with all `groups`; the same object where none were left out. Rejects with a `GatewayError` when they
   * cannot be read, so that nobody is taken for a user without groups.
   */
  complete(claims: TokenClaims): Promise<TokenClaims>;
  /** Lets go of the connections. */
  close(): void;
}

/** Makes a lookup from its block in an AuthConfig. It is synchronous, makes no call and throws a `GatewayError`. */
export type GroupLookupKind = (block: AzureGroups, parts: { readonly context: Context }) => GroupLookup;

/** The two addresses of a Microsoft cloud, without a path. Plain `http` is for this machine only. */
export interface AzureAddresses {
  /** Gives tokens, as `https://login.microsoftonline.com`. */
  readonly login: string;
  /** Tells groups, as `https://graph.microsoft.com`. */
  readonly graph: string;
}
