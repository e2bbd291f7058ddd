import { createMetrics, type Metrics, type Route, type VirtualHost } from '@edge-gateway/core';
import { expect } from 'chai';
import { countResponse } from '../../src/serve/http-stats.ts';
import { createRouteStats, type RouteStats } from '../../src/serve/route-stats.ts';

const hostOf = (...prefixes: readonly string[]): VirtualHost =>
  ({
    name: 'ns.shop',
    routes: prefixes.map(
      (prefix, i) => ({ name: `ns.shop-route-${i}`, matchers: [{ prefix }] }) as Partial<Route> as Route,
    ),
  }) as Partial<VirtualHost> as VirtualHost;

describe('createRouteStats', () => {
  let metrics: Metrics;
  let stats: RouteStats;
  beforeEach(() => {
    metrics = createMetrics();
    stats = createRouteStats(metrics);
  });

  const request = (host: VirtualHost, i = 0, status = 200): void => {
    const counted = stats.of(host, host.routes[i]!);
    if (counted) countResponse(counted, status);
  };
  const replace = (host: VirtualHost): void =>
    stats.prune(
      (each) => each === host,
      () => [host],
    );
  const values = (): Record<string, number> =>
    Object.fromEntries(
      metrics
        .list()
        .flatMap(({ name, type, stat }) => (type === 'counter' && stat.value > 0 ? [[name.path, stat.value]] : [])),
    );

  it('counts the requests of each route by status class', () => {
    const host = hostOf('/a', '/b');
    request(host, 0);
    request(host, 0, 503);
    request(host, 1);
    expect(values()).to.deep.equal({
      'vhost.ns_shop.route.ns_shop-route-0.downstream_rq_completed': 2,
      'vhost.ns_shop.route.ns_shop-route-0.downstream_rq_2xx': 1,
      'vhost.ns_shop.route.ns_shop-route-0.downstream_rq_5xx': 1,
      'vhost.ns_shop.route.ns_shop-route-1.downstream_rq_completed': 1,
      'vhost.ns_shop.route.ns_shop-route-1.downstream_rq_2xx': 1,
    });
    const labels = [...metrics.families().get('envoy_vhost_route_downstream_rq_completed')!].map(
      ({ name }) => name.labels,
    );
    expect(labels[0]).to.deep.equal({ envoy_virtual_host: 'ns.shop', envoy_route: 'ns.shop-route-0' });
  });

  it('has no statistics of routes without requests', () => {
    stats.prune(
      () => true,
      () => [hostOf('/a')],
    );
    expect(metrics.list()).to.deep.equal([]);
  });

  it('keeps the counts of a changed virtual host, except of routes that match other requests', () => {
    const host = hostOf('/a', '/b', '/c');
    for (const i of [0, 1, 2]) request(host, i);
    const next = hostOf('/a', '/new');
    replace(next);
    request(next, 0);
    request(next, 1);
    expect(values()).to.include({
      'vhost.ns_shop.route.ns_shop-route-0.downstream_rq_completed': 2,
      'vhost.ns_shop.route.ns_shop-route-1.downstream_rq_completed': 1,
    });
    expect(Object.keys(values()).join()).to.not.contain('route-2');
  });

  it('counts at most 200 routes, and others once there is room', () => {
    const host = hostOf(...Array.from({ length: 201 }, (_, i) => `/${i}`));
    for (let i = 0; i < 201; i++) request(host, i);
    expect(stats.of(host, host.routes[199]!)).to.not.equal(undefined);
    expect(stats.of(host, host.routes[200]!)).to.equal(undefined);
    const next = hostOf('/other');
    replace(next);
    expect(metrics.list()).to.deep.equal([]);
    request(next);
    expect(values()).to.include({ 'vhost.ns_shop.route.ns_shop-route-0.downstream_rq_completed': 1 });
  });
});
