const TYPES = 'type.googleapis.com/envoy.extensions.filters.http';

/** Bootstrap of an Envoy that does the same as `protected-gateway.ts`: `/safe` with JWT and RBAC, `/open` without. */
export function envoyConfig(options: {
  readonly port: number;
  readonly upstreamPort: number;
  readonly keySet: string;
  readonly cacheTokens: boolean;
}): object {
  const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const provider = {
    issuer: 'https://issuer.test',
    local_jwks: { inline_string: options.keySet },
    payload_in_metadata: 'main',
    claim_to_headers: [{ header_name: 'x-email', claim_name: 'email' }],
    ...(options.cacheTokens && { jwt_cache_config: { jwt_cache_size: 10_000 } }),
  };
  const admin = {
    permissions: [
      {
        and_rules: {
          rules: [
            { header: { name: ':method', string_match: { exact: 'GET' } } },
            { url_path: { path: { prefix: '/safe' } } },
          ],
        },
      },
    ],
    principals: [
      {
        metadata: {
          filter: 'envoy.filters.http.jwt_authn',
          path: [{ key: 'main' }, { key: 'email' }],
          value: { string_match: { exact: 'admin@example.com' } },
        },
      },
    ],
  };
  const rule = { match: { prefix: '/safe' }, requires: { provider_name: 'main' } };
  const filters = [
    {
      name: 'jwt',
      typed_config: {
        '@type': `${TYPES}.jwt_authn.v3.JwtAuthentication`,
        providers: { main: provider },
        rules: [rule],
      },
    },
    {
      name: 'rbac',
      typed_config: { '@type': `${TYPES}.rbac.v3.RBAC`, rules: { action: 'ALLOW', policies: { admin } } },
    },
    { name: 'router', typed_config: { '@type': `${TYPES}.router.v3.Router` } },
  ];
  const open = {
    match: { prefix: '/open' },
    route: { cluster: 'up' },
    typed_per_filter_config: { rbac: { '@type': `${TYPES}.rbac.v3.RBACPerRoute` } },
  };
  const manager = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'http',
    route_config: {
      virtual_hosts: [
        { name: 'all', domains: ['*'], routes: [{ match: { prefix: '/safe' }, route: { cluster: 'up' } }, open] },
      ],
    },
    http_filters: filters,
  };
  const endpoint = { endpoint: { address: address(options.upstreamPort) } };
  return {
    static_resources: {
      listeners: [
        {
          name: 'bench',
          address: address(options.port),
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
      clusters: [
        {
          name: 'up',
          connect_timeout: '1s',
          load_assignment: { cluster_name: 'up', endpoints: [{ lb_endpoints: [endpoint] }] },
        },
      ],
    },
  };
}
