import type { AuthRequest } from '@edge-gateway/core';
import type { LoginBlock, LoginSettings } from './settings.ts';

type Parameters = Record<string, string>;

/** Parameters that the login sets; configuration cannot replace them. */
const RESERVED = new Set([
  'client_id',
  'client_secret',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'nonce',
  'redirect_uri',
  'refresh_token',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);
const DEFAULT_NAMESPACE = 'vendor_authconfig_oidc';

/** Returns the configured parameters of an endpoint, and those that `autoMapFromMetadata` reads from the request's metadata. */
export function extraParameters(
  block: LoginBlock,
  field: 'authEndpointQueryParams' | 'tokenEndpointQueryParams',
  request: AuthRequest,
): Parameters {
  const namespace = block.autoMapFromMetadata && (block.autoMapFromMetadata.namespace || DEFAULT_NAMESPACE);
  const metadata = namespace === undefined ? undefined : request.metadata.get(namespace);
  const own = metadata?.[field];
  const mapped = typeof own === 'object' && own !== null ? own : metadata;
  const all = Object.entries({ ...mapped, ...block[field] });
  return Object.fromEntries(
    all.filter((entry): entry is [string, string] => typeof entry[1] === 'string' && !RESERVED.has(entry[0])),
  );
}

/** Returns the requested scopes without duplicates. */
export function scopeOf({ scopes = [] }: LoginBlock, always: readonly string[]): string {
  return [...new Set([...always, ...scopes])].join(' ');
}

/** Returns the header with the session id for the token endpoint. */
export function sessionHeaderOf({ sessionHeader }: LoginSettings, session?: { readonly id: string }): Parameters {
  return sessionHeader && session ? { [sessionHeader]: session.id } : {};
}
