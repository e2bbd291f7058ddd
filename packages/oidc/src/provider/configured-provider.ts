import { DEFAULTS, digest, httpStat, isTrustedUrl, parseDuration } from '@edge-gateway/core';
import { failure } from '../error-codes.ts';
import type { LoginParts } from '../login/settings.ts';
import { createProvider, fixedProvider, type Provider } from './provider.ts';

const UNTRUSTED = 'must use https (http only on the local machine, or with allowHttp: true)';

/** Returns the provider of a login, which outlives reloads. Throws `ERR_OIDC_CONFIG` for URLs that are not trusted. */
export function configuredProvider({ block, context, endpoints }: LoginParts): Provider {
  const trust = { allowHttp: block.allowHttp };
  if (endpoints) {
    for (const url of Object.values(endpoints)) {
      if (url && !isTrustedUrl(url, trust)) throw failure('ERR_OIDC_CONFIG', `provider endpoints ${UNTRUSTED}`);
    }
    return fixedProvider({
      issuer: new URL(endpoints.auth).origin,
      authorization_endpoint: endpoints.auth,
      token_endpoint: endpoints.token,
      ...(endpoints.revocation && { revocation_endpoint: endpoints.revocation }),
    });
  }
  const issuerUrl = block.issuerUrl ?? '';
  if (!isTrustedUrl(issuerUrl, trust)) throw failure('ERR_OIDC_CONFIG', `issuerUrl ${UNTRUSTED}`);
  for (const [name, url] of Object.entries(block.discoveryOverride ?? {})) {
    if (typeof url === 'string' && url !== '' && !isTrustedUrl(url, trust))
      throw failure('ERR_OIDC_CONFIG', `discoveryOverride.${name} ${UNTRUSTED}`);
  }
  const pollIntervalMs = parseDuration(block.discoveryPollInterval ?? DEFAULTS.discoveryPollInterval);
  const options = { issuerUrl, override: block.discoveryOverride, trust, pollIntervalMs, now: context.now };
  return context.state(`oidc:provider:${digest(JSON.stringify(options))}`, () =>
    createProvider({
      ...options,
      log: context.log.get('ext_authz'),
      keysFailed: context.metrics.counter(httpStat('ext_authz.jwks_fetch_failed')),
    }),
  );
}
