import type { SettingsSpec } from '../schema/kind/settings.ts';
import { checkExtAuth, checkNamedExtAuth } from './auth/ext-auth.ts';
import { fields, within, type Check } from './check.ts';
import { checkRules } from './rate-limit/rate-limit-rules.ts';
import { checkRateLimitServer } from './rate-limit/check-limit-server.ts';
import { EXT_PROC_CHECKS } from './route/ext-proc.ts';
import { checkSslParameters } from './ssl-config.ts';

/** Returns problems of the Settings. */
export const checkSettings: Check<SettingsSpec> = (spec, at) => [
  ...fields(spec, at, {
    extauth: checkExtAuth,
    namedExtauth: checkNamedExtAuth,
    ratelimit: checkRules,
    ratelimitServer: checkRateLimitServer,
    ...EXT_PROC_CHECKS,
  }),
  ...within(spec.upstreamOptions, [...at, 'upstreamOptions'], (options, path) =>
    fields(options, path, { sslParameters: checkSslParameters }),
  ),
];
