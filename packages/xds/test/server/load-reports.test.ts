import {
  Client,
  credentials,
  type ClientDuplexStream,
  type ServerDuplexStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { TrafficReport } from '@edge-gateway/core';
import { expect } from 'chai';
import { listenGrpcServer } from '@edge-gateway/core/grpc';
import { ADS, AggregatedDiscovery } from '../../src/protocol/discovery.ts';
import { LoadReporting, type LoadStatsRequest, type LoadStatsResponse } from '../../src/protocol/load-stats.ts';
import { TYPE } from '../../src/resources/index.ts';
import { startProxy, startServer, until } from '../planes.ts';
import { service, startStates } from '../states.ts';

const REPORT: TrafficReport = {
  seconds: 2.5,
  total: { name: '', requests: 100, clientErrors: 3, serverErrors: 2, p50: 1.5, p99: 20 },
  listeners: [{ name: '[::]:8080', requests: 100, clientErrors: 3, serverErrors: 2 }],
  upstreams: [
    {
      name: 'pets_gw-system',
      requests: 60,
      clientErrors: 1,
      serverErrors: 2,
      p50: 1,
      p99: 9,
      healthy: 1,
      unhealthy: 2,
    },
    { name: 'idle_gw-system', requests: 0, clientErrors: 0, serverErrors: 0, healthy: 3, unhealthy: 0 },
  ],
};

const { path, requestSerialize, responseDeserialize } = LoadReporting['StreamLoadStats']!;

/** A node that reports whatever the test wants. */
function rawNode(port: number, id = `node~${port}`) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const stream: ClientDuplexStream<object, LoadStatsResponse> = client.makeBidiStreamRequest(
    path,
    requestSerialize as (value: object) => Buffer,
    responseDeserialize,
  );
  const responses: LoadStatsResponse[] = [];
  let ended = '';
  stream.on('data', (response: LoadStatsResponse) => void responses.push(response));
  stream.on('error', () => {});
  stream.on('status', ({ details }: { readonly details: string }) => (ended = details || 'ended'));
  return {
    responses,
    get ended() {
      return ended;
    },
    introduce: () => stream.write({ node: { id, cluster: 'gateway-proxy' } }),
    report: (cluster_stats: LoadStatsRequest['cluster_stats'] | readonly object[]) => stream.write({ cluster_stats }),
    end: () => stream.end(),
    close: () => client.close(),
  };
}

