import { expect } from 'chai';
import type { Secrets } from '../../src/index.ts';
import { healthCheck, outlierDetection } from '../../src/envoy/cluster-health.ts';

const secrets: Secrets = {
  get: () => ({ type: 'Opaque', data: { 'x-key': Buffer.from('s3cret').toString('base64') } }),
};

describe('health checks in the configuration dump', () => {
  it('have the names of Envoy, and no value of a secret', () => {
    const dumped = healthCheck(
      {
        timeout: '1s',
        interval: '250ms',
        healthyThreshold: 2,
        unhealthyThreshold: 3,
        httpHealthCheck: {
          path: '/health?token=s3cret',
          method: 'HEAD',
          serviceName: 'shop',
          useHttp2: true,
          expectedStatuses: [{ start: 200, end: 300 }],
          requestHeadersToAdd: [{ headerSecretRef: { name: 'key', namespace: 'gw-system' } }],
        },
      },
      { secrets },
    );
    expect(dumped).to.deep.include({
      timeout: '1s',
      interval: '0.250s',
      healthy_threshold: 2,
      unhealthy_threshold: 3,
    });
    expect(dumped['http_health_check']).to.deep.include({
      path: '/health?token=[redacted]',
      method: 'HEAD',
      service_name_matcher: { prefix: 'shop' },
      codec_client_type: 'HTTP2',
      expected_statuses: [{ start: '200', end: '300' }],
    });
    expect(JSON.stringify(dumped)).to.contain('x-key').and.not.contain('s3cret');
  });

  it('describe TCP and gRPC', () => {
    expect(
      healthCheck({ tcpHealthCheck: { send: { text: '00' }, receive: [{ text: '01' }] } }, { secrets }),
    ).to.deep.equal({
      tcp_health_check: { send: { text: '00' }, receive: [{ text: '01' }] },
    });
    const metadata = [{ header: { key: 'authorization', value: 'Bearer s3cret' } }];
    const grpc = healthCheck({ grpcHealthCheck: { serviceName: 'a', initialMetadata: metadata } }, { secrets });
    expect(grpc['grpc_health_check']).to.deep.include({ service_name: 'a' });
    expect(JSON.stringify(grpc)).to.contain('authorization').and.not.contain('s3cret');
  });

  it('describe outlier detection', () => {
    const block = {
      interval: '10s',
      baseEjectionTime: '30s',
      consecutive5xx: 3,
      enforcingConsecutive5xx: 50,
      maxEjectionPercent: 20,
    };
    expect(outlierDetection(block)).to.deep.equal({
      interval: '10s',
      base_ejection_time: '30s',
      consecutive_5xx: 3,
      enforcing_consecutive_5xx: 50,
      max_ejection_percent: 20,
    });
  });
});
