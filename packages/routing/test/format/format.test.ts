import { expect } from 'chai';
import {
  ARGUMENT_OPERATORS,
  LOG_OPERATORS,
  PLAIN_OPERATORS,
  RESPONSE_ARGUMENT_OPERATORS,
  RESPONSE_OPERATORS,
} from '@edge-gateway/core';
import { WITHOUT_VALUE, OPERATOR_NAMES } from '../../src/format/operators.ts';
import { compileFormat, fill } from '../../src/format/format.ts';
import { formatTime } from '../../src/format/time.ts';
import { recordOf } from '../records.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';
const RECORD = recordOf({
  headers: [
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
  responseHeaders: ['Content-Type', 'text/plain', 'location', `https://id.example/end?id_token_hint=${TOKEN}&x=1`],
  path: '/v1/a?code=secret&x=1',
  originalPath: '/a?code=secret&x=1',
  metadata: new Map([['ns', { user: { name: 'ann' } }]]),
  flags: 'UF',
});

const TABLE: readonly (readonly [format: string, filled: string])[] = [
  ['plain', 'plain'],
  ['100%%', '100%'],
  ['%REQ(X-A)%', '1234567890'],
  ['%REQ(X-A):4%', '1234'],
  ['%REQ(X-B?X-A):2%|%REQ(X-B)%', '12|-'],
  ['%REQ(:METHOD)% %REQ(:AUTHORITY)%', 'GET a.example'],
  ['%RESP(content-type)%', 'text/plain'],
  ['%RESPONSE_CODE% %RESPONSE_FLAGS% %DURATION%', '200 UF 12'],
  ['%RESPONSE_FLAGS_LONG%', 'UpstreamConnectionFailure'],
  ['%RESPONSE_CODE_DETAILS%', '-'],
  ['%PROTOCOL% %UPSTREAM_HOST% %UPSTREAM_CLUSTER% %ROUTE_NAME%', 'HTTP/1.1 10.0.0.4:80 up_gw-system r'],
  ['%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT% %DOWNSTREAM_DIRECT_REMOTE_ADDRESS%', '10.0.0.1 10.0.0.2:1234'],
  ['%GRPC_STATUS% %TRAILER(x)% %CONNECTION_ID%', '- - -'],
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
    it(`fills ${format}`, () => expect(fill(compileFormat(format, 'log'), RECORD, '-')).to.equal(filled));
  }

  for (const [path, shown] of [
    [`/a?x=1&jwt=${TOKEN}`, '/a?x=1&jwt=[redacted]'],
    [`/a?jwt=%65${TOKEN.slice(1)}`, '/a?jwt=[redacted]'],
    [`/a?${TOKEN}`, '/a?[redacted]'],
    ['/a?%61ccess_token=opaque&y', '/a?%61ccess_token=[redacted]&y'],
    ['/a?ACCESS_TOKEN=opaque&&=&%=%&q=a.b.c?code=1', '/a?ACCESS_TOKEN=[redacted]&&=&%=%&q=a.b.c?code=1'],
    ['/eyes.of.the?key=eye.s.open', '/eyes.of.the?key=eye.s.open'],
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
    expect([...WITHOUT_VALUE]).to.deep.equal(LOG_OPERATORS);
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
