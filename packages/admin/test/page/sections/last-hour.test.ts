import { expect } from 'chai';
import { createContext, createMetrics, type Metrics } from '@edge-gateway/core';
import { recordTraffic, type TrafficHistory } from '../../../src/index.ts';
import { proxyAdmin, secrets, SNAPSHOT, type TestPort } from '../../sample.ts';

describe('traffic page', () => {
  const [host] = SNAPSHOT.listeners[0]!.virtualHosts;
  let admin: TestPort;
  let history: TrafficHistory;
  before(async () => {
    const metrics = createMetrics();
    history = recordTraffic({ metrics });
    admin = await proxyAdmin({ context: createContext({ metrics, secrets }), history });
    count(metrics, host!.routes[0]!.name, 12, 3, 30_000);
    count(metrics, '<removed>', 1, 0, 1_200_000);
  });
  after(async () => {
    history.close();
    await admin.close();
  });

  function count(metrics: Metrics, ...[route, requests, errors, timeUs]: [string, number, number, number]): void {
    const metric = 'envoy_vhost_route_downstream_rq_';
    const labels = { envoy_route: route };
    metrics.counter({ path: `${route}.completed`, metric: `${metric}completed`, labels }).value += requests;
    const ofClass = { ...labels, envoy_response_code_class: '5' };
    metrics.counter({ path: `${route}.5xx`, metric: `${metric}xx`, labels: ofClass }).value += errors;
    metrics.counter({ path: `${route}.time_us`, metric: `${metric}time_us`, labels }).value += timeUs;
  }

  it('shows the requests, errors and average time of each route, the busiest first', async () => {
    const { text } = await admin.request('/status/traffic');
    const rows = text
      .split('<tr role="row">')
      .slice(2)
      .map((row) => row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '));
    expect(rows[0]).to.match(/^ gw-system\/shop .* 12 0 % 25 % 2\.5 ms /);
    expect(rows[1]).to.match(/^ &#60;removed&#62; 1 0 % 0 % 1\.2 s /);
    expect(text).to.contain('aria-current="page">Traffic</a>');
  });

  it('shows the busiest routes on the overview', async () => {
    const { text } = await admin.request('/status');
    expect(text).to.contain('Requests in the last hour by route').and.contain('href="/status/traffic"');
  });

  it('is missing where no traffic is recorded', async () => {
    const other = await proxyAdmin();
    expect((await other.request('/status/traffic')).status).to.equal(404);
    expect((await other.request('/status')).text).to.not.contain('/status/traffic');
    await other.close();
  });
});
