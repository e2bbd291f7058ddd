import { createContext, createMetrics, type HostState } from '@edge-gateway/core';
import { expect } from 'chai';
import { proxyAdmin, secrets, type TestPort } from '../sample.ts';

const NO_COUNTERS = {
  cx_active: 0,
  cx_connect_fail: 0,
  cx_total: 0,
  rq_active: 0,
  rq_error: 0,
  rq_success: 0,
  rq_timeout: 0,
  rq_total: 0,
};

const HOST: Omit<HostState, 'counters'> = {
  address: '10.1.1.1',
  port: 443,
  hostname: 'a.example',
  weight: 2,
  priority: 1,
  locality: { region: 'eu' },
  healthFlags: ['failed_active_hc', 'active_hc_timeout'],
  successRate: 99.5,
  localOriginSuccessRate: -1,
};

describe('/clusters', () => {
  let admin: TestPort;
  before(async () => {
    const metrics = createMetrics();
    const count = (stat: string, value: number): void => {
      metrics.counter({ path: `cluster.pets_gw-system.${stat}`, metric: stat }).value = value;
    };
    count('upstream_rq_total', 9);
    count('upstream_rq_2xx', 5);
    count('upstream_rq_4xx', 3);
    count('upstream_rq_5xx', 1);
    admin = await proxyAdmin({ context: createContext({ metrics, secrets }) });
  });
  after(() => admin.close());

  it('prints limits of each cluster, then each endpoint', async () => {
    const { text } = await admin.request('/clusters?filter=^pets');
    expect(text.split('\n')).to.deep.equal([
      'pets_gw-system::observability_name::pets_gw-system',
      'pets_gw-system::default_priority::max_connections::7',
      'pets_gw-system::default_priority::max_pending_requests::1024',
      'pets_gw-system::default_priority::max_requests::1024',
      'pets_gw-system::default_priority::max_retries::3',
      'pets_gw-system::high_priority::max_connections::1024',
      'pets_gw-system::high_priority::max_pending_requests::1024',
      'pets_gw-system::high_priority::max_requests::1024',
      'pets_gw-system::high_priority::max_retries::3',
      'pets_gw-system::added_via_api::true',
      ...[
        'cx_active::0',
        'cx_connect_fail::0',
        'cx_total::0',
        'rq_active::0',
        'rq_error::1',
        'rq_pending_active::0',
        'rq_success::8',
        'rq_timeout::0',
        'rq_total::9',
        'hostname::10.0.0.1',
        'health_flags::healthy',
        'weight::1',
        'region::',
        'zone::',
        'sub_zone::',
        'canary::false',
        'priority::0',
        'success_rate::-1',
        'local_origin_success_rate::-1',
      ].map((fact) => `pets_gw-system::10.0.0.1:8080::${fact}`),
      '',
    ]);
  });

  it('shows counters of one of several endpoints only if the hosts are known', async () => {
    const { text } = await admin.request('/clusters?filter=^secure');
    expect(text).to.contain('secure_gw-system::a.example:443::weight::2\n');
    expect(text).to.contain('secure_gw-system::[::1]:443::weight::1\n');
    expect(text).not.to.contain('rq_total');
  });

  it('shows live hosts with their counters, health and locality', async () => {
    const counters = { ...NO_COUNTERS, cx_active: 2, rq_total: 20 };
    const live = await proxyAdmin({ hostStates: () => [{ ...HOST, counters }] });
    const { text } = await live.request('/clusters?filter=^secure');
    const { body } = await live
      .request('/clusters?filter=^secure&format=json')
      .then((r) => ({ body: JSON.parse(r.text) }));
    await live.close();
    const lines = text.split('\n').filter((line) => line.includes('10.1.1.1:443'));
    expect(lines.map((line) => line.replace('secure_gw-system::10.1.1.1:443::', ''))).to.include.members([
      'rq_total::20',
      'cx_active::2',
      'hostname::a.example',
      'health_flags::/failed_active_hc/active_hc_timeout',
      'region::eu',
      'zone::',
      'priority::1',
      'success_rate::99.5',
    ]);
    const [host] = body.cluster_statuses[0].host_statuses;
    expect(host.health_status).to.deep.equal({
      failed_active_health_check: true,
      active_hc_timeout: true,
      eds_health_status: 'HEALTHY',
    });
    expect(host).to.deep.include({ priority: 1, locality: { region: 'eu' }, success_rate: { value: 99.5 } });
  });

  it('prints JSON with 64-bit numbers as strings', async () => {
    const body = JSON.parse((await admin.request('/clusters?format=json')).text);
    const [pets, secure] = body.cluster_statuses;
    expect(pets).to.include({ name: 'pets_gw-system', added_via_api: true, observability_name: 'pets_gw-system' });
    expect(pets.circuit_breakers.thresholds[0].max_connections).to.equal(7);
    const [host] = pets.host_statuses;
    expect(host.address).to.deep.equal({ socket_address: { address: '10.0.0.1', port_value: 8080 } });
    expect(host.stats).to.deep.include({ name: 'rq_total', value: '9', type: 'COUNTER' });
    expect(host.stats).to.deep.include({ name: 'rq_active', value: '0', type: 'GAUGE' });
    expect(host.health_status).to.deep.equal({ eds_health_status: 'HEALTHY' });
    expect(secure.host_statuses).to.have.length(2);
  });

  it('is empty before the first snapshot', async () => {
    const early = await proxyAdmin({ snapshot: () => undefined });
    const responses = [await early.request('/clusters'), await early.request('/clusters?format=json')];
    await early.close();
    expect(responses.map(({ text }) => text)).to.deep.equal(['', '{\n "cluster_statuses": []\n}\n']);
  });
});
