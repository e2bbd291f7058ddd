import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import {
  createContext,
  createControlPlane,
  memorySource,
  silentLoggers,
  type ListeningServer,
} from '@edge-gateway/core';
import { createMemoryStore, createRateLimitService, listenRateLimitGrpc } from '@edge-gateway/rate-limit';
import { startEnvoyProcess, type EnvoyProcess } from '../parts/envoy-process.ts';
import { envoyType } from './scenario.ts';

/** Middle of an hour, so that a test cannot meet the end of a window. */
const NOW = Date.UTC(2027, 1, 14, 12, 30, 30);
const LIMIT = { requestsPerUnit: 1, unit: 'MINUTE' };
const SETTINGS = {
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Settings',
  metadata: { name: 'default', namespace: 'gw-system' },
  spec: {
    ratelimit: {
      descriptors: [
        { key: 'user', rateLimit: LIMIT },
        { key: 'shadow', shadow: true, rateLimit: LIMIT },
        { key: 'cost', rateLimit: { requestsPerUnit: 10, unit: 'MINUTE' } },
        { key: 'quota', rateLimit: LIMIT },
        { key: 'plan', rateLimit: { requestsPerUnit: 100, unit: 'DAY' } },
      ],
      setDescriptors: [{ simpleDescriptors: [{ key: 'set-b' }, { key: 'set-a' }], rateLimit: LIMIT }],
    },
  },
};

const fromHeader = (name: string): object => ({ request_headers: { header_name: `x-${name}`, descriptor_key: name } });
const marker = { generic_key: { descriptor_value: 'vendor.setDescriptor.uniqueValue' } };
const RATE_LIMITS = [
  { actions: [fromHeader('user')] },
  { actions: [fromHeader('shadow')] },
  { actions: [fromHeader('plan')] },
  { actions: [fromHeader('cost')], hits_addend: { format: '%REQ(x-hits)%' } },
  { actions: [marker, fromHeader('set-a'), fromHeader('set-b')] },
  {
    actions: [fromHeader('quota')],
    limit: { dynamic_metadata: { metadata_key: { key: 'quota', path: [{ key: 'limit' }] } } },
  },
];

const address = (port: number): object => ({ socket_address: { address: '127.0.0.1', port_value: port } });
const cluster = (name: string, port: number, more: object = {}): object => ({
  name,
  connect_timeout: '5s',
  load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }] },
  ...more,
});

const listener = (name: string, filter: object): object => ({
  name,
  address: address(0),
  filter_chains: [
    {
      filters: [
        {
          name: 'http',
          typed_config: {
            ...envoyType('filters.network.http_connection_manager.v3.HttpConnectionManager'),
            stat_prefix: 'http',
            http_filters: [
              {
                name: 'quota',
                typed_config: {
                  ...envoyType('filters.http.set_metadata.v3.Config'),
                  metadata: [{ metadata_namespace: 'quota', value: { limit: { requests_per_unit: 3, unit: 'HOUR' } } }],
                },
              },
              {
                name: 'ratelimit',
                typed_config: {
                  ...envoyType('filters.http.ratelimit.v3.RateLimit'),
                  domain: 'custom',
                  timeout: '5s',
                  enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
                  rate_limit_service: {
                    transport_api_version: 'V3',
                    grpc_service: { envoy_grpc: { cluster_name: 'rate-limit' } },
                  },
                  ...filter,
                },
              },
              { name: 'router', typed_config: envoyType('filters.http.router.v3.Router') },
            ],
            route_config: {
              virtual_hosts: [
                {
                  name: 'all',
                  domains: ['*'],
                  // Only here Envoy applies `hits_addend`.
                  typed_per_filter_config: {
                    ratelimit: {
                      ...envoyType('filters.http.ratelimit.v3.RateLimitPerRoute'),
                      rate_limits: RATE_LIMITS,
                    },
                  },
                  routes: [{ match: { prefix: '/' }, route: { cluster: 'up' } }],
                },
              ],
            },
          },
        },
      ],
    },
  ],
});

