import { expect } from 'chai';
import { downstreamTls, requiresClientCertificate, upstreamTls } from '../../src/envoy/tls.ts';
import type { SnapshotUpstream } from '../../src/index.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };
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

describe('TLS of an Envoy', () => {
  const ref = { name: 'pair', namespace: 'gw-system' };
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const holding = (...names: readonly string[]) => ({
    secrets: {
      get: () => ({ type: 'kubernetes.io/tls', data: Object.fromEntries(names.map((name) => [name, base64('x')])) }),
    },
    services: {},
  });
  const clientTls = (config: object, ...names: readonly string[]): any =>
    (downstreamTls({ secretRef: ref, ...config }, holding('tls.crt', 'tls.key', ...names)) as any).typed_config;
  const app = (spec: object = {}, endpoints: object[] = [{ address: '10.0.0.1', port: 443 }]) =>
    ({ name: 'app', ref, spec, endpoints, tls: true }) as unknown as SnapshotUpstream;
  const serverTls = (upstream: SnapshotUpstream, ...names: readonly string[]): any =>
    (upstreamTls(upstream, holding(...names)) as any).typed_config;
  const names = (san_type: string, ...exact: readonly string[]) => ({
    match_typed_subject_alt_names: exact.map((each) => ({ san_type, matcher: { exact: each } })),
  });

  it('requires a certificate of clients if it has roots, unless it is one-way', () => {
    expect(clientTls({})).to.not.have.property('require_client_certificate');
    const mutual = clientTls({ verifySubjectAltName: ['me'] }, 'ca.crt');
    expect(mutual.require_client_certificate).to.equal(true);
    expect(mutual.common_tls_context.combined_validation_context).to.deep.equal({
      default_validation_context: names('DNS', 'me'),
      validation_context_sds_secret_config: { name: 'gw-system.pair.ca', sds_config: ADS },
    });
    const oneWay = clientTls({ oneWayTls: true }, 'ca.crt');
    expect(oneWay).to.not.have.property('require_client_certificate');
    expect(oneWay.common_tls_context).to.not.have.property('combined_validation_context');
    expect(requiresClientCertificate({ secretRef: ref, oneWayTls: true }, holding('ca.crt'))).to.equal(false);
    expect(requiresClientCertificate({ secretRef: ref }, holding('ca.crt'))).to.equal(true);
  });

  it('offers HTTP/2 to clients by default', () => {
    const offered = (config: object) => clientTls(config).common_tls_context.alpn_protocols;
    expect(offered({})).to.deep.equal(['h2', 'http/1.1']);
    expect(offered({ alpnProtocols: ['http/1.1', 'allow_empty'] })).to.deep.equal(['http/1.1']);
  });

  it('compares certificates of upstreams with names or addresses, by the roots of the system without others', () => {
    const validated = (upstream: SnapshotUpstream) => serverTls(upstream).common_tls_context.validation_context;
    const system = { system_root_certs: {} };
    expect(validated(app())).to.deep.equal({ ...system, ...names('IP_ADDRESS', '10.0.0.1') });
    const named = app({ static: {} }, [{ address: 'app.test', port: 443 }]);
    expect(validated(named)).to.deep.equal({ ...system, ...names('DNS', 'app.test') });
    expect(serverTls(named).sni).to.equal('app.test');
    expect(validated(app({ sslConfig: { sni: 'b.test' } }))).to.deep.equal({ ...system, ...names('DNS', 'b.test') });
    const given = app({ sslConfig: { sni: 'b.test', verifySubjectAltName: ['c.test'] } });
    expect(validated(given)).to.deep.equal({ ...system, ...names('DNS', 'c.test') });
    expect(upstreamTls({ ...app(), tls: false }, holding())).to.equal(undefined);
  });

  it('shows its own certificate to upstreams, unless it is one-way', () => {
    const shown = (sslConfig: object) =>
      serverTls(app({ sslConfig: { secretRef: ref, ...sslConfig } }), 'tls.crt', 'tls.key', 'ca.crt')
        .common_tls_context;
    expect(shown({}).tls_certificate_sds_secret_configs).to.deep.equal([{ name: 'gw-system.pair', sds_config: ADS }]);
    expect(shown({ oneWayTls: true })).to.not.have.any.keys('tls_certificate_sds_secret_configs');
    expect(shown({ oneWayTls: true }).combined_validation_context.validation_context_sds_secret_config.name).to.equal(
      'gw-system.pair.ca',
    );
  });
});
