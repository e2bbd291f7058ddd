// The same work for the gateway, Envoy and nginx: `/plain/` is forwarded, `/changed/` with ten header changes and another prefix, `/http2/` and
// `/grpc/` to an HTTP/2 upstream, `/guarded/` with a JWT (not nginx), and the host `many` has 10,000 routes.

/** The setup of the proxies. */
export interface Setup {
  readonly directory: string;
  readonly upstreamPort: number;
  /** The same files over HTTP/2. */
  readonly http2UpstreamPort: number;
  /** Files of the certificate. */
  readonly key: string;
  readonly certificate: string;
  /** Keys that tokens are verified with. */
  readonly keySet: string;
}

export const ISSUER = 'https://issuer.test';

export const ROUTES = 10_000;
const CHANGES = [0, 1, 2, 3, 4];

const to = (name: string) => ({ single: { upstream: { name, namespace: 'gw-system' } } });
const toUpstream = to('up');
const added = (side: string) => CHANGES.map((i) => ({ header: { key: `x-${side}-${i}`, value: `value ${i}` } }));

/** Resources: the listeners `plain` without a log, `logged` with the default log, and `secure`. */
export function gatewayResources({ upstreamPort, http2UpstreamPort, key, certificate, keySet }: Setup): string {
  const gateway = (name: string, spec: object) => ({
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: 'gw-system' },
    spec: { bindAddress: '127.0.0.1', bindPort: 0, httpGateway: {}, ...spec },
  });
  const service = (name: string, domains: string[], routes: object[], more: object = {}) => ({
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name, namespace: 'gw-system' },
    spec: { virtualHost: { domains, routes }, ...more },
  });
  const forwarding = { matchers: [{ prefix: '/plain/' }], routeAction: toUpstream, options: { prefixRewrite: '/' } };
  const plain = [{ matchers: [{ prefix: '/' }], routeAction: toUpstream }];
  const changed = {
    matchers: [{ prefix: '/changed/' }],
    routeAction: toUpstream,
    options: {
      prefixRewrite: '/',
      headerManipulation: { requestHeadersToAdd: added('request'), responseHeadersToAdd: added('response') },
    },
  };
  const many = Array.from({ length: ROUTES }, (_, i) => ({
    matchers: [{ prefix: `/route-${i}/` }],
    routeAction: toUpstream,
    options: { prefixRewrite: '/' },
  }));
  const refused = { matchers: [{ prefix: '/refused/' }], directResponseAction: { status: 403, body: 'denied' } };
  const overHttp2 = { matchers: [{ prefix: '/http2/' }], routeAction: to('http2'), options: { prefixRewrite: '/' } };
  const grpc = { matchers: [{ prefix: '/grpc/' }], routeAction: to('http2') };
  const guarded = {
    matchers: [{ prefix: '/guarded/' }],
    routeAction: toUpstream,
    options: {
      prefixRewrite: '/',
      jwtProvidersStaged: {
        afterExtAuth: { providers: { main: { issuer: ISSUER, jwks: { local: { key: keySet } } } } },
      },
    },
  };
  const upstream = (name: string, port: number, more: object = {}) => ({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name, namespace: 'gw-system' },
    spec: { static: { hosts: [{ addr: '127.0.0.1', port }] }, ...more },
  });
  const noLog = { options: { accessLoggingService: { accessLog: [] } } };
  const documents = [
    gateway('plain', noLog),
    gateway('logged', {}),
    gateway('secure', { ssl: true, ...noLog }),
    upstream('up', upstreamPort),
    upstream('http2', http2UpstreamPort, { useHttp2: true }),
    service('all', ['*'], [refused, changed, forwarding, overHttp2, grpc, guarded, ...plain]),
    service('absent', ['absent'], [changed]),
    service('many', ['many'], many),
    service('secure', ['*'], plain, { sslConfig: { sslFiles: { tlsCert: certificate, tlsKey: key } } }),
  ];
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}

type Ports = Readonly<Record<'plain' | 'logged' | 'secure', number>>;
type EnvoyPorts = Ports & { readonly guarded: number };
/** An old nginx speaks HTTP/1.1 or HTTP/2 on a port without TLS. */
type NginxPorts = Ports & { readonly http2: number };

const TYPES = 'type.googleapis.com/envoy.extensions';