describe('Envoy with the rate limit server', function () {
  this.timeout(120_000);
  let backend: Server;
  let service: ListeningServer;
  let envoy: EnvoyProcess;

  before(async () => {
    backend = createServer((_req, res) => void res.end('ok')).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    const controlPlane = createControlPlane({ source: memorySource({ resources: [SETTINGS] }), log: silentLoggers });
    const counting = createRateLimitService({
      context: createContext({ log: silentLoggers }),
      store: createMemoryStore({ now: () => NOW }),
    });
    controlPlane.subscribe((state) => counting.update(state));
    await controlPlane.start();
    await controlPlane.close();
    service = await listenRateLimitGrpc(counting, { address: '127.0.0.1', port: 0, log: silentLoggers.get('filter') });
    const http2 = {
      typed_extension_protocol_options: {
        'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
          ...envoyType('upstreams.http.v3.HttpProtocolOptions'),
          explicit_http_config: { http2_protocol_options: {} },
        },
      },
    };
    const config = {
      admin: { address: address(0) },
      static_resources: {
        listeners: [listener('allow', {}), listener('deny', { failure_mode_deny: true })],
        clusters: [cluster('up', (backend.address() as AddressInfo).port), cluster('rate-limit', service.port, http2)],
      },
    };
    envoy = await startEnvoyProcess(JSON.stringify(config), 'envoy.json', 2);
  });
  after(async () => {
    await envoy?.close();
    service?.close();
    backend?.close();
  });

  const ask = (headers: Record<string, string>, listener = 'allow') =>
    fetch(`http://127.0.0.1:${envoy.ports.get(listener)!}/`, { headers });
  const limits = ({ headers }: Response) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));

  it('allows one request a minute, and states the limit', async () => {
    const first = await ask({ 'x-user': 'alice' });
    expect(first.status).to.equal(200);
    expect(limits(first)).to.deep.equal(['1, 1;w=60;name="custom.user"', '0', '30']);
    const second = await ask({ 'x-user': 'alice' });
    expect([second.status, await second.text()]).to.deep.equal([429, '']);
    expect(second.headers.get('x-envoy-ratelimited')).to.equal('true');
    expect(limits(second)).to.deep.equal(['1, 1;w=60;name="custom.user"', '0', '30']);
    expect((await ask({ 'x-user': 'bob' })).status).to.equal(200);
  });

  it('does not limit requests without a rule', async () => {
    for (let i = 0; i < 3; i++) {
      const response = await ask({});
      expect(response.status).to.equal(200);
      expect(limits(response)).to.deep.equal([null, null, null]);
    }
  });

  it('states the strictest of several limits first', async () => {
    const response = await ask({ 'x-user': 'carol', 'x-plan': 'gold' });
    expect(limits(response)).to.deep.equal(['1, 1;w=60;name="custom.user", 100;w=86400;name="custom.plan"', '0', '30']);
  });

  it('counts shadow rules without headers for the client', async () => {
    for (let i = 0; i < 3; i++) {
      const response = await ask({ 'x-shadow': 'a' });
      expect(response.status).to.equal(200);
      expect(limits(response)).to.deep.equal([null, null, null]);
    }
  });

  it('charges the hits of a descriptor', async () => {
    expect((await ask({ 'x-cost': 'a', 'x-hits': '9' })).status).to.equal(200);
    expect((await ask({ 'x-cost': 'a', 'x-hits': '1' })).status).to.equal(200);
    expect((await ask({ 'x-cost': 'a', 'x-hits': '1' })).status).to.equal(429);
  });

  it('applies the limit in metadata instead of that of the rule', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await ask({ 'x-quota': 'a' })).status);
    expect(statuses).to.deep.equal([200, 200, 200, 429]);
    expect(limits(await ask({ 'x-quota': 'a' }))[0]).to.equal('3, 3;w=3600;name="custom.quota"');
  });

  it('matches sets', async () => {
    expect((await ask({ 'x-set-a': '1', 'x-set-b': '2' })).status).to.equal(200);
    expect((await ask({ 'x-set-a': '1', 'x-set-b': '2' })).status).to.equal(429);
    expect((await ask({ 'x-set-a': '1', 'x-set-b': '3' })).status).to.equal(200);
  });

  it('decides by failure_mode_deny while the service is down', async () => {
    service.close();
    expect((await ask({ 'x-user': 'dave' })).status).to.equal(200);
    expect((await ask({ 'x-user': 'dave' })).status).to.equal(200);
    expect((await ask({ 'x-user': 'dave' }, 'deny')).status).to.equal(500);
  });
});
