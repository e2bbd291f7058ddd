import { expect } from 'chai';
import { encodeMessage, encodeTyped, fieldOf } from '../../src/envoy/protobuf.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const hex = (bytes: Buffer): string => bytes.toString('hex');

describe('messages of Envoy', () => {
  it('are encoded from their JSON form', () => {
    // name = 1, type = 2 (STRICT_DNS = 1), connect_timeout = 4 with seconds = 1 and nanos = 500000000.
    expect(hex(encodeMessage(CLUSTER, { name: 'a', type: 'STRICT_DNS', connect_timeout: '1.500s' }))).to.equal(
      '0a01611001220808011080cab5ee01',
    );
  });

  it('may contain wrapped numbers, structs, maps and messages of any type', () => {
    const bytes = encodeTyped({
      '@type': `type.googleapis.com/${CLUSTER}`,
      name: 'a',
      per_connection_buffer_limit_bytes: 7,
      metadata: { filter_metadata: { a: { b: [1, 'c', true, null] } } },
      transport_socket: {
        name: 's',
        typed_config: { '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer' },
      },
    });
    expect(bytes.toString('latin1')).to.contain('transport_sockets.raw_buffer.v3.RawBuffer');
    expect(hex(bytes)).to.contain('2a020807');
  });

  const cases: readonly (readonly [what: string, message: object, error: string])[] = [
    ['an unknown field', { nam: 'a' }, 'envoy.config.cluster.v3.Cluster: unknown field nam'],
    ['an unknown value', { type: 'NONE' }, 'envoy.config.cluster.v3.Cluster.type: unknown value NONE'],
    ['an invalid duration', { connect_timeout: '1m' }, 'connect_timeout: invalid duration 1m'],
    ['a list in place of a message', { load_assignment: [] }, 'load_assignment must be an object'],
    ['a message in place of a list', { health_checks: {} }, 'health_checks must be a list'],
    ['an inner unknown field', { load_assignment: { a: 1 } }, 'load_assignment: unknown field a'],
    ['a message without a type', { transport_socket: { name: 'a', typed_config: {} } }, '@type is missing'],
    [
      'a message of an unknown type',
      { transport_socket: { name: 'a', typed_config: { '@type': 'type.googleapis.com/none.None' } } },
      'none.None',
    ],
  ];
  for (const [what, message, error] of cases)
    it(`are rejected with ${what}`, () => {
      expect(() => encodeMessage(CLUSTER, message as Record<string, unknown>)).to.throw(error);
    });

  it('can be assembled from encoded messages', () => {
    const type = 'envoy.config.route.v3.RouteConfiguration';
    const host = { name: 'a', domains: ['*'] };
    const whole = encodeMessage(type, { name: 'r', virtual_hosts: [host, host] });
    const bytes = encodeMessage('envoy.config.route.v3.VirtualHost', host);
    const field = fieldOf(2, bytes);
    expect(Buffer.concat([encodeMessage(type, { name: 'r' }), field, field])).to.deep.equal(whole);
  });

  const regex = (text: string) => ['envoy.type.matcher.v3.RegexMatcher', { regex: text }] as const;
  const header = (value: string) =>
    ['envoy.config.core.v3.HeaderValueOption', { header: { key: 'a', value } }] as const;
  const JWT = 'envoy.extensions.filters.http.jwt_authn.v3.JwtProvider';
  for (const [what, [type, message], error] of [
    ['a text that is too short', regex(''), "RegexMatcher.regex: '' is too short: at least 1 characters"],
    ['a text that is missing', [CLUSTER, { type: 'STATIC' }], 'Cluster: name is missing'],
    ['a text that is too long', header('a'.repeat(16_385)), 'value: a text is too long: at most 16384 bytes'],
    ['a line break in a header', header('a\nb'), 'value: the value contains characters that are not allowed'],
    ['a header without a name', ['envoy.config.core.v3.HeaderValue', { value: 'a' }], 'HeaderValue: key is missing'],
    ['a duration that is too short', [CLUSTER, { name: 'a', connect_timeout: '0s' }], '0s is too small'],
    [
      'a number that is too large',
      ['envoy.config.core.v3.SocketAddress', { address: 'a', port_value: 65_536 }],
      '65536 is too large',
    ],
    [
      'an empty list',
      ['envoy.config.route.v3.VirtualHost', { name: 'a', domains: [] }],
      'domains: fewer than 1 entries',
    ],
    ['a list that is missing', ['envoy.config.route.v3.VirtualHost', { name: 'a' }], 'VirtualHost: domains is missing'],
    ['none of several fields', [JWT, { issuer: 'a' }], 'jwks_source_specifier is missing: remote_jwks or local_jwks'],
    [
      'a message that is missing',
      ['envoy.config.route.v3.Route', { route: { cluster: 'a' } }],
      'Route: match is missing',
    ],
    ['an expression of another syntax', regex('a(?=b)'), 'invalid regular expression'],
    ['a code point beyond bytes', regex('\\x{100}'), 'does not accept the escape in \\x{100}'],
    ['an unknown operator', header('%REQ(a?b?c)%'), '%REQ(a?b?c)% is not an operator of Envoy'],
    [
      'weights that are too large together',
      [
        'envoy.config.route.v3.WeightedCluster',
        {
          clusters: [
            { name: 'a', weight: 4_294_967_295 },
            { name: 'b', weight: 1 },
          ],
        },
      ],
      'the sum of the weights is above 4294967295',
    ],
    ['a long socket path', ['envoy.config.core.v3.Pipe', { path: `/${'a'.repeat(107)}` }], 'more than 107 bytes'],
  ] as const)
    it(`are rejected, as by Envoy, for ${what}`, () => {
      expect(() => encodeMessage(type, message)).to.throw(error);
    });

  for (const [type, message] of [
    regex('/a\\x{ff}.*'),
    header(''),
    header('%REQ(:path):5% 100%%'),
    [JWT, { remote_jwks: { http_uri: { uri: 'a', cluster: 'b', timeout: '5s' } } }],
    ['envoy.config.core.v3.Pipe', { path: '/run/app.sock' }],
  ] as const)
    it(`are accepted: ${JSON.stringify(message)}`, () => {
      expect(() => encodeMessage(type, message)).to.not.throw();
    });
});
