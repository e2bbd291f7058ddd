import { expect } from 'chai';
import { cluster, loadAssignment } from '../../src/envoy/cluster.ts';
import type { SnapshotUpstream } from '../../src/index.ts';

const CONTEXT = { secrets: { get: () => undefined }, services: {} };
const HTTP = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const upstream = (spec: object, ...endpoints: object[]) =>
  ({
    name: 'app',
    ref: { name: 'app', namespace: 'gw-system' },
    spec,
    endpoints,
    tls: false,
  }) as unknown as SnapshotUpstream;
const at = (address: string, more: object = {}) => ({ address, port: 80, weight: 1, ...more });

describe('a cluster of an Envoy', () => {
  it('receives its endpoints apart, unless they have names', () => {
    expect(cluster(upstream({}, at('10.0.0.1')), CONTEXT))
      .to.include({ type: 'EDS' })
      .and.not.have.property('load_assignment');
    const named = cluster(upstream({}, at('a.test')), CONTEXT);
    expect(named).to.include({ type: 'STRICT_DNS' }).and.not.have.property('eds_cluster_config');
  });

  it('has endpoints by priority and locality, with weights that Envoy accepts', () => {
    const locality = { region: 'r', zone: 'z', subZone: '' };
    const { endpoints }: any = loadAssignment(
      upstream({}, at('10.0.0.1', { weight: 0 }), at('10.0.0.2', { priority: 1, locality }), at('10.0.0.3')),
      CONTEXT,
    );
    const shown = endpoints.map(({ priority = 0, lb_endpoints: hosts }: any) => [
      priority,
      hosts.map(({ load_balancing_weight: weight }: any) => weight),
    ]);
    expect(shown).to.deep.equal([
      [0, [1, 1]],
      [1, [1]],
    ]);
  });

  it('does not limit streams if the limit is 0', () => {
    const streams = (maxConcurrentStreams: number): unknown => {
      const options: any = cluster(upstream({ useHttp2: true, maxConcurrentStreams }, at('10.0.0.1')), CONTEXT);
      const { explicit_http_config: config } = options.typed_extension_protocol_options[HTTP];
      return config.http2_protocol_options.max_concurrent_streams;
    };
    expect([streams(7), streams(0)]).to.deep.equal([7, undefined]);
  });
});
