import { expect } from 'chai';
import { encodeMessage, encodeTyped, embedded } from '../../src/envoy/protobuf.ts';

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
    expect(embedded(encodeMessage(type, { name: 'r' }), 2, [bytes, bytes])).to.deep.equal(whole);
  });
});
