import { expect } from 'chai';
import {
  decodeReport,
  encodeReport,
  MAX_LISTENERS,
  MAX_UPSTREAMS,
  type ClusterStats,
} from '../../src/protocol/load-stats.ts';

const LISTENER = 'edge_gateway.listener';
const TOTAL = 'edge_gateway.proxy';

const locality = (requests: number, errors: number, metrics: Readonly<Record<string, number>> = {}) => ({
  total_successful_requests: 0,
  total_error_requests: errors,
  total_issued_requests: requests,
  load_metric_stats: Object.entries(metrics).map(([metric_name, total_metric_value]) => ({
    metric_name,
    num_requests_finished_with_metric: 1,
    total_metric_value,
  })),
});
const stats = (name: string, service: string, ...localities: ReturnType<typeof locality>[]): ClusterStats => ({
  cluster_name: name,
  cluster_service_name: service,
  upstream_locality_stats: localities,
  load_report_interval: { seconds: 2, nanos: 500_000_000 },
});

describe('a load report', () => {
  it('has the interval and the requests of each part', () => {
    const total = { name: '', requests: 5, clientErrors: 1, serverErrors: 7 };
    const [proxy] = encodeReport({ seconds: 1.25, total, listeners: [], upstreams: [] }, 'gateway-proxy');
    expect(proxy).to.deep.include({
      cluster_name: 'gateway-proxy',
      cluster_service_name: TOTAL,
      load_report_interval: { seconds: 1, nanos: 250_000_000 },
    });
    // More errors than requests are possible while requests end in another interval.
    expect(proxy!.upstream_locality_stats[0]).to.include({
      total_successful_requests: 0,
      total_error_requests: 7,
      total_issued_requests: 5,
    });
  });

  it('is read from any data plane: the sum of its clusters, and of their localities', () => {
    const a = stats('a', '', locality(3, 1, { client_errors: 2, endpoints_healthy: 4 }), locality(4, 2));
    const report = decodeReport([a, stats('b', 'other', locality(10, 0))])!;
    expect(report.seconds).to.equal(2.5);
    expect(report.upstreams).to.deep.equal([
      { name: 'a', requests: 7, clientErrors: 2, serverErrors: 3, healthy: 4, unhealthy: 0 },
      { name: 'b', requests: 10, clientErrors: 0, serverErrors: 0, healthy: 0, unhealthy: 0 },
    ]);
    expect(report.total).to.deep.equal({ name: '', requests: 17, clientErrors: 2, serverErrors: 3 });
    expect(decodeReport([])).to.equal(undefined);
  });

  it('has the first total, and no more entries than allowed', () => {
    const many = (service: string, count: number) =>
      Array.from({ length: count }, (_, i) => stats(`${i}`, service, locality(1, 0)));
    const report = decodeReport([
      stats('one', TOTAL, locality(1, 0)),
      stats('two', TOTAL, locality(2, 0)),
      ...many(LISTENER, MAX_LISTENERS + 1),
      ...many('', MAX_UPSTREAMS + 1),
    ])!;
    expect(report.total).to.include({ name: 'one', requests: 1 });
    expect([report.listeners.length, report.upstreams.length]).to.deep.equal([MAX_LISTENERS, MAX_UPSTREAMS]);
  });

  it('is limited in values and names', () => {
    const valueOf = (value: number) => decodeReport([stats('a', '', locality(value, value))])!.upstreams[0]!.requests;
    expect([NaN, Infinity, -1, 1e15, 3].map(valueOf)).to.deep.equal([0, 0, 0, 1e12, 3]);
    expect(decodeReport([stats('x'.repeat(1000), '', locality(1, 0))])!.upstreams[0]!.name).to.have.length(256);
    const interval = (seconds: number, nanos: number) =>
      decodeReport([{ ...stats('a', ''), load_report_interval: { seconds, nanos } }])!.seconds;
    expect([interval(0, 0), interval(-5, 0), interval(NaN, 0), interval(1, 1e6)]).to.deep.equal([
      0.001, 0.001, 0.001, 1.001,
    ]);
    expect(decodeReport([{ ...stats('a', ''), load_report_interval: null }])!.seconds).to.equal(0.001);
  });
});
