import { createContext, createControlPlane, memorySource, silentLoggers, type Context } from '@edge-gateway/core';
import { createExtAuth, METHODS } from '@edge-gateway/extauth';
import { createListeners, createRouter } from '@edge-gateway/routing';
import { runEnvoy, socketAddress } from '../envoy-data-plane.ts';
import type { DataPlane } from '../our-data-plane.ts';
import { envoyType } from '../scenario.ts';
import { REFUSED_PORT } from '../placed-group.ts';

/** Settings of external auth of one listener: ours, and the filter of Envoy with the same meaning. */
export interface AuthSetup {
  readonly ours: object;
  readonly envoy: object;
  /** Context extensions of the route. */
  readonly extensions?: Readonly<Record<string, string>>;
}

/** The ports behind the upstreams of both. */
export interface Ports {
  readonly up: number;
  readonly grpc: number;
  readonly http: number;
}

/** One of the two gateways. `stats` returns a counter of the filter `ext_authz`, `log` the last lines of the access log. */
export interface AuthGateway extends DataPlane {
  stat(path: string): Promise<number>;
}

const FIRST_PORT = 21_000;

/** Starts our data plane with one listener for each setup. */
export async function startOurAuth(setups: readonly AuthSetup[], ports: Ports): Promise<AuthGateway> {
  const resources = [
    ...setups.flatMap(({ ours, extensions }, i) => [gatewayOf(i, ours), virtualServiceOf(i, extensions)]),
    ...Object.entries({ up: ports.up, grpc: ports.grpc, http: ports.http, refused: REFUSED_PORT }).map(upstreamOf),
  ];
  const controlPlane = createControlPlane({ source: memorySource({ resources }), log: silentLoggers });
  await controlPlane.start();
  const { issues, snapshots } = controlPlane.state!;
  if (issues.length > 0) throw new Error(issues.map(({ message }) => message).join('\n'));
  const context: Context = createContext({ log: silentLoggers });
  const router = createRouter({ context, accessLog: 'none', concerns: [createExtAuth({ methods: METHODS })] });
  const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
  const snapshot = snapshots.get('gateway-proxy')!;
  router.apply(snapshot);
  const opened = await listeners.apply(snapshot);
  return {
    port: (listener) => opened.find(({ name }) => name.endsWith(`-${FIRST_PORT + Number(listener)}`))!.port!,
    stat: (path) => {
      const found = context.metrics.list().find(({ name }) => name.path === path);
      return Promise.resolve(found && found.type !== 'histogram' ? found.stat.value : 0);
    },
    async close() {
      await listeners.close();
      await router.close();
      await controlPlane.close();
    },
  };
}

function gatewayOf(index: number, extauth: object): object {
  return {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'Gateway',
    metadata: { name: `g${index}` },
    spec: {
      bindAddress: '127.0.0.1',
      bindPort: FIRST_PORT + index,
      httpGateway: { virtualServices: [{ name: `v${index}`, namespace: 'gw-system' }], options: { extauth } },
    },
  };
}

function virtualServiceOf(index: number, contextExtensions: object = {}): object {
  const routeAction = { single: { upstream: { name: 'up' } } };
  const routes = [
    { matchers: [{ prefix: '/open' }], routeAction, options: { extauth: { disable: true } } },
    { matchers: [{ prefix: '/' }], routeAction },
  ];
  return {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name: `v${index}` },
    spec: { virtualHost: { domains: ['*'], routes, options: { extauth: { customAuth: { contextExtensions } } } } },
  };
}

function upstreamOf([name, port]: [string, number]): object {
  const spec = { static: { hosts: [{ addr: '127.0.0.1', port }] } };
  return { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name }, spec };
}

const HTTP2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      ...envoyType('upstreams.http.v3.HttpProtocolOptions'),
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

/** Starts an Envoy with one listener for each setup. */
export async function startEnvoyAuth(setups: readonly AuthSetup[], ports: Ports): Promise<AuthGateway> {
  const cluster = (name: string, port: number, more: object = {}): object => ({
    name,
    connect_timeout: '5s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(port) } }] }],
    },
    ...more,
  });
  const gateway = await runEnvoy(
    {
      static_resources: {
        listeners: setups.map((setup, i) => listenerOf(String(i), setup)),
        clusters: [
          cluster('up', ports.up),
          cluster('grpc', ports.grpc, HTTP2),
          cluster('http', ports.http),
          cluster('refused', REFUSED_PORT, HTTP2),
        ],
      },
    },
    setups.length,
  );
  return {
    ...gateway,
    async stat(path) {
      const response = await fetch(`http://${gateway.admin}/stats?filter=^${path}$`);
      return Number((await response.text()).split(': ')[1] ?? 0);
    },
  };
}

const EXT_AUTHZ = 'envoy.filters.http.ext_authz';
const perRoute = (fields: object): object => ({
  typed_per_filter_config: { [EXT_AUTHZ]: { ...envoyType('filters.http.ext_authz.v3.ExtAuthzPerRoute'), ...fields } },
});

function listenerOf(name: string, { envoy, extensions = {} }: AuthSetup): object {
  const filter = {
    name: EXT_AUTHZ,
    typed_config: {
      ...envoyType('filters.http.ext_authz.v3.ExtAuthz'),
      transport_api_version: 'V3',
      metadata_context_namespaces: ['envoy.filters.http.jwt_authn'],
      ...envoy,
    },
  };
  const manager = {
    ...envoyType('filters.network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'http',
    use_remote_address: true,
    normalize_path: true,
    http_filters: [filter, { name: 'router', typed_config: envoyType('filters.http.router.v3.Router') }],
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [
            { match: { prefix: '/open' }, route: { cluster: 'up' }, ...perRoute({ disabled: true }) },
            { match: { prefix: '/' }, route: { cluster: 'up' } },
          ],
          ...perRoute({ check_settings: { context_extensions: extensions } }),
        },
      ],
    },
  };
  return {
    name,
    address: socketAddress(0),
    filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
  };
}