describe('reports of traffic', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let server: Awaited<ReturnType<typeof startServer>>;
  let now: number;
  /** How often the control plane read the clock. */
  let readings: number;
  const closing: { close(): void }[] = [];
  beforeEach(async () => {
    now = Date.parse('2026-01-01T00:00:00Z');
    readings = 0;
    states = await startStates({ a: service('a', 'one') });
    server = await startServer({ reportMs: 500, now: () => (readings++, now) });
    server.publish(states.current());
  });
  afterEach(async () => {
    for (const each of closing.splice(0)) each.close();
    server.close();
    await states.close();
  });
  const traffic = () => server.server.proxies()[0]?.traffic;
  async function connect(read?: () => Promise<TrafficReport | undefined>) {
    const proxy = startProxy([server.port], read && { traffic: read });
    closing.push(proxy);
    await until(() => server.server.proxies()[0]?.current === true, 'the proxy is current');
    return proxy;
  }
  function raw(...given: Parameters<typeof rawNode> | []) {
    const node = rawNode(given[0] ?? server.port, given[1]);
    closing.push(node);
    return node;
  }

  it('arrive at the control plane as they are, and become stale', async () => {
    let report: TrafficReport | undefined = REPORT;
    await connect(async () => report);
    await until(() => traffic() !== undefined, 'the report');
    const { reportedAt, isStale, total, ...rest } = traffic()!;
    expect({ reportedAt, isStale }).to.deep.equal({ reportedAt: '2026-01-01T00:00:00.000Z', isStale: false });
    expect({ ...rest, total: { ...total, name: '' } }).to.deep.equal(REPORT);
    expect(total.name).to.equal('gateway-proxy');
    report = undefined;
    now += 1500;
    expect(traffic()).to.include({ isStale: false });
    now += 1501;
    expect(traffic()).to.include({ isStale: true });
  });

  it('stop with the connection of the proxy', async () => {
    const proxy = await connect(async () => REPORT);
    await until(() => traffic() !== undefined, 'the report');
    proxy.close();
    await until(() => server.server.proxies().length === 0, 'the end of the connection');
    await connect();
    expect(traffic()).to.equal(undefined);
  });

  it('do not end discovery if they fail', async () => {
    let failures = 0;
    const proxy = await connect(() => {
      failures++;
      return Promise.reject(new Error('no statistics'));
    });
    await until(() => failures > 1, 'two attempts');
    states.source.set('a', service('a', 'two'));
    server.publish(states.current());
    await until(() => proxy.served?.version === states.snapshot().version, 'the next state');
  });

  it('are optional: a proxy stays connected to a control plane without load reporting', async () => {
    let requests = 0;
    const service = {
      name: ADS,
      definition: AggregatedDiscovery,
      implementation: {
        DeltaAggregatedResources(call: ServerDuplexStream<object, object>) {
          call.on('data', () => call.write({ type_url: TYPE.secret, nonce: String(++requests) }));
        },
      } as UntypedServiceImplementation,
    };
    const plain = await listenGrpcServer(service, { address: '127.0.0.1', port: 0, maxBytes: 1_000_000 });
    closing.push(plain);
    let asked = 0;
    const proxy = startProxy([plain.port], { traffic: async () => (asked++, REPORT) });
    closing.push(proxy);
    await until(() => proxy.client.connectedTo !== undefined, 'the connection');
    const before = requests;
    proxy.client.refresh();
    await until(() => requests > before, 'another request');
    expect(asked).to.equal(0);
    expect(proxy.client.connectedTo).to.equal(`127.0.0.1:${plain.port}`);
  });

  it('are limited in lists, names and values', async () => {
    await connect();
    const node = raw();
    node.introduce();
    await until(() => node.responses.length === 1, 'the interval');
    expect(node.responses[0]).to.deep.include({ load_reporting_interval: { seconds: 0, nanos: 500_000_000 } });
    const cluster = (name: string, more: object = {}) => ({
      cluster_name: name,
      upstream_locality_stats: [
        {
          total_issued_requests: 5,
          load_metric_stats: [
            { metric_name: 'latency_p99_ms', total_metric_value: Infinity },
            { metric_name: 'endpoints_unhealthy', total_metric_value: -5 },
            { metric_name: 'endpoints_healthy', total_metric_value: NaN },
          ],
        },
      ],
      ...more,
    });
    node.report([
      cluster('x'.repeat(100_000)),
      ...Array.from({ length: 30 }, (_, i) => cluster(`l${i}`, { cluster_service_name: 'edge_gateway.listener' })),
      ...Array.from({ length: 5000 }, (_, i) => cluster(`u${i}`)),
    ]);
    await until(() => traffic() !== undefined, 'the report');
    const { listeners, upstreams, total, seconds } = traffic()!;
    expect([listeners.length, upstreams.length]).to.deep.equal([20, 100]);
    expect(upstreams[0]!.name).to.have.length(256);
    expect(upstreams[0]).to.include({ requests: 5, p99: 0, healthy: 0, unhealthy: 0 });
    expect(total.requests).to.equal(500);
    expect(seconds).to.equal(0.001);
  });

  it('are ignored if they come faster than they are wanted', async () => {
    await connect();
    const node = raw();
    node.introduce();
    const named = (cluster_name: string) => [{ cluster_name, upstream_locality_stats: [] }];
    node.report(named('first'));
    await until(() => traffic() !== undefined, 'the report');
    const before = readings;
    for (let i = 0; i < 50; i++) node.report(named('flood'));
    await until(() => readings >= before + 50, 'all reports');
    expect(traffic()!.upstreams[0]!.name).to.equal('first');
    now += 250;
    node.report(named('later'));
    await until(() => traffic()!.upstreams[0]!.name === 'later', 'the next report');
  });

  it('of a node without a name are rejected', async () => {
    const node = raw(server.port, '');
    node.introduce();
    await until(() => node.ended !== '', 'the end of the stream');
    expect(node.ended).to.contain('node.id must be');
  });

  it('of more nodes than allowed are rejected', async () => {
    const small = await startServer({ maxNodes: 1 });
    closing.push(small);
    const [first, second] = [raw(small.port, 'a'), raw(small.port, 'b')];
    first.introduce();
    await until(() => first.responses.length === 1, 'the first node');
    second.introduce();
    await until(() => second.ended !== '', 'the end of the second stream');
    expect(second.ended).to.contain('more than 1 proxies');
    expect(first.ended).to.equal('');
  });

  it('of a node that connects again are accepted at the limit, and its old stream ends alone', async () => {
    const small = await startServer({ maxNodes: 1 });
    closing.push(small);
    const [old, again, other] = [raw(small.port, 'a'), raw(small.port, 'a'), raw(small.port, 'b')];
    old.introduce();
    await until(() => old.responses.length === 1, 'the node');
    again.introduce();
    await until(() => again.responses.length === 1, 'the node on its new stream');
    old.end();
    await until(() => old.ended !== '', 'the end of the old stream');
    other.introduce();
    await until(() => other.ended !== '', 'the end of the other stream');
    expect(other.ended).to.contain('more than 1 proxies');
    expect(again.ended).to.equal('');
  });

  it('on ever more streams of one node are rejected', async () => {
    const small = await startServer({ maxNodes: 2 });
    closing.push(small);
    const streams = Array.from({ length: 4 }, () => raw(small.port, 'a'));
    for (const each of streams) {
      each.introduce();
      await until(() => each.responses.length === 1, 'the node');
    }
    const further = raw(small.port, 'a');
    further.introduce();
    await until(() => further.ended !== '', 'the end of the further stream');
    expect(further.ended).to.contain('more than 2 proxies');
    streams[0]!.end();
    await until(() => streams[0]!.ended !== '', 'the end of a stream');
    const again = raw(small.port, 'a');
    again.introduce();
    await until(() => again.responses.length === 1, 'the node again');
  });
});
