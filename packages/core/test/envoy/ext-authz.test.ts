import { expect } from 'chai';
import { extAuthz, extAuthzPerRoute } from '../../src/envoy/ext-authz.ts';

describe('external auth in a configuration dump', () => {
  it('shows a server over gRPC', () => {
    const extauth = {
      extauthzServerRef: { name: 'auth', namespace: 'inner' },
      grpcService: { authority: 'auth.example.com' },
      statPrefix: 'main',
      requestTimeout: '1s',
    };
    expect(extAuthz({ extauth }, {})).to.deep.include({
      transport_api_version: 'V3',
      stat_prefix: 'main',
      grpc_service: { envoy_grpc: { cluster_name: 'auth_inner', authority: 'auth.example.com' }, timeout: '1s' },
    });
  });

  it('shows a server over HTTP, without the values of added headers', () => {
    const extauth = {
      extauthzServerRef: { name: 'auth' },
      httpService: {
        pathPrefix: '/check/',
        request: { allowedHeaders: ['X-A'], allowedHeadersRegex: ['x-.*'], headersToAdd: { 'x-key': 'MARKER' } },
        response: { allowedUpstreamHeaders: ['x-user'], allowedClientHeaders: ['x-why'] },
      },
    };
    const filter = extAuthz({ extauth }, {});
    expect(filter).to.deep.include({
      http_service: {
        server_uri: { uri: 'http://auth_gw-system', cluster: 'auth_gw-system', timeout: '0.200s' },
        path_prefix: '/check',
        authorization_request: {
          allowed_headers: { patterns: [{ exact: 'x-a' }, { safe_regex: { regex: 'x-.*' } }] },
          headers_to_add: [{ key: 'x-key', value: '[redacted]' }],
        },
        authorization_response: {
          allowed_upstream_headers: { patterns: [{ exact: 'x-user' }] },
          allowed_client_headers: { patterns: [{ exact: 'x-why' }] },
        },
      },
    });
    expect(filter).to.not.have.property('grpc_service');
  });

  it('shows the context extensions of a level', () => {
    expect(extAuthzPerRoute({ customAuth: { contextExtensions: { team: 'a' } } })).to.deep.include({
      check_settings: { context_extensions: { team: 'a' } },
    });
    expect(extAuthzPerRoute({ customAuth: {}, disable: true })).to.deep.include({ disabled: true });
  });
});

describe('external auth of Envoys', () => {
  it('is the role extauth, which fails closed and sees the certificate and the claims of a client', () => {
    expect(extAuthz({}, { services: {} })).to.deep.equal({
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz',
      transport_api_version: 'V3',
      grpc_service: { envoy_grpc: { cluster_name: 'edge-gateway.extauth' }, timeout: '10s' },
      status_on_error: { code: 403 },
      include_peer_certificate: true,
      include_tls_session: true,
      metadata_context_namespaces: ['envoy.filters.http.jwt_authn'],
    });
    const open = extAuthz({ extauth: { failureModeAllow: true, statusOnError: 503 } }, { services: {} });
    expect(open).to.deep.include({ failure_mode_allow: true, status_on_error: { code: 503 } });
  });
});
