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
