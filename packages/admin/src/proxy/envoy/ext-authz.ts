import { DEFAULTS, type SnapshotSettings } from '@edge-gateway/core';
import type { ExtAuthExtension } from '@edge-gateway/core/schema';
import { message, protoDuration, typed, type Message } from './json.ts';

const EXT_AUTHZ = 'envoy.extensions.filters.http.ext_authz.v3';

/** Returns the filter of external auth. It refers to no service, because the chains of the AuthConfigs run in the proxy itself. */
export function extAuthz({ extauth = {} }: SnapshotSettings): Message {
  const { requestBody, statusOnError = DEFAULTS.authStatusOnError, requestTimeout = DEFAULTS.authTimeout } = extauth;
  return typed(`${EXT_AUTHZ}.ExtAuthz`, {
    failure_mode_allow: extauth.failureModeAllow || undefined,
    status_on_error: { code: statusOnError },
    clear_route_cache: extauth.clearRouteCache || undefined,
    with_request_body:
      requestBody &&
      message({
        max_request_bytes: requestBody.maxRequestBytes || DEFAULTS.authBodyBytes,
        allow_partial_message: requestBody.allowPartialMessage || undefined,
        pack_as_bytes: requestBody.packAsBytes || undefined,
      }),
    timeout: protoDuration(requestTimeout),
  });
}

/** Returns the AuthConfig of one level as ExtAuthzPerRoute; without a block external auth is disabled. */
export function extAuthzPerRoute({ configRef, disable }: ExtAuthExtension = {}): Message {
  if (disable || !configRef) return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { disabled: true });
  const config_id = `${configRef.namespace}.${configRef.name}`;
  return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { check_settings: { context_extensions: { config_id } } });
}
