import {
  DEFAULTS,
  digest,
  httpStat,
  isPrivateHttpUrl,
  isTrustedUrl,
  parseDuration,
  type UrlTrust,
} from '@edge-gateway/core';
import { failure } from '../error-codes.ts';
import type { LoginParts } from '../login/settings.ts';
import { createProvider, fixedProvider, type Provider } from './provider.ts';

const UNTRUSTED = 'must use https (http only to private names and addresses, or with allowHttp: true)';

/** Returns the trust in the URLs of a provider: one that is configured with a private http URL may have others. */
export function trustOf({ block, endpoints }: Pick<LoginParts, 'block' | 'endpoints'>): UrlTrust {
  const { allowHttp, issuerUrl, discoveryOverride } = block;
  const urls = [issuerUrl, ...Object.values(discoveryOverride ?? {}), ...Object.values(endpoints ?? {})];
  const isPrivate = urls.some((url) => typeof url === 'string' && isPrivateHttpUrl(url));
  return { allowHttp: allowHttp || (isPrivate ? 'private' : undefined) };
}

/** Returns the provider of a login, which outlives reloads. Throws `ERR_OIDC_CONFIG` for URLs that are not trusted. */
export function configuredProvider({ block, context, endpoints }: LoginParts): Provider {
  const trust = trustOf({ block, endpoints });
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
  return context.state(`oidc:provider:${digest(JSON.stringify(options))}`, () => {
    const log = context.log.get('ext_authz');
    if (trust.allowHttp === 'private')
      log.warn({ issuer: issuerUrl }, 'codes, tokens and the client secret are sent to the provider unencrypted');
    const keysFailed = context.metrics.counter(httpStat('ext_authz.jwks_fetch_failed'));
    return createProvider({ ...options, log, keysFailed });
  });
}
