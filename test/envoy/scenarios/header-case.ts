import { ask, post, type Group } from '../scenario.ts';

export const headerCase: readonly Group[] = [
  {
    name: 'properCaseHeaderKeyFormat of the upstream',
    ours: { upstream: { connectionConfig: { http1ProtocolOptions: { properCaseHeaderKeyFormat: true } } } },
    envoy: {
      cluster: {
        typed_extension_protocol_options: {
          'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
            '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
            explicit_http_config: {
              http_protocol_options: { header_key_format: { proper_case_words: {} } },
            },
          },
        },
      },
    },
    cases: {
      'changes names': { request: ask('GET /', ['x-a: b: c', 'X-UPPER-b: 1', 'x.y_z: 1', 'x1a-2b: 1']), ordered: true },
      'changes names of a request with a body': { request: post('/', 'x-a: 1', ['content-type: a/b']), ordered: true },
    },
  },
];
