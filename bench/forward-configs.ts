// The same work for the gateway, Envoy and nginx: `/plain/` is forwarded, `/changed/` with ten header changes and another prefix, and the
// host `many` has 10,000 routes.

/** What the proxies are set up with. */
export interface Setup {
  readonly directory: string;
  readonly upstreamPort: number;
  /** Files of the certificate. */
  readonly key: string;
  readonly certificate: string;
}

export const ROUTES = 10_000;
const CHANGES = [0, 1, 2, 3, 4];

const toUpstream = { single: { upstream: { name: 'up', namespace: 'gw-system' } } };
const added = (side: string) => CHANGES.map((i) => ({ header: { key: `x-${side}-${i}`, value: `value ${i}` } }));

/** Resources: the listeners `plain` without a log, `logged` with the default log, and `secure`. */
export function gatewayResources({ upstreamPort, key, certificate }: Setup): string {
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
  const noLog = { options: { accessLoggingService: { accessLog: [] } } };
  const documents = [
    gateway('plain', noLog),
    gateway('logged', {}),
    gateway('secure', { ssl: true, ...noLog }),
    {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'up', namespace: 'gw-system' },
      spec: { static: { hosts: [{ addr: '127.0.0.1', port: upstreamPort }] } },
    },
    service('all', ['*'], [refused, changed, forwarding, ...plain]),
    service('absent', ['absent'], [changed]),
    service('many', ['many'], many),
    service('secure', ['*'], plain, { sslConfig: { sslFiles: { tlsCert: certificate, tlsKey: key } } }),
  ];
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}

type Ports = Readonly<Record<'plain' | 'logged' | 'secure', number>>;

const TYPES = 'type.googleapis.com/envoy.extensions';

/** Bootstrap of an Envoy. */
export function envoyForwardConfig({ directory, upstreamPort, key, certificate }: Setup, ports: Ports): object {
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
  const hosts = [
    { name: 'all', domains: ['*'], routes: [refused, changed, rewritten('/plain/'), forward] },
    { name: 'absent', domains: ['absent'], routes: [changed] },
    { name: 'many', domains: ['many'], routes: many },
  ];
  const log = {
    name: 'file',
    typed_config: { '@type': `${TYPES}.access_loggers.file.v3.FileAccessLog`, path: `${directory}/envoy.log` },
  };
  const manager = (logs: object[]) => ({
    name: 'http',
    typed_config: {
      '@type': `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: 'http',
      route_config: { virtual_hosts: hosts },
      http_filters: [{ name: 'router', typed_config: { '@type': `${TYPES}.filters.http.router.v3.Router` } }],
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
  const listener = (name: keyof Ports, chain: object) => ({
    name,
    address: address(ports[name]),
    filter_chains: [chain],
  });
  const endpoint = { endpoint: { address: address(upstreamPort) } };
  return {
    static_resources: {
      listeners: [
        listener('plain', { filters: [manager([])] }),
        listener('logged', { filters: [manager([log])] }),
        listener('secure', { filters: [manager([])], transport_socket: tls }),
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

/** The `http` block of an nginx. */
export function nginxConfig({ directory, upstreamPort, key, certificate }: Setup, ports: Ports): string {
  const pass = 'proxy_http_version 1.1; proxy_set_header Connection "";';
  const request = CHANGES.map((i) => `proxy_set_header x-request-${i} "value ${i}";`).join(' ');
  const response = CHANGES.map((i) => `add_header x-response-${i} "value ${i}";`).join(' ');
  const locations = [
    'location /refused/ { return 403 "denied"; }',
    `location /changed/ { proxy_pass http://up/; ${pass} ${request} ${response} }`,
    `location /plain/ { proxy_pass http://up/; ${pass} }`,
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
    `server { listen 127.0.0.1:${ports.plain}; server_name all; ${locations} }`,
    `server { listen 127.0.0.1:${ports.plain}; server_name many; ${many} }`,
    `server { listen 127.0.0.1:${ports.plain}; server_name absent; location / { return 404; } }`,
    `server { listen 127.0.0.1:${ports.logged}; access_log ${directory}/nginx.log; ${locations} }`,
    `server { listen 127.0.0.1:${ports.secure} ssl http2; ${certificates} ${locations} }`,
  ].join('\n');
}
