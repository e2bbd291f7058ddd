import { expect } from 'chai';
import { downstreamTls } from '../../src/envoy/tls.ts';

const secrets = { get: () => undefined };

/** The source of the certificate in the configuration of Envoy. */
function sourceOf(sds: object): unknown {
  const sslConfig = { sds: { ...sds, certificatesSecretName: 'pair', validationContextName: 'roots' } };
  const socket = downstreamTls(sslConfig, { secrets }) as any;
  const { tls_certificate_sds_secret_configs: certificates, combined_validation_context: context } =
    socket.typed_config.common_tls_context;
  expect(certificates.map(({ name }: { name: string }) => name)).to.deep.equal(['pair']);
  expect(context.validation_context_sds_secret_config).to.deep.equal({ ...certificates[0], name: 'roots' });
  return certificates[0].sds_config;
}

describe('TLS in the configuration dump', () => {
  const server = (service: object) => ({
    api_config_source: { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: [service] },
    resource_api_version: 'V3',
  });
  const callCredentials = { fileCredentialSource: { tokenFileName: '/run/token' } };
  const cases: [sds: object, source: object][] = [
    [
      { targetUri: 'file:///etc/sds.yaml' },
      { path_config_source: { path: '/etc/sds.yaml' }, resource_api_version: 'V3' },
    ],
    [{}, server({ envoy_grpc: { cluster_name: 'gateway_proxy_sds' } })],
    [{ clusterName: 'sds_gw-system' }, server({ envoy_grpc: { cluster_name: 'sds_gw-system' } })],
    [
      { targetUri: 'unix:/run/sds.sock', callCredentials },
      server({ google_grpc: { target_uri: 'unix:/run/sds.sock', stat_prefix: 'sds' } }),
    ],
  ];
  for (const [sds, source] of cases) {
    it(`contains the source of certificates of ${JSON.stringify(sds)}`, () => {
      expect(sourceOf(sds)).to.deep.equal(source);
    });
  }
});