/** Bootstrap of an Envoy. */
export function envoyForwardConfig(setup: Setup, ports: EnvoyPorts): object {
  const { directory, upstreamPort, http2UpstreamPort, key, certificate, keySet } = setup;
  const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const header = (side: string) => CHANGES.map((i) => ({ header: { key: `x-${side}-${i}`, value: `value ${i}` } }));
  const rewritten = (prefix: string) => ({ match: { prefix }, route: { cluster: 'up', prefix_rewrite: '/' } });
  const changed = {
    ...rewritten('/changed/'),
    request_headers_to_add: header('request'),
    response_headers_to_add: header('response'),
  };
  const refused = {
    match: { prefix: '/refused/' },
    direct_response: { status: 403, body: { inline_string: 'denied' } },
  };
  const many = Array.from({ length: ROUTES }, (_, i) => rewritten(`/route-${i}/`));
  const forward = { match: { prefix: '/' }, route: { cluster: 'up' } };
  const overHttp2 = { match: { prefix: '/http2/' }, route: { cluster: 'http2', prefix_rewrite: '/' } };
  const grpc = { match: { prefix: '/grpc/' }, route: { cluster: 'http2' } };
  const all = [refused, changed, rewritten('/plain/'), overHttp2, grpc, rewritten('/guarded/'), forward];
  const hosts = [
    { name: 'all', domains: ['*'], routes: all },
    { name: 'absent', domains: ['absent'], routes: [changed] },
    { name: 'many', domains: ['many'], routes: many },
  ];
  const log = {
    name: 'file',
    typed_config: { '@type': `${TYPES}.access_loggers.file.v3.FileAccessLog`, path: `${directory}/envoy.log` },
  };
  const jwt = {
    name: 'jwt',
    typed_config: {
      '@type': `${TYPES}.filters.http.jwt_authn.v3.JwtAuthentication`,
      providers: { main: { issuer: ISSUER, local_jwks: { inline_string: keySet } } },
      rules: [{ match: { prefix: '/guarded/' }, requires: { provider_name: 'main' } }],
    },
  };
  const router = { name: 'router', typed_config: { '@type': `${TYPES}.filters.http.router.v3.Router` } };
  const manager = (logs: object[], filters: object[] = [router]) => ({
    name: 'http',
    typed_config: {
      '@type': `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: 'http',
      route_config: { virtual_hosts: hosts },
      http_filters: filters,
      access_log: logs,
    },
  });
  const tls = {
    name: 'tls',
    typed_config: {
      '@type': `${TYPES}.transport_sockets.tls.v3.DownstreamTlsContext`,
      common_tls_context: {
        alpn_protocols: ['h2', 'http/1.1'],
        tls_certificates: [{ certificate_chain: { filename: certificate }, private_key: { filename: key } }],
      },
    },
  };
  const listener = (name: keyof EnvoyPorts, chain: object) => ({
    name,
    address: address(ports[name]),
    filter_chains: [chain],
  });
  const cluster = (name: string, port: number, more: object = {}) => ({
    name,
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
    ...more,
  });
  const http2 = {
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': `${TYPES}.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  };
  return {
    static_resources: {
      listeners: [
        listener('plain', { filters: [manager([])] }),
        listener('logged', { filters: [manager([log])] }),
        listener('secure', { filters: [manager([])], transport_socket: tls }),
        listener('guarded', { filters: [manager([], [jwt, router])] }),
      ],
      clusters: [cluster('up', upstreamPort), cluster('http2', http2UpstreamPort, http2)],
    },
  };
}

/** The `http` block of an nginx. */
export function nginxConfig(
  { directory, upstreamPort, http2UpstreamPort, key, certificate }: Setup,
  ports: NginxPorts,
): string {
  const pass = 'proxy_http_version 1.1; proxy_set_header Connection "";';
  const request = CHANGES.map((i) => `proxy_set_header x-request-${i} "value ${i}";`).join(' ');
  const response = CHANGES.map((i) => `add_header x-response-${i} "value ${i}";`).join(' ');
  const locations = [
    'location /refused/ { return 403 "denied"; }',
    `location /changed/ { proxy_pass http://up/; ${pass} ${request} ${response} }`,
    `location /plain/ { proxy_pass http://up/; ${pass} }`,
    'location /grpc/ { grpc_pass grpc://http2; }',
    `location / { proxy_pass http://up; ${pass} }`,
  ].join('\n');
  const many = Array.from(
    { length: ROUTES },
    (_, i) => `location /route-${i}/ { proxy_pass http://up/; ${pass} }`,
  ).join('\n');
  const certificates = `ssl_certificate ${certificate}; ssl_certificate_key ${key}; ssl_session_cache shared:SSL:10m;`;
  return [
    'keepalive_requests 100000000;',
    `upstream up { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 100000000; }`,
    `upstream http2 { server 127.0.0.1:${http2UpstreamPort}; keepalive 64; keepalive_requests 100000000; }`,
    `server { listen 127.0.0.1:${ports.plain}; server_name all; ${locations} }`,
    `server { listen 127.0.0.1:${ports.http2} http2; ${locations} }`,
    `server { listen 127.0.0.1:${ports.plain}; server_name many; ${many} }`,
    `server { listen 127.0.0.1:${ports.plain}; server_name absent; location / { return 404; } }`,
    `server { listen 127.0.0.1:${ports.logged}; server_name all; access_log ${directory}/nginx.log; ${locations} }`,
    `server { listen 127.0.0.1:${ports.logged}; server_name absent; access_log ${directory}/nginx.log; location / { return 404; } }`,
    `server { listen 127.0.0.1:${ports.secure} ssl http2; ${certificates} ${locations} }`,
  ].join('\n');
}
