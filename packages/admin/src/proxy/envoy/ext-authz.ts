import { clusterName, DEFAULT_NAMESPACE, DEFAULTS, REDACTED_IN_LOG, type SnapshotSettings } from '@edge-gateway/core';
import type { ExtAuthExtension, ExtAuthServer } from '@edge-gateway/core/schema';
import { message, protoDuration, typed, type Message } from './json.ts';

const EXT_AUTHZ = 'envoy.extensions.filters.http.ext_authz.v3';

/**
 * Returns the filter of external auth: with the auth server of the settings, or without a service if the chains of the AuthConfigs run in the
 * proxy itself.
 */
export function extAuthz({ extauth = {} }: Pick<SnapshotSettings, 'extauth'>): Message {
  const { requestBody, statusOnError = DEFAULTS.authStatusOnError, requestTimeout = DEFAULTS.authTimeout } = extauth;
  return typed(`${EXT_AUTHZ}.ExtAuthz`, {
    ...serviceOf(extauth, requestTimeout),
    stat_prefix: extauth.statPrefix || undefined,
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
    timeout: extauth.extauthzServerRef ? undefined : protoDuration(requestTimeout),
  });
}

function serviceOf(
  { extauthzServerRef: ref, httpService, grpcService }: ExtAuthServer,
  requestTimeout: string,
): object {
  if (!ref?.name) return {};
  const cluster = clusterName({ name: ref.name, namespace: ref.namespace || DEFAULT_NAMESPACE });
  const timeout = protoDuration(requestTimeout);
  const common = { transport_api_version: 'V3' };
  if (!httpService) {
    const envoy_grpc = message({ cluster_name: cluster, authority: grpcService?.authority || undefined });
    return { ...common, grpc_service: message({ envoy_grpc, timeout }) };
  }
  const { pathPrefix = '', request = {}, response = {} } = httpService;
  return {
    ...common,
    http_service: message({
      server_uri: message({ uri: `http://${cluster}`, cluster, timeout }),
      path_prefix: pathPrefix.replace(/\/$/, '') || undefined,
      authorization_request: message({
        allowed_headers: namesOf(request.allowedHeaders, request.allowedHeadersRegex),
        // Servers often recognize the gateway by a secret.
        headers_to_add: Object.keys(request.headersToAdd ?? {}).map((key) => ({ key, value: REDACTED_IN_LOG })),
      }),
      authorization_response: message({
        allowed_upstream_headers: namesOf(response.allowedUpstreamHeaders),
        allowed_upstream_headers_to_append: namesOf(response.allowedUpstreamHeadersToAppend),
        allowed_client_headers: namesOf(response.allowedClientHeaders),
      }),
    }),
  };
}

function namesOf(names: readonly string[] = [], regexes: readonly string[] = []): Message | undefined {
  if (names.length + regexes.length === 0) return undefined;
  const patterns = [
    ...names.map((name) => ({ exact: name.toLowerCase() })),
    ...regexes.map((regex) => ({ safe_regex: { regex } })),
  ];
  return message({ patterns });
}

/** Returns the AuthConfig or the auth server of one level as ExtAuthzPerRoute; without a block external auth is disabled. */
export function extAuthzPerRoute({ configRef, disable, customAuth }: ExtAuthExtension = {}): Message {
  if (!disable && customAuth) {
    const context_extensions = customAuth.contextExtensions ?? {};
    return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { check_settings: { context_extensions } });
  }
  if (disable || !configRef) return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { disabled: true });
  const config_id = `${configRef.namespace}.${configRef.name}`;
  return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { check_settings: { context_extensions: { config_id } } });
}
