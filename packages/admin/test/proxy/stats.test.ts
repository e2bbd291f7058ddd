import { createContext, createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { expositionProblems } from '../exposition.ts';
import { proxyAdmin, secrets, type TestPort } from '../sample.ts';

describe('/stats', () => {
  const metrics = createMetrics();
  let admin: TestPort;
  before(async () => {
    const labels = { envoy_cluster_name: 'a"b\\c\nd' };
    metrics.counter({
      path: 'cluster.a.upstream_rq_total',
      metric: 'envoy_cluster_upstream_rq_total',
      labels,
    }).value = 7;
    metrics.counter({ path: 'cluster.a.upstream_rq_timeout', metric: 'envoy_cluster_upstream_rq_timeout', labels });
    metrics.gauge({
      path: 'cluster.a.upstream_rq_active',
      metric: 'envoy_cluster_upstream_rq_active',
      labels,
    }).value = 2;
    const time = metrics.histogram({
      path: 'cluster.a.upstream_rq_time',
      metric: 'envoy_cluster_upstream_rq_time',
      labels,
    });
    for (const sample of [2, 3, 4, 90_000]) time.observe(sample);
    metrics.histogram({
      path: 'cluster.a.upstream_cx_connect_ms',
      metric: 'envoy_cluster_upstream_cx_connect_ms',
      labels,
    });
    admin = await proxyAdmin({ context: createContext({ metrics, secrets, now: () => Date.UTC(2026, 11, 1) }) });
  });
  after(() => admin.close());
  const text = async (query: string): Promise<string> => (await admin.request(`/stats${query}`)).text;

  it('prints counters and gauges sorted by name, then histograms', async () => {
    expect(await text('?filter=^cluster[.]')).to.equal(
      [
        'cluster.a.upstream_rq_active: 2',
        'cluster.a.upstream_rq_timeout: 0',
        'cluster.a.upstream_rq_total: 7',
        'cluster.a.upstream_cx_connect_ms: No recorded values',
        'cluster.a.upstream_rq_time: P0(nan,1) P25(nan,2.33333) P50(nan,3.66667) P75(nan,5) P90(nan,60000)' +
          ' P95(nan,60000) P99(nan,60000) P99.5(nan,60000) P99.9(nan,60000) P100(nan,60000)',
        '',
      ].join('\n'),
    );
  });

  it('refreshes gauges of the process', async () => {
    const all = await text('');
    for (const line of [
      'server.live: 1',
      'server.state: 0',
      'server.uptime: 3600',
      'server.days_until_first_cert_expiring: 36490',
      'listener_manager.total_listeners_active: 1',
      'cluster_manager.active_clusters: 2',
      'control_plane.connected_state: 1',
    ]) {
      expect(all).to.contain(`${line}\n`);
    }
  });

  it('omits unused statistics with usedonly', async () => {
    expect(await text('?usedonly&filter=^cluster[.]')).not.to.match(/timeout|connect_ms/);
  });

  it('selects by type', async () => {
    expect(await text('?type=Gauges&filter=^cluster[.]')).to.equal('cluster.a.upstream_rq_active: 2\n');
    expect(await text('?type=TextReadouts')).to.equal('');
  });

  it('prints buckets of histograms', async () => {
    const query = '?type=Histograms&usedonly&histogram_buckets=';
    expect(await text(`${query}cumulative`)).to.contain('upstream_rq_time: B0.5(nan,0) B1(nan,0) B5(nan,3) B10(nan,3)');
    expect(await text(`${query}disjoint`))
      .to.contain('B5(nan,3) B10(nan,0)')
      .and.to.contain('Binf(nan,1)');
  });

  it('prints JSON with histograms last', async () => {
    const { stats } = JSON.parse(await text('?format=json&filter=upstream_rq'));
    expect(stats.slice(0, 3)).to.deep.equal([
      { name: 'cluster.a.upstream_rq_active', value: 2 },
      { name: 'cluster.a.upstream_rq_timeout', value: 0 },
      { name: 'cluster.a.upstream_rq_total', value: 7 },
    ]);
    const { supported_quantiles, computed_quantiles } = stats[3].histograms;
    expect(supported_quantiles).to.deep.equal([0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 100]);
    expect(computed_quantiles[0].name).to.equal('cluster.a.upstream_rq_time');
    expect(computed_quantiles[0].values[3]).to.deep.equal({ interval: null, cumulative: 5 });
  });

  const WRONG = {
    '?filter=(': /^Invalid re2 regex: /,
    '?filter=(?=a)': /^Invalid re2 regex: /,
    '?filter=(a{1000}){1000}': /^Invalid re2 regex: /,
    '?format=xml': /^usage: \/stats\?format=\(text\|json\|prometheus\)/,
    '?type=Nothing': /^invalid type, one of All/,
    '?histogram_buckets=none': /^usage: /,
  };
  for (const [query, message] of Object.entries(WRONG)) {
    it(`rejects ${query}`, async () => {
      const response = await admin.request(`/stats${query}`);
      expect(response.status).to.equal(400);
      expect(response.text).to.match(message);
    });
  }

  it('evaluates an expression that would stall a backtracking engine', async () => {
    expect(await text(`?filter=${encodeURIComponent('(a+)+$')}`)).to.be.a('string');
  });

  it('returns valid Prometheus text at both paths, with escaped labels', async () => {
    for (const path of ['/stats/prometheus', '/stats?format=prometheus']) {
      const response = await admin.request(path);
      expect(response.headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8');
      expect(expositionProblems(response.text)).to.deep.equal([]);
      expect(response.text).to.contain(
        '# HELP envoy_cluster_upstream_rq_total Requests to the cluster.\n# TYPE envoy_cluster_upstream_rq_total counter\n',
      );
      expect(response.text).to.contain(String.raw`envoy_cluster_upstream_rq_total{envoy_cluster_name="a\"b\\c\nd"} 7`);
      expect(response.text).to.match(/envoy_cluster_upstream_rq_time_bucket\{.*,le="5"\} 3\n/);
      expect(response.text).to.match(/envoy_cluster_upstream_rq_time_bucket\{.*,le="\+Inf"\} 4\n/);
      expect(response.text).to.match(/envoy_cluster_upstream_rq_time_sum\{.*\} 90009\n/);
    }
  });

  it('returns only selected statistics to Prometheus', async () => {
    const { text: body } = await admin.request('/stats/prometheus?filter=upstream_rq_total$');
    expect(body.split('\n')).to.have.length(4);
  });

  it('returns other metrics of the registry to Prometheus', async () => {
    const name = 'process_other_total';
    const get = async () => ({ name, help: 'Something else.', type: 'counter', values: [{ value: 3, labels: {} }] });
    metrics.registry.registerMetric({ name, get } as never);
    const { text: body } = await admin.request('/stats/prometheus');
    metrics.registry.removeSingleMetric(name);
    expect(body).to.contain('process_other_total 3\n');
    expect(expositionProblems(body)).to.deep.equal([]);
  });
});
