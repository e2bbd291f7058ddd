import { ask, envoyType, post, reply, type Group } from '../scenario.ts';

const upstreamCase = (format: object): object => ({
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http_protocol_options: { header_key_format: format } },
    },
  },
});

const PROPER = { proper_case_words: {} };
const PRESERVE = {
  stateful_formatter: {
    name: 'preserve_case',
    typed_config: envoyType('http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig'),
  },
};

export const headerCase: readonly Group[] = [
  {
    name: 'properCaseHeaderKeyFormat of the upstream',
    ours: { upstream: { connectionConfig: { http1ProtocolOptions: { properCaseHeaderKeyFormat: true } } } },
    envoy: {
      cluster: upstreamCase(PROPER),
    },
    cases: {
      'changes names': { request: ask('GET /', ['x-a: b: c', 'X-UPPER-b: 1', 'x.y_z: 1', 'x1a-2b: 1']), ordered: true },
      'changes names of a request with a body': { request: post('/', 'x-a: 1', ['content-type: a/b']), ordered: true },
    },
  },
  {
    name: 'properCaseHeaderKeyFormat of the listener',
    ours: { listener: { httpConnectionManagerSettings: { properCaseHeaderKeyFormat: true } } },
    envoy: { manager: { http_protocol_options: { header_key_format: PROPER } } },
    cases: {
      'changes names of responses': {
        request: ask('GET /', ['X-UPPER-b: 1']),
        upstream: [reply('200 OK', ['x-a: b: c', 'X-UPPER-b: 1', 'content-type: a/b'], 'ok')],
        ordered: true,
      },
    },
  },
  {
    name: 'preserveCaseHeaderKeyFormat of both sides',
    ours: {
      listener: { httpConnectionManagerSettings: { preserveCaseHeaderKeyFormat: true } },
      upstream: { connectionConfig: { http1ProtocolOptions: { preserveCaseHeaderKeyFormat: true } } },
    },
    envoy: {
      manager: { http_protocol_options: { header_key_format: PRESERVE } },
      cluster: upstreamCase(PRESERVE),
    },
    cases: {
      'keeps names': {
        request: ask('GET /', ['X-Camel: 1', 'x-UPPER-b: 1', 'x-lower: 1']),
        upstream: [reply('200 OK', ['X-Camel: 1', 'x-UPPER-b: 1'], 'ok')],
        ordered: true,
      },
    },
  },
  {
    name: 'preserveCaseHeaderKeyFormat of the listener alone',
    ours: { listener: { httpConnectionManagerSettings: { preserveCaseHeaderKeyFormat: true } } },
    envoy: { manager: { http_protocol_options: { header_key_format: PRESERVE } } },
    cases: { 'keeps names of requests': { request: ask('GET /', ['X-Camel: 1', 'x-UPPER-b: 1']), ordered: true } },
  },
  {
    name: 'preserveCaseHeaderKeyFormat of the listener, properCaseHeaderKeyFormat of the upstream',
    ours: {
      listener: { httpConnectionManagerSettings: { preserveCaseHeaderKeyFormat: true } },
      upstream: { connectionConfig: { http1ProtocolOptions: { properCaseHeaderKeyFormat: true } } },
    },
    envoy: {
      manager: { http_protocol_options: { header_key_format: PRESERVE } },
      cluster: upstreamCase(PROPER),
    },
    cases: { 'keeps names': { request: ask('GET /', ['X-Camel: 1', 'x-UPPER-b: 1']), ordered: true } },
  },
];
