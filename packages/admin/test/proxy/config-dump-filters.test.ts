import { expect } from 'chai';
import { createControlPlane, memorySource, type Snapshot } from '@edge-gateway/core';
import { proxyAdmin } from '../sample.ts';

const JWKS = { local: { key: '{"keys":[{"kty":"oct","alg":"HS256","k":"MARKER-key"}]}' } };
const upstream = { single: { upstream: { name: 'shop', namespace: 'gw-system' } } };
const template = { transformationTemplate: { headers: { 'x-stage': { text: 'early' } } } };

const RESOURCES = [
  {
    apiVersion: 'settings.gw.vendor.io/v1',
    kind: 'Settings',
    metadata: { name: 'default', namespace: 'gw-system' },
    spec: { extauth: { failureModeAllow: true, statusOnError: 503, requestBody: { maxRequestBytes: 100 } } },
  },
  {
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name: 'shop', namespace: 'gw-system' },
    spec: {
      static: { hosts: [{ addr: '127.0.0.1', port: 1 }] },
      circuitBreakers: { maxConnections: 7, maxRequests: 5 },
      connectionConfig: { commonHttpProtocolOptions: { idleTimeout: '9s', maxStreamDuration: '1s' } },
    },
  },
  {
    apiVersion: 'enterprise.gw.vendor.io/v1',
    kind: 'AuthConfig',
    metadata: { name: 'users', namespace: 'gw-system' },
    spec: {
      configs: [{ basicAuth: { apr: { users: { ann: { salt: 'abcdefgh', hashedPassword: 'x'.repeat(22) } } } } }],
    },
  },
  {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name: 'shop', namespace: 'gw-system' },
    spec: {
      virtualHost: {
        domains: ['*'],
        options: {
          extauth: { configRef: { name: 'users', namespace: 'gw-system' } },
          jwtStaged: { afterExtAuth: { providers: { own: { issuer: 'me', jwks: JWKS } } } },
          rbac: {
            policies: {
              admins: {
                nestedClaimDelimiter: '.',
                principals: [{ jwtPrincipal: { provider: 'own', claims: { 'role.name': 'admin' } } }],
                permissions: { methods: ['GET', 'HEAD'], pathPrefix: '/a' },
              },
            },
          },
          stagedTransformations: { early: { requestTransforms: [{ requestTransformation: template }] } },
        },
        routes: [
          {
            matchers: [{ prefix: '/open' }],
            options: {
              extauth: { disable: true },
              jwtStaged: { afterExtAuth: { disable: true } },
              rbac: { disable: true },
              idleTimeout: '5s',
              timeout: '2s',
              regexRewrite: { pattern: { regex: '^/x' }, substitution: '/y' },
            },
            routeAction: upstream,
          },
          { matchers: [{ prefix: '/' }], routeAction: upstream },
        ],
      },
    },
  },
];

async function translated(): Promise<Snapshot> {
  const source = memorySource({ all: RESOURCES });
  const controlPlane = createControlPlane({ source, defaultGateways: {} });
  await controlPlane.start();
  const snapshot = controlPlane.state!.snapshots.get('gateway-proxy')!;
  await controlPlane.close();
  return snapshot;
}

describe('/config_dump of protected routes', () => {
  let text: string;
  let dump: any;
  before(async () => {
    const snapshot = await translated();
    const admin = await proxyAdmin({ snapshot: () => snapshot });
    ({ text } = await admin.request('/config_dump'));
    await admin.close();
    dump = Object.fromEntries(
      JSON.parse(text).configs.map((part: any) => [part['@type'].replace(/^.*\.v3\./, ''), part]),
    );
  });
  const host = () => dump.RoutesConfigDump.dynamic_route_configs[0].route_config.virtual_hosts[0];
  const manager = () =>
    dump.ListenersConfigDump.dynamic_listeners[0].active_state.listener.filter_chains[0].filters[0].typed_config;

  it('lists the filters in the order in which they run', () => {
    expect(manager().http_filters.map(({ name }: any) => name)).to.deep.equal([
      'envoy.filters.http.ext_authz',
      'io.edge-gateway.transformation.early',
      'envoy.filters.http.jwt_authn',
      'envoy.filters.http.rbac',
      'envoy.filters.http.router',
    ]);
  });

  it('shows the settings of external auth and the AuthConfig of each level', () => {
    const [extAuthz] = manager().http_filters;
    expect(extAuthz.typed_config).to.deep.include({
      failure_mode_allow: true,
      status_on_error: { code: 503 },
      with_request_body: { max_request_bytes: 100 },
    });
    const name = 'envoy.filters.http.ext_authz';
    expect(host().typed_per_filter_config[name].check_settings.context_extensions).to.deep.equal({
      config_id: 'gw-system.users',
    });
    expect(host().routes[0].typed_per_filter_config[name].disabled).to.equal(true);
    expect(host().routes[1]).to.not.have.property('typed_per_filter_config');
  });

  it('shows JWT providers without secret keys, and where they are required', () => {
    const name = 'envoy.filters.http.jwt_authn';
    const { providers, requirement_map } = manager().http_filters.find(
      (filter: any) => filter.name === name,
    ).typed_config;
    expect(providers['gw-system.shop.own']).to.deep.include({ issuer: 'me', clock_skew_seconds: 60 });
    expect(providers['gw-system.shop.own'].local_jwks.inline_string).to.contain('"alg":"HS256"');
    expect(requirement_map).to.deep.equal({ 'gw-system.shop': { provider_name: 'gw-system.shop.own' } });
    expect(host().typed_per_filter_config[name].requirement_name).to.equal('gw-system.shop');
    expect(host().routes[0].typed_per_filter_config[name].disabled).to.equal(true);
    expect(text).to.not.contain('MARKER');
  });

  it('shows access policies, and where they are disabled', () => {
    const name = 'envoy.filters.http.rbac';
    expect(host().typed_per_filter_config[name].rbac.rules).to.deep.equal({
      action: 'ALLOW',
      policies: {
        admins: {
          permissions: [
            {
              and_rules: {
                rules: [
                  { url_path: { path: { prefix: '/a' } } },
                  {
                    or_rules: {
                      rules: [
                        { header: { name: ':method', string_match: { exact: 'GET' } } },
                        { header: { name: ':method', string_match: { exact: 'HEAD' } } },
                      ],
                    },
                  },
                ],
              },
            },
          ],
          principals: [
            {
              metadata: {
                filter: 'envoy.filters.http.jwt_authn',
                path: [{ key: 'own' }, { key: 'role' }, { key: 'name' }],
                value: { string_match: { exact: 'admin' } },
              },
            },
          ],
        },
      },
    });
    expect(host().routes[0].typed_per_filter_config[name]).to.not.have.property('rbac');
  });

  it('shows options of routes and upstreams', () => {
    const [open] = host().routes;
    expect(open.route).to.deep.include({ timeout: '2s' });
    expect(open.route).to.include.keys('idle_timeout', 'regex_rewrite');
    const [{ cluster }] = dump.ClustersConfigDump.dynamic_active_clusters;
    expect(cluster.circuit_breakers).to.deep.equal({
      thresholds: [{ priority: 'DEFAULT', max_connections: 7, max_requests: 5 }],
    });
    expect(JSON.stringify(cluster.typed_extension_protocol_options)).to.contain('9s').and.contain('max_stream');
  });
});
