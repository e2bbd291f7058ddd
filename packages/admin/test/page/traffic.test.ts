import { createMetrics, httpStat } from '@edge-gateway/core';
import { expect } from 'chai';
import { createTraffic } from '../../src/page/traffic.ts';

describe('createTraffic', () => {
  const metrics = createMetrics();
  const requests = metrics.counter(httpStat('downstream_rq_total'));
  const classStat = httpStat('downstream_rq_5xx');
  const errors = metrics.counter({
    ...classStat,
    metric: 'envoy_http_downstream_rq_xx',
    labels: { envoy_response_code_class: '5' },
  });
  const times = metrics.histogram(httpStat('downstream_rq_time'));
  const labels = { envoy_cluster_name: 'a' };
  const upstream = metrics.counter({
    path: 'cluster.a.upstream_rq_total',
    metric: 'envoy_cluster_upstream_rq_total',
    labels,
  });
  let now = 0;
  let refreshed = 0;
  const traffic = createTraffic(
    metrics,
    async () => void refreshed++,
    () => now,
  );

  it('knows no rates before there are two samples', async () => {
    requests.value = 1000;
    times.observe(60_000);
    await traffic.sample();
    expect([traffic.total(), traffic.upstream('a')]).to.deep.equal([undefined, undefined]);
  });

  it('does not sample twice at the same time', async () => {
    await traffic.sample();
    expect(refreshed).to.equal(1);
  });

  it('computes rates and latencies of the time between samples', async () => {
    now = 2000;
    requests.value += 20;
    errors.value += 4;
    upstream.value += 6;
    for (let i = 0; i < 20; i++) times.observe(5);
    await traffic.sample();
    expect(traffic.total()).to.deep.include({ requests: 10, serverErrors: 2, clientErrors: 0 });
    expect(traffic.total()!.p99).to.be.within(1, 5);
    expect(traffic.upstream('a')).to.deep.include({ requests: 3, p50: undefined });
    expect(traffic.upstream('b')).to.equal(undefined);
    expect(traffic.history()).to.deep.equal([10]);
  });

  it('survives a reset of the counters', async () => {
    now = 4000;
    requests.value = 8;
    await traffic.sample();
    expect(traffic.total()!.requests).to.equal(2);
  });

  it('forgets samples that are too old', async () => {
    now = 1_000_000;
    await traffic.sample();
    expect([traffic.total(), traffic.history()]).to.deep.equal([undefined, []]);
  });
});
