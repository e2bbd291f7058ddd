import { expect } from 'chai';
import {
  ARGUMENT_OPERATORS,
  LOG_OPERATORS,
  PLAIN_OPERATORS,
  RESPONSE_ARGUMENT_OPERATORS,
  RESPONSE_OPERATORS,
  toByteString,
} from '@edge-gateway/core';
import { OPERATOR_NAMES } from '../../src/format/operators.ts';
import { LOG_PLAIN, LOG_WITH_ARGUMENT } from '../../src/format/log-operators.ts';
import { compileFormat, fill } from '../../src/format/format.ts';
import { formatTime } from '../../src/format/time.ts';
import { recordOf } from '../records.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';
const RECORD = recordOf({
  headers: [
    'x-city',
    toByteString('Zürich'),
    'x-a',
    '1234567890',
    'cookie',
    'secret',
    'authorization',
    'Bearer secret',
    'api-key',
    'secret',
    'jwt',
    TOKEN,
    'x-token',
    `Bearer ${TOKEN}`,
    'referer',
    'https://a.example/?state=1&code=secret',
  ],
  responseHeaders: [
    'Content-Type',
    'text/plain',
    'grpc-status',
    '3',
    'location',
    `https://id.example/end?id_token_hint=${TOKEN}&x=1`,
  ],
  responseTrailers: ['X-Sum', 'abc', 'jwt', TOKEN],
  path: '/v1/a?code=secret&x=1',
  originalPath: '/a?code=secret&x=1',
  metadata: new Map([['ns', { user: { name: 'ann' } }]]),
  flags: 'UF',
  termination: 'connection_limit',
  localBody: 'no healthy upstream',
  trace: { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', sampled: true },
});
const ENV = { REGION: 'eu' };

const TABLE: readonly (readonly [format: string, filled: string])[] = [
  ['plain', 'plain'],
  ['100%%', '100%'],
  ['%REQ(X-A)%', '1234567890'],
  ['%REQ(X-A):4%', '1234'],
  ['%REQ(X-B?X-A):2%|%REQ(X-B)%', '12|-'],
  ['%REQ(:METHOD)% %REQ(:AUTHORITY)%', 'GET a.example'],
  ['→ %REQ(X-CITY):3% %REQ(X-CITY)%', '→ Zür Zürich'],
  ['%RESP(content-type)%', 'text/plain'],
  ['%RESPONSE_CODE% %RESPONSE_FLAGS% %DURATION%', '200 UF 12'],
  ['%RESPONSE_FLAGS_LONG%', 'UpstreamConnectionFailure'],
  ['%RESPONSE_CODE_DETAILS%', '-'],
  ['%PROTOCOL% %UPSTREAM_HOST% %UPSTREAM_CLUSTER% %ROUTE_NAME%', 'HTTP/1.1 10.0.0.4:80 up_gw-system r'],
  ['%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT% %DOWNSTREAM_DIRECT_REMOTE_ADDRESS%', '10.0.0.1 10.0.0.2:1234'],
  ['%TRAILER(X-SUM)% %TRAILER(A?X-SUM):2% %TRAILER(JWT)% %TRAILER(B)%', 'abc ab [redacted] -'],
  ['%TRAILER% %FILTER_STATE(a:PLAIN)% %CLUSTER_METADATA(a:b)%', '- - -'],
  ['%GRPC_STATUS% %GRPC_STATUS(SNAKE_STRING)% %GRPC_STATUS_NUMBER%', 'InvalidArgument INVALID_ARGUMENT 3'],
  ['%CONNECTION_ID% %CONNECTION_TERMINATION_DETAILS%', '7 connection_limit'],
  ['%TRACE_ID% %SPAN_ID%', '0af7651916cd43dd8448eb211c80319c b7ad6b7169203331'],
  ['%ENVIRONMENT(REGION)% %ENVIRONMENT(REGION):1% %ENVIRONMENT(OTHER)% %ENVIRONMENT(toString)%', 'eu e - -'],
  ['%LOCAL_REPLY_BODY%', 'no healthy upstream'],
  ['%COMMON_DURATION(DS_RX_BEG:US_TX_BEG:us)% %COMMON_DURATION(US_TX_BEG:US_RX_BEG)%', '1500 10'],
  ['%COMMON_DURATION(DS_RX_BEG:DS_RX_END:us)% %COMMON_DURATION(DS_RX_BEG:US_RX_BEG)%', '600 12'],
  ['%REQUEST_DURATION% %RESPONSE_DURATION% %RESPONSE_TX_DURATION%', '1 12 1'],
  ['%UPSTREAM_LOCAL_ADDRESS%', '10.0.0.5:40000'],
  ['%COMMON_DURATION(DS_TX_END:DS_RX_BEG)% %COMMON_DURATION(X:Y:ms)%', '- -'],
  ['%DOWNSTREAM_PEER_SUBJECT% %DOWNSTREAM_PEER_CERT% %DOWNSTREAM_PEER_URI_SAN%', '- - -'],
  ['%START_TIME%', '2026-01-02T03:04:05.678Z'],
  ['%START_TIME(%Y/%m/%d %H:%M:%S.%3f %s)%', '2026/01/02 03:04:05.678 1767323045'],
  ['%DYNAMIC_METADATA(ns:user:name)% %DYNAMIC_METADATA(ns:user)% %DYNAMIC_METADATA(x)%', 'ann {"name":"ann"} -'],
  ['%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%', '/a?code=[redacted]&x=1'],
  ['%REQ(:PATH)%', '/v1/a?code=[redacted]&x=1'],
  ['%REQ(JWT)% %REQ(X-TOKEN)% %REQ(API-KEY)%', '[redacted] [redacted] [redacted]'],
  ['%REQ(REFERER)%', 'https://a.example/?state=1&code=[redacted]'],
  ['%RESP(LOCATION)%', 'https://id.example/end?id_token_hint=[redacted]&x=1'],
  ['%REQ(Cookie)% %REQ(X-B?AUTHORIZATION)% %REQ(PROXY-AUTHORIZATION)%', '[redacted] [redacted] -'],
];

describe('format', () => {
  for (const [format, filled] of TABLE) {
    it(`fills ${format}`, () => expect(fill(compileFormat(format, 'log', ENV), RECORD, '-')).to.equal(filled));
  }

  for (const [path, shown] of [
    [`/a?x=1&jwt=${TOKEN}`, '/a?x=1&jwt=[redacted]'],
    [`/a?jwt=%65${TOKEN.slice(1)}`, '/a?jwt=[redacted]'],
    [`/a?${TOKEN}`, '/a?[redacted]'],
    ['/a?%61ccess_token=opaque&y', '/a?%61ccess_token=[redacted]&y'],
    ['/a?ACCESS_TOKEN=opaque&&=&%=%&q=a.b.c?code=1', '/a?ACCESS_TOKEN=[redacted]&&=&%=%&q=a.b.c?code=1'],
    ['/eyes.of.the?eye=eye.s.open', '/eyes.of.the?eye=eye.s.open'],
  ] as const) {
    it(`shows ${path.slice(0, 24)} without tokens`, () => {
      expect(fill(compileFormat('%REQ(:PATH)%', 'log'), recordOf({ path }), '-')).to.equal(shown);
    });
  }

  for (const bad of ['%NOPE%', '%REQ%', '%RESPONSE_CODE(x)%', '50%', '%REQ(a%', '%toString(a)%', '%constructor%']) {
    it(`rejects ${bad}`, () => {
      expect(() => compileFormat(bad, 'log'))
        .to.throw('unknown operator')
        .with.property('code', 'ERR_ROUTING_OPTION');
    });
  }

  it('supports the operators that validation allows in headers, and no others', () => {
    const argued = (names: readonly string[]): string[] => names.map((name) => `${name}(a:b)`);
    const requests = [...PLAIN_OPERATORS, ...argued(ARGUMENT_OPERATORS)];
    const responses = [...RESPONSE_OPERATORS, ...argued(RESPONSE_ARGUMENT_OPERATORS)];
    for (const operator of requests) compileFormat(`%${operator}%`, 'request');
    for (const operator of [...requests, ...responses]) compileFormat(`%${operator}%`, 'response');
    const names = [...requests, ...responses].map((operator) => operator.replace('(a:b)', ''));
    expect([...new Set(names)].sort()).to.deep.equal(OPERATOR_NAMES);
  });

  it('supports the additional operators that validation allows in logs, and no others', () => {
    for (const name of LOG_OPERATORS) compileFormat(`%${name}% %${name}(a:b)%`, 'log');
    const own = [...Object.keys(LOG_PLAIN), ...Object.keys(LOG_WITH_ARGUMENT)];
    expect(LOG_OPERATORS).to.include.members(own);
  });

  it('omits long flags if there are none', () => {
    expect(fill(compileFormat('%RESPONSE_FLAGS_LONG%', 'log'), recordOf({ flags: '' }), '-')).to.equal('-');
  });

  it('shows a path to the upstream unchanged', () => {
    expect(fill(compileFormat('%REQ(:PATH)%', 'request'), RECORD, '')).to.equal('/v1/a?code=secret&x=1');
  });

  it('leaves unknown letters of a time alone', () => {
    expect(formatTime(0, '%Q %b %e %F %T %%')).to.equal('%Q Jan  1 1970-01-01 00:00:00 %');
  });
});
