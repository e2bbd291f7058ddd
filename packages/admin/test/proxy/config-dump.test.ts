import { expect } from 'chai';
import { proxyAdmin, type TestPort } from '../sample.ts';

const ADMIN = 'type.googleapis.com/envoy.admin.v3.';

describe('/config_dump', () => {
  let admin: TestPort;
  before(async () => (admin = await proxyAdmin()));
  after(() => admin.close());
  const dump = async (query = ''): Promise<any> => JSON.parse((await admin.request(`/config_dump${query}`)).text);
  const typesOf = (body: any): string[] => body.configs.map((each: any) => each['@type'].replace(ADMIN, ''));
  const part = async (type: string, query = ''): Promise<any> =>
    (await dump(query)).configs.find((each: any) => each['@type'] === `${ADMIN}${type}`);

  it("lists its parts in Envoy's order, by GET and by POST", async () => {
    const expected = [
      'BootstrapConfigDump',
      'ClustersConfigDump',
      'ListenersConfigDump',
      'ScopedRoutesConfigDump',
      'RoutesConfigDump',
      'SecretsConfigDump',
    ];
    expect(typesOf(await dump())).to.deep.equal(expected);
    const posted = await admin.request('/config_dump', { method: 'POST' });
    expect(typesOf(JSON.parse(posted.text))).to.deep.equal(expected);
  });

  it('adds the endpoints after the clusters with include_eds', async () => {
    const body = await dump('?include_eds');
    expect(typesOf(body).slice(1, 3)).to.deep.equal(['ClustersConfigDump', 'EndpointsConfigDump']);
    const [first, second] = body.configs[2].dynamic_endpoint_configs;
    expect(first.endpoint_config).to.deep.equal({
      '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
      cluster_name: 'pets_gw-system',
      endpoints: [
        {
          locality: {},
          lb_endpoints: [
            {
              endpoint: {
                address: { socket_address: { address: '10.0.0.1', port_value: 8080 } },
                health_check_config: {},
                hostname: '10.0.0.1',
              },
              health_status: 'HEALTHY',
              metadata: {},
              load_balancing_weight: 1,
            },
          ],
        },
      ],
      policy: { overprovisioning_factor: 140 },
    });
    expect(second.endpoint_config.endpoints[0].lb_endpoints).to.have.length(2);
    expect(typesOf(await dump('?include_eds=off'))).not.to.include('EndpointsConfigDump');
  });

  it('shows a listener with its HTTP manager', async () => {
    const { dynamic_listeners: listeners, version_info } = await part('ListenersConfigDump');
    expect(version_info).to.equal('8f2c');
    const { listener, last_updated } = listeners[0].active_state;
    expect(last_updated).to.equal('2026-12-01T00:00:00.000Z');
    expect(listener.address).to.deep.equal({ socket_address: { address: '::', port_value: 8080 } });
    const [filter] = listener.filter_chains[0].filters;
    expect(filter.name).to.equal('envoy.filters.network.http_connection_manager');
    expect(filter.typed_config).to.deep.include({
      stat_prefix: 'http',
      use_remote_address: true,
      xff_num_trusted_hops: 1,
      normalize_path: true,
      stream_idle_timeout: '90s',
    });
    expect(filter.typed_config.rds.route_config_name).to.equal('listener-::-8080-routes');
    expect(filter.typed_config.access_log).to.deep.equal([
      {
        name: 'envoy.access_loggers.file',
        filter: { status_code_filter: { comparison: { op: 'GE', value: { default_value: 500 } } } },
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
          path: '/dev/stdout',
          log_format: { text_format_source: { inline_string: '%REQ(:METHOD)%\n' } },
        },
      },
    ]);
    expect(listener.filter_chains[0]).not.to.have.property('transport_socket');
  });

  it('shows a TLS listener with a chain for each certificate, which it names', async () => {
    const { dynamic_listeners: listeners } = await part('ListenersConfigDump');
    const [chain] = listeners[1].active_state.listener.filter_chains;
    expect(chain.filter_chain_match).to.deep.equal({ server_names: ['shop.example'] });
    expect(chain.transport_socket.name).to.equal('envoy.transport_sockets.tls');
    const context = chain.transport_socket.typed_config;
    expect(context.require_client_certificate).to.equal(true);
    expect(context.common_tls_context.tls_params).to.deep.equal({ tls_minimum_protocol_version: 'TLSv1_2' });
    expect(context.common_tls_context.tls_certificate_sds_secret_configs).to.deep.equal([
      { name: 'gw-system.shop-tls' },
    ]);
  });

  it('shows one route for each matcher, with its match', async () => {
    const { dynamic_route_configs: configurations } = await part('RoutesConfigDump');
    const { route_config } = configurations[0];
    expect(route_config.name).to.equal('listener-::-8080-routes');
    expect(route_config.max_direct_response_body_size_bytes).to.equal(8192);
    const [host] = route_config.virtual_hosts;
    expect(host.domains).to.deep.equal(['shop.example', '*.shop.example']);
    expect(host.response_headers_to_remove).to.deep.equal(['x-internal']);
    expect(host.routes.map((route: any) => route.name)).to.deep.equal([
      'gw-system.shop-route-0-pets-matcher-0',
      'gw-system.shop-route-0-pets-matcher-1',
      'gw-system.shop-route-1-matcher-0',
      'gw-system.shop-route-2-matcher-0',
      'gw-system.shop-route-3-matcher-0',
    ]);
    expect(host.routes[0].match).to.deep.equal({
      prefix: '/pets',
      headers: [
        { name: 'x-company', string_match: { exact: 'acme' } },
        { name: 'authorization', string_match: { exact: '[redacted]' } },
        { name: 'x-debug', present_match: true, invert_match: true },
        { name: ':method', string_match: { safe_regex: { regex: 'GET|POST' } } },
      ],
      query_parameters: [{ name: 'v', string_match: { safe_regex: { regex: '[0-9]+' } } }],
    });
    expect(host.routes[1].match).to.deep.equal({ path: '/pet', case_sensitive: false });
    expect(host.routes[2].match).to.deep.equal({ safe_regex: { regex: '/v[0-9]+/.*' } });
  });

  it('shows the action of each kind of route', async () => {
    const { dynamic_route_configs: configurations } = await part('RoutesConfigDump');
    const [pets, , weighted, redirect, direct] = configurations[0].route_config.virtual_hosts[0].routes;
    expect(pets.route).to.deep.equal({
      cluster: 'pets_gw-system',
      timeout: '0.250s',
      prefix_rewrite: '/api/pets',
      host_rewrite_literal: 'pets.internal',
      append_x_forwarded_host: true,
      cluster_not_found_response_code: 'SERVICE_UNAVAILABLE',
    });
    expect(pets.request_headers_to_add).to.deep.equal([
      { header: { key: 'x-partner-key', value: '[redacted]' }, append_action: 'APPEND_IF_EXISTS_OR_ADD' },
      { header: { key: 'x-tier', value: '[redacted]' }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
      { header: { key: 'Authorization', value: '[redacted]' }, append_action: 'APPEND_IF_EXISTS_OR_ADD' },
    ]);
    expect(weighted.route.weighted_clusters.clusters).to.deep.equal([
      { name: 'pets_gw-system', weight: 3 },
      { name: 'gone_gw-system', weight: 1 },
    ]);
    expect(weighted.route.timeout).to.equal('15s');
    expect(weighted.metadata.filter_metadata['io.edge-gateway'].broken[0].reason).to.contain('not found');
    expect(redirect.redirect).to.deep.equal({
      https_redirect: true,
      host_redirect: 'new.example',
      response_code: 'FOUND',
    });
    expect(direct.direct_response).to.deep.equal({ status: 418, body: { inline_string: 'teapot' } });
  });

  it('shows clusters with type, endpoints, limits and TLS', async () => {
    const { dynamic_active_clusters: clusters } = await part('ClustersConfigDump');
    const [pets, secure] = clusters.map((each: any) => each.cluster);
    expect(pets).to.deep.include({ name: 'pets_gw-system', type: 'STATIC', connect_timeout: '2s' });
    expect(pets.circuit_breakers).to.deep.equal({ thresholds: [{ priority: 'DEFAULT', max_connections: 7 }] });
    expect(pets).not.to.have.property('transport_socket');
    expect(secure).to.deep.include({ name: 'secure_gw-system', type: 'STRICT_DNS', connect_timeout: '5s' });
    expect(secure.load_assignment.endpoints[0].lb_endpoints[0].load_balancing_weight).to.equal(2);
    expect(secure.transport_socket.typed_config.sni).to.equal('a.example');
  });

  it('shows certificates with the key redacted', async () => {
    const { dynamic_active_secrets: secrets } = await part('SecretsConfigDump');
    expect(secrets.map((each: any) => each.name)).to.deep.equal(['gw-system.shop-tls', 'gw-system.shop-tls.ca']);
    const { certificate_chain, private_key } = secrets[0].secret.tls_certificate;
    expect(Buffer.from(private_key.inline_bytes, 'base64').toString()).to.equal('[redacted]');
    const chain = Buffer.from(certificate_chain.inline_bytes, 'base64').toString();
    expect(chain).to.match(/^-----BEGIN CERTIFICATE-----/);
    expect(chain).not.to.contain('PRIVATE KEY');
  });

  it('flattens one list with resource, and filters its fields with mask', async () => {
    const { configs } = await dump('?resource=dynamic_active_clusters&mask=cluster.name,version_info');
    expect(configs[0]).to.deep.equal({
      '@type': `${ADMIN}ClustersConfigDump.DynamicCluster`,
      version_info: '8f2c',
      cluster: { '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster', name: 'pets_gw-system' },
    });
  });

  it('returns {} for an empty list, and 404 for an unknown one', async () => {
    expect(await dump('?resource=static_clusters')).to.deep.equal({});
    const unknown = await admin.request('/config_dump?resource=toString');
    expect(unknown).to.include({ status: 404, text: 'toString not found in config dump' });
  });

  it('filters by name, and rejects an invalid RE2 expression', async () => {
    const { configs } = await dump('?resource=dynamic_active_clusters&name_regex=secure_.*');
    expect(configs).to.have.length(1);
    const bad = await admin.request('/config_dump?name_regex=(?=a)');
    expect(bad.status).to.equal(400);
    expect(bad.text).to.match(/^Invalid re2 regex: /);
  });

  it('has the parts without lists before the first snapshot', async () => {
    const early = await proxyAdmin({ snapshot: () => undefined });
    const body = JSON.parse((await early.request('/config_dump')).text);
    await early.close();
    expect(body.configs[1]).to.deep.equal({ '@type': `${ADMIN}ClustersConfigDump`, version_info: '' });
  });
});
