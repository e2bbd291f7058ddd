import { createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { RequestResult } from '../../../src/format/record.ts';
import { VirtualClusters } from '../../../src/route/options/virtual-clusters.ts';
import { served, type Served } from '../../served.ts';
import { directOf, routeOf } from '../../snapshots.ts';

const METADATA = { 'com.example': { team: 'shop', tier: 2, labels: { region: 'eu' }, list: [1, true], none: null } };

describe('stats.virtualClusters', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  const virtualClusters = [
    { name: 'orders', pattern: '/orders/\\d+', method: 'POST' },
    { name: 'all.orders', pattern: '/orders/.*' },
  ];
  const name = (value: string) => ({ header: { key: 'x-cluster', value } });

  it('count requests that were sent upstream in the first group that matches', async () => {
    const headerManipulation = { responseHeadersToAdd: [name('[%VIRTUAL_CLUSTER_NAME%]')] };
    const routes = [
      directOf('local', { matchers: [{ prefix: '/orders/local' }] }),
      routeOf({ options: { prefixRewrite: '/x' } }),
    ];
    gateway = await served({ routes, host: { stats: { virtualClusters }, headerManipulation } });
    const clusterOf = async (path: string, method = 'GET') =>
      (await gateway.ask(path, { method })).headers['x-cluster'];
    expect(await clusterOf('/orders/1', 'POST')).to.equal('[orders]');
    expect(await clusterOf('/orders/1')).to.equal('[all.orders]');
    expect(await clusterOf('/orders/1?x', 'POST')).to.equal('[all.orders]');
    expect(await clusterOf('/orders/local')).to.equal('[all.orders]');
    expect(await clusterOf('/else')).to.equal('[]');
    const stats = (cluster: string) =>
      ['total', 'completed', '200', '2xx'].map((each) =>
        gateway.stat(`vhost.gw-system_host.vcluster.${cluster}.upstream_rq_${each}`),
      );
    expect(stats('orders')).to.deep.equal([1, 1, 1, 1]);
    expect(stats('all_orders')).to.deep.equal([2, 2, 2, 2]);
    expect(stats('other')).to.deep.equal([1, 1, 1, 1]);
  });

  it('count timeouts, also of requests with other flags', () => {
    const metrics = createMetrics();
    const groups = new VirtualClusters('gw-system.host', virtualClusters, metrics);
    for (const flags of ['', 'UT', 'URX,UT', 'UF'])
      groups.count(
        { method: 'POST', originalPath: '/orders/1' },
        Object.assign(new RequestResult(), { status: 504, flags }),
      );
    const path = 'vhost.gw-system_host.vcluster.orders.upstream_rq_timeout';
    const found = metrics.list().find(({ name }) => name.path === path);
    expect(found?.stat).to.include({ value: 2 });
  });

  it('are not counted with dynamicStats: false, nor are responses of upstreams by status', async () => {
    const stats = { virtualClusters };
    gateway = await served({ host: { stats }, http: { router: { dynamicStats: false } } });
    await gateway.ask('/orders/1');
    expect(gateway.stat('vhost.gw-system_host.vcluster.all_orders.upstream_rq_total')).to.equal(0);
    expect(gateway.stat('cluster.up_gw-system.upstream_rq_200')).to.equal(0);
    expect(gateway.stat('cluster.up_gw-system.upstream_rq_total')).to.equal(1);
  });

  it('do not prevent serving if a pattern does not compile', async () => {
    gateway = await served({ host: { stats: { virtualClusters: [{ name: 'a', pattern: '(' }] } } });
    expect((await gateway.ask('/')).status).to.equal(200);
  });
});

describe('envoyMetadata', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  for (const [argument, value] of [
    ['ROUTE:com.example:team', 'shop'],
    ['ROUTE:com.example:tier', '2'],
    ['ROUTE:com.example:labels:region', 'eu'],
    ['ROUTE:com.example:labels', '{"region":"eu"}'],
    ['ROUTE:com.example:list', '[1,true]'],
    ['ROUTE:com.example:none', undefined],
    ['ROUTE:com.example:toString', undefined],
    ['ROUTE:constructor', undefined],
    ['ROUTE:other:team', undefined],
    ['CLUSTER:com.example:team', undefined],
    ['DYNAMIC:com.example:team', undefined],
  ] as const)
    it(`is ${value ?? 'missing'} as %METADATA(${argument})%`, async () => {
      const requestHeadersToAdd = [{ header: { key: 'x-meta', value: `%METADATA(${argument})%` } }];
      gateway = await served({ options: { envoyMetadata: METADATA, headerManipulation: { requestHeadersToAdd } } });
      expect((await gateway.seen('/')).headers['x-meta']).to.equal(value);
    });
});
