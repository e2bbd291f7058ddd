import { expect } from 'chai';
import type { Endpoint, SnapshotUpstream } from '../../src/contract/snapshot.ts';
import { cluster } from '../../src/envoy/cluster.ts';
import { declaredCheckHost } from '../../src/upstream/check-host.ts';

const STATIC = { static: { hosts: [] } };
const endpoint = (address: string, parts: Partial<Endpoint> = {}): Endpoint => ({
  address,
  port: 80,
  weight: 1,
  ...parts,
});

describe('the default host of health checks', () => {
  for (const [title, spec, each, expected] of [
    ['a name', STATIC, endpoint('shop.example'), 'shop.example'],
    ['an address', STATIC, endpoint('10.0.0.1'), '10.0.0.1'],
    ['an IPv6 address', STATIC, endpoint('::1'), '[::1]'],
    ['a resolved name', STATIC, endpoint('10.0.0.1', { hostname: 'shop.example' }), 'shop.example'],
    ['a failover endpoint', { kube: {} }, endpoint('10.0.0.1', { priority: 1 }), '10.0.0.1'],
    ['a discovered endpoint', { kube: {} }, endpoint('10.0.0.1'), undefined],
    ['a Unix socket', STATIC, endpoint('/run/app.sock'), undefined],
  ] as const)
    it(`of ${title} is ${expected ?? 'that of the cluster'}`, () => {
      expect(declaredCheckHost({ spec }, each)).to.equal(expected);
    });

  for (const [title, check, expected] of [
    ['without a host', { httpHealthCheck: { path: '/' } }, '10.0.0.1'],
    ['with a host', { httpHealthCheck: { path: '/', host: 'own.example' } }, undefined],
    ['of gRPC', { grpcHealthCheck: {} }, '10.0.0.1'],
    ['of gRPC with an authority', { grpcHealthCheck: { authority: 'own.example' } }, undefined],
    ['of TCP', { tcpHealthCheck: {} }, undefined],
  ] as const)
    it(`has precedence for Envoy only over a check ${title}`, () => {
      const upstream = {
        name: 'u',
        ref: { name: 'u', namespace: 'n' },
        spec: { ...STATIC, healthChecks: [check] },
        endpoints: [endpoint('10.0.0.1')],
        tls: false,
      } as unknown as SnapshotUpstream;
      const text = JSON.stringify(cluster(upstream, {} as never));
      if (expected === undefined) expect(text).not.to.include('health_check_config');
      else expect(text).to.include(`"health_check_config":{"hostname":"${expected}"}`);
    });
});
