import { mock } from 'node:test';
import { createMetrics, httpStat, type Counter, type Metrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { recordTraffic, type TrafficHistory } from '../../src/page/traffic-history.ts';

const MINUTE = 60_000;

describe('recordTraffic', () => {
  let metrics: Metrics;
  let history: TrafficHistory;
  let total: Counter;
  let refreshed = 0;
  let refresh: () => Promise<void>;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    metrics = createMetrics();
    total = metrics.counter(httpStat('downstream_rq_total'));
    total.value = 1000;
    refreshed = 0;
    refresh = async () => void refreshed++;
    history = recordTraffic({ metrics, refresh: () => refresh() });
  });
  afterEach(() => {
    history.close();
    mock.timers.reset();
  });

  const routeCounter = (route: string, digit?: number): Counter =>
    metrics.counter({
      path: `vhost.shop.route.${route}.downstream_rq_${digit ? `${digit}xx` : 'completed'}`,
      metric: `envoy_vhost_route_downstream_rq_${digit ? 'xx' : 'completed'}`,
      labels: { envoy_route: route, ...(digit && { envoy_response_code_class: String(digit) }) },
    });
  const pass = async (): Promise<void> => {
    mock.timers.tick(MINUTE);
    // Ends the recording of this minute, which waits for the statistics.
    await new Promise(setImmediate);
  };

  it('counts the requests since it began, by minute, without a viewer', async () => {
    total.value += 3;
    await pass();
    total.value += 5;
    await pass();
    total.value += 1;
    expect(refreshed).to.equal(2);
    const hour = await history.hour();
    expect(hour.minutes.map(({ requests }) => requests)).to.deep.equal([3, 5, 1]);
    expect(hour.total.requests).to.equal(9);
  });

  it('forgets minutes after an hour', async () => {
    total.value += 7;
    for (let i = 0; i < 60; i++) await pass();
    expect((await history.hour()).total.requests).to.equal(7);
    total.value += 2;
    await pass();
    const { total: sum, minutes } = await history.hour();
    expect([sum.requests, minutes.length]).to.deep.equal([2, 61]);
  });

  it('counts requests, errors and time of routes, and forgets idle routes', async () => {
    routeCounter('a').value += 4;
    routeCounter('a', 4).value += 1;
    routeCounter('a', 5).value += 2;
    routeCounter('idle');
    const time = metrics.counter({
      path: 'vhost.shop.route.a.downstream_rq_time_us',
      metric: 'envoy_vhost_route_downstream_rq_time_us',
      labels: { envoy_route: 'a' },
    });
    time.value += 4000;
    await pass();
    routeCounter('a').value += 1;
    time.value += 500;
    const { routes } = await history.hour();
    expect(Object.keys(Object.fromEntries(routes))).to.deep.equal(['a']);
    expect(routes.get('a')).to.include({ requests: 5, clientErrors: 1, serverErrors: 2, timeUs: 4500 });
  });

  it('counts the requests of listeners by address', async () => {
    const labels = { envoy_listener_address: '[__]_8080' };
    metrics.counter({
      path: 'listener.[__]_8080.http.http.downstream_rq_completed',
      metric: 'envoy_listener_http_downstream_rq_completed',
      labels,
    }).value += 2;
    expect((await history.hour()).listeners.get('[::]:8080')).to.include({ requests: 2 });
  });

  it('computes latencies of all minutes', async () => {
    const times = metrics.histogram(httpStat('downstream_rq_time'));
    for (let i = 0; i < 99; i++) times.observe(4);
    await pass();
    times.observe(400);
    await pass();
    const { p50, p99 } = (await history.hour()).total;
    expect(p50).to.be.within(1, 5);
    expect(p99).to.be.within(1, 5);
    times.observe(400);
    times.observe(400);
    expect((await history.hour()).total.p99).to.be.within(250, 500);
  });

  it('counts on after the counters were reset', async () => {
    total.value += 4;
    await pass();
    total.value = 2;
    await pass();
    expect((await history.hour()).total.requests).to.equal(6);
  });

  it('goes on when the statistics of workers cannot be read', async () => {
    refresh = () => Promise.reject(new Error('no response'));
    total.value += 1;
    await pass();
    expect((await history.hour()).total.requests).to.equal(1);
  });

  it('records nothing after it was closed', async () => {
    history.close();
    await pass();
    expect(refreshed).to.equal(0);
  });
});
