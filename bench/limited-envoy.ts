const TYPES = 'type.googleapis.com/envoy.extensions';

/** Bootstrap of an Envoy that asks a rate limit server about `/limited`, and sends `/open` on without a limit. */
export function limitedEnvoyConfig({ upstream, service }: { readonly upstream: number; readonly service: number }) {
  const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const cluster = (name: string, port: number) => ({
    name,
    connect_timeout: '5s',
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }] },
  });
  const limit = {
    '@type': `${TYPES}.filters.http.ratelimit.v3.RateLimit`,
    domain: 'custom',
    timeout: '10s',
    failure_mode_deny: true,
    rate_limit_service: {
      transport_api_version: 'V3',
      grpc_service: { envoy_grpc: { cluster_name: 'rate-limit' } },
    },
  };
  const actions = [{ generic_key: { descriptor_value: 'orders' } }, { remote_address: {} }];
  const manager = {
    '@type': `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'http',
    http_filters: [
      { name: 'ratelimit', typed_config: limit },
      { name: 'router', typed_config: { '@type': `${TYPES}.filters.http.router.v3.Router` } },
    ],
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [
            { match: { prefix: '/limited' }, route: { cluster: 'up', rate_limits: [{ actions }] } },
            { match: { prefix: '/open' }, route: { cluster: 'up' } },
          ],
        },
      ],
    },
  };
  const http2 = {
    '@type': `${TYPES}.upstreams.http.v3.HttpProtocolOptions`,
    explicit_http_config: { http2_protocol_options: {} },
  };
  return {
    admin: { address: address(0) },
    static_resources: {
      listeners: [
        {
          name: 'bench',
          address: address(0),
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
      clusters: [
        cluster('up', upstream),
        {
          ...cluster('rate-limit', service),
          typed_extension_protocol_options: { 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': http2 },
        },
      ],
    },
  };
}
