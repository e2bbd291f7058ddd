import type { SnapshotSettings } from '../contract/snapshot.ts';
import type { ExtAuthExtension, ExtAuthServer } from '../schema/auth/extauth.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import { REDACTED_IN_LOG } from '../security/request-secrets.ts';
import { message, protoDuration, typed, type EnvoyMessage } from './message.ts';
import { AUTH_CLUSTER, settingsCluster } from './services.ts';
import type { MessageContext } from './translation-context.ts';

const EXT_AUTHZ = 'envoy.extensions.filters.http.ext_authz.v3';
/** The role `extauth` limits the steps of a chain itself; a login may call the provider. */
const CHAIN_TIMEOUT = '10s';

type Target = Pick<MessageContext, 'services'>;

/**
 * Returns the filter of external auth: with the auth server of the settings, or the role `extauth`; in a dump without a service if the chains
 * of the AuthConfigs run in the proxy itself.
 */
export function extAuthz({ extauth = {} }: Pick<SnapshotSettings, 'extauth'>, context: Target): EnvoyMessage {
  const { requestBody, statusOnError = DEFAULTS.authStatusOnError, requestTimeout = DEFAULTS.authTimeout } = extauth;
  return typed(`${EXT_AUTHZ}.ExtAuthz`, {
    ...serviceOf(extauth, requestTimeout, context),
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
    timeout: extauth.extauthzServerRef || context.services ? undefined : protoDuration(requestTimeout),
    ...(context.services && {
      include_peer_certificate: true,
      include_tls_session: true,
      metadata_context_namespaces: ['envoy.filters.http.jwt_authn'],
    }),
  });
}

function serviceOf(
  { extauthzServerRef: ref, httpService, grpcService }: ExtAuthServer,
  requestTimeout: string,
  { services }: Target,
): object {
  const common = { transport_api_version: 'V3' };
  const timeout = protoDuration(requestTimeout);
  const cluster = settingsCluster(ref);
  if (cluster === undefined) {
    if (!services) return {};
    return {
      ...common,
      grpc_service: { envoy_grpc: { cluster_name: AUTH_CLUSTER }, timeout: CHAIN_TIMEOUT },
    };
  }
  if (!httpService) {
    const envoy_grpc = message({ cluster_name: cluster, authority: grpcService?.authority || undefined });
    return { ...common, grpc_service: message({ envoy_grpc, timeout }) };
  }
  const { pathPrefix = '', request = {}, response = {} } = httpService;
  const headers = Object.entries(request.headersToAdd ?? {});
  return {
    ...common,
    http_service: message({
      server_uri: message({ uri: `http://${cluster}`, cluster, timeout }),
      path_prefix: pathPrefix.replace(/\/$/, '') || undefined,
      authorization_request: message({
        allowed_headers: namesOf(request.allowedHeaders, request.allowedHeadersRegex),
        // Servers often recognize the gateway by a secret.
        headers_to_add: headers.map(([key, value]) => ({ key, value: services ? value : REDACTED_IN_LOG })),
      }),
      authorization_response: message({
        allowed_upstream_headers: namesOf(response.allowedUpstreamHeaders),
        allowed_upstream_headers_to_append: namesOf(response.allowedUpstreamHeadersToAppend),
        allowed_client_headers: namesOf(response.allowedClientHeaders),
        ...(services && { allowed_client_headers_on_success: namesOf(response.allowedClientHeadersOnSuccess) }),
      }),
    }),
  };
}

function namesOf(names: readonly string[] = [], regexes: readonly string[] = []): EnvoyMessage | undefined {
  if (names.length + regexes.length === 0) return undefined;
  const patterns = [
    ...names.map((name) => ({ exact: name.toLowerCase() })),
    ...regexes.map((regex) => ({ safe_regex: { regex } })),
  ];
  return message({ patterns });
}

/** Returns the AuthConfig or the auth server of one level as ExtAuthzPerRoute; without a block external auth is disabled. */
export function extAuthzPerRoute({ configRef, disable, customAuth }: ExtAuthExtension = {}): EnvoyMessage {
  if (!disable && customAuth) {
    const context_extensions = customAuth.contextExtensions ?? {};
    return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { check_settings: { context_extensions } });
  }
  if (disable || !configRef) return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { disabled: true });
  const config_id = `${configRef.namespace}.${configRef.name}`;
  return typed(`${EXT_AUTHZ}.ExtAuthzPerRoute`, { check_settings: { context_extensions: { config_id } } });
}
