import type { AuthMethodKind, Concern } from '@edge-gateway/core';
import {
  createAccessTokenMethod,
  createExtAuth,
  createOpaMethod,
  createPassThroughHttpMethod,
  createPolicyCompiler,
  METHODS,
} from '@edge-gateway/extauth';
import { azureGroups, oauth2Method, oidcMethod } from '@edge-gateway/oidc';
import { createRateLimit, createRemoteLimiter, type Store } from '@edge-gateway/rate-limit';
import { jwtBeforeExtAuthConcern, jwtConcern, rbacConcern } from '@edge-gateway/rbac';

/** Root certificates for auth servers over HTTPS: `HTTPS_PASSTHROUGH_CA_CERT` is base64-encoded PEM. */
function authServerRoots({ HTTPS_PASSTHROUGH_CA_CERT: written }: NodeJS.ProcessEnv): string | undefined {
  return written ? Buffer.from(written, 'base64').toString('utf8') : undefined;
}

/** Compiles the Rego modules of AuthConfigs, for requests and for the status. */
export const POLICIES = createPolicyCompiler();

/** The methods of external auth. Of two methods of one type, the first is used. */
export const AUTH_METHODS: readonly AuthMethodKind[] = [
  createAccessTokenMethod({ groups: azureGroups }),
  createPassThroughHttpMethod({ moreRoots: authServerRoots(process.env) }),
  createOpaMethod({ compiler: POLICIES, keepsLast: true }),
  ...METHODS,
  oidcMethod,
  oauth2Method,
] as readonly AuthMethodKind[];

/**
 * Returns the concerns that routes are compiled with, beside what routing itself does. Their stages order them. `store` counts rate limits;
 * default: in memory.
 */
export function createConcerns(store?: Store): readonly Concern[] {
  return [
    jwtBeforeExtAuthConcern,
    createExtAuth({ methods: AUTH_METHODS }),
    jwtConcern,
    rbacConcern,
    ...createRateLimit({ createRemoteLimiter, ...(store && { store }) }),
  ] as readonly Concern[];
}
