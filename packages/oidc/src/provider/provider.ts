import type { Counter, Logger, UrlTrust } from '@edge-gateway/core';
import { ALGORITHMS, remoteKeys, type KeySource } from '@edge-gateway/core/jwt';
import type { ServerMetadata } from 'openid-client';
import type { OidcAuthorizationCode } from '@edge-gateway/core/schema';
import { failure } from '../error-codes.ts';
import { createCached } from './cached.ts';
import { fetchObject, isTrustedFrom } from './limited-fetch.ts';

/** An identity provider. It outlives reloads. */
export interface Provider {
  /** Fetched at first use, and again after each poll interval. */
  metadata(): Promise<ServerMetadata>;
  /** `undefined` without id tokens (plain OAuth 2). */
  readonly keys: KeySource | undefined;
  /** Counts a fetch of the key set; false if there were `limit` in this poll interval. */
  mayRefetch(limit: number): boolean;
}

export interface ProviderOptions {
  readonly issuerUrl: string;
  readonly override: OidcAuthorizationCode['discoveryOverride'];
  /** Default: https, and http on the local machine. */
  readonly trust?: UrlTrust;
  readonly pollIntervalMs: number;
  /** Minimum time between two fetches of the key set for unknown keys. Default: 5 s. */
  readonly keyCoolDownMs?: number;
  readonly now: () => number;
  readonly log: Logger;
  /** Counts failed fetches of the key set. */
  readonly keysFailed?: Counter;
}

/** No longer than a call to the provider, as logins wait for it. */
const KEY_COOL_DOWN_MS = 5000;
/** Public-key algorithms: a login never trusts shared secrets. */
export const PUBLIC_ALGORITHMS = Object.keys(ALGORITHMS).filter((alg) => ALGORITHMS[alg]!.kty !== 'oct');
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;
const OPTIONAL_ENDPOINTS = ['revocation_endpoint', 'end_session_endpoint'] as const;

/** Creates a provider that is discovered from its issuer URL, at first use. */
export function createProvider(options: ProviderOptions): Provider {
  const { now, pollIntervalMs, keyCoolDownMs = KEY_COOL_DOWN_MS } = options;
  const metadata = createCached(() => discover(options), { maxAgeMs: pollIntervalMs, now });
  return {
    metadata,
    keys: remoteKeys({
      async fetchText() {
        const { jwks_uri: uri } = await metadata();
        return JSON.stringify(await fetchObject(uri!, options.trust));
      },
      cacheMs: pollIntervalMs,
      // An old key set is used at once, while a new one is fetched.
      patienceMs: 0,
      coolDownMs: keyCoolDownMs,
      awaitsKeys: true,
      exactKid: true,
      now,
      log: options.log,
      from: { issuer: options.issuerUrl },
      ...(options.keysFailed && { stats: { failed: options.keysFailed } }),
    }),
    mayRefetch: countPer(pollIntervalMs, now),
  };
}

/** Creates a provider with configured endpoints, for plain OAuth 2. */
export function fixedProvider(metadata: ServerMetadata): Provider {
  return { metadata: async () => metadata, keys: undefined, mayRefetch: () => false };
}

function countPer(intervalMs: number, now: () => number): (limit: number) => boolean {
  let count = 0;
  let since = now();
  return (limit) => {
    // The clock may have been set back since.
    if (Math.abs(now() - since) >= intervalMs) {
      since = now();
      count = 0;
    }
    return count++ < limit;
  };
}

async function discover({ issuerUrl, override, trust = {} }: ProviderOptions): Promise<ServerMetadata> {
  const overridden = fromOverride(override);
  const complete = ENDPOINTS.every((endpoint) => overridden[endpoint] !== undefined);
  const base = issuerUrl.replace(/\/$/, '');
  const discovered: Record<string, unknown> = await fetchObject(
    `${base}/.well-known/openid-configuration`,
    trust,
  ).catch((error: unknown) => {
    if (complete) return { issuer: issuerUrl };
    throw error;
  });
  if (typeof discovered.issuer !== 'string' || discovered.issuer.replace(/\/$/, '') !== base)
    throw failure(
      'ERR_OIDC_PROVIDER_ANSWER',
      `issuerUrl is ${issuerUrl}, but the provider's issuer is ${printable(discovered.issuer)}`,
    );
  const isUsable = (url: unknown): boolean => typeof url === 'string' && isTrustedFrom(issuerUrl, url, trust);
  const unusable = ENDPOINTS.find((name) => overridden[name] === undefined && !isUsable(discovered[name]));
  if (unusable) throw failure('ERR_OIDC_PROVIDER_ANSWER', `${unusable} of the provider is missing or not https`);
  for (const name of OPTIONAL_ENDPOINTS) if (!isUsable(discovered[name])) delete discovered[name];
  const metadata = { ...discovered, ...overridden } as ServerMetadata;
  // Without a list, `openid-client` accepts only RS256.
  const { id_token_signing_alg_values_supported: listed } = metadata;
  return { ...metadata, id_token_signing_alg_values_supported: Array.isArray(listed) ? listed : PUBLIC_ALGORITHMS };
}

/** Returns a value of a provider for the log. */
function printable(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/[^\x21-\x7e]/g, '_').slice(0, 200) : 'nothing';
}

function fromOverride(override: ProviderOptions['override'] = {}): Partial<ServerMetadata> {
  const fields: Record<string, string | readonly string[] | undefined> = {
    authorization_endpoint: override.authEndpoint,
    token_endpoint: override.tokenEndpoint,
    jwks_uri: override.jwksUri,
    revocation_endpoint: override.revocationEndpoint,
    end_session_endpoint: override.endSessionEndpoint,
    scopes_supported: override.scopes,
    response_types_supported: override.responseTypes,
    subject_types_supported: override.subjects,
    id_token_signing_alg_values_supported: override.idTokenAlgs,
    token_endpoint_auth_methods_supported: override.authMethods,
    claims_supported: override.claims,
  };
  const set = Object.entries(fields).filter(([, value]) => value !== undefined && value.length > 0);
  return Object.fromEntries(set) as Partial<ServerMetadata>;
}
