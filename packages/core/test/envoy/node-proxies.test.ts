import { expect } from 'chai';
import { handedOverListener, nodeCluster, nodeTcpCluster } from '../../src/envoy/node-proxies.ts';
import type { Listener } from '../../src/index.ts';

const listener = (more: object = {}) =>
  ({ name: 'l', bindAddress: '::', bindPort: 8443, ssl: false, options: {}, ...more }) as unknown as Listener;
const innerOf = ({ transport_socket: socket }: any): any => {
  expect(socket.name).to.equal('envoy.transport_sockets.upstream_proxy_protocol');
  expect(socket.typed_config.config).to.deep.equal({ version: 'V2' });
  return socket.typed_config.transport_socket;
};

describe('Node proxies behind an Envoy', () => {
  it('receive the address of the client', () => {
    const plain = nodeCluster(listener(), 'nodes.test', []);
    expect(plain).to.include({ name: 'edge-gateway.node-proxies.8443', type: 'STRICT_DNS' });
    for (const cluster of [plain, nodeTcpCluster(listener(), '10.0.0.1')])
      expect(innerOf(cluster).name).to.equal('envoy.transport_sockets.raw_buffer');
  });

  it('have one of the certificates of the listener', () => {
    const inner = innerOf(nodeCluster(listener({ ssl: true }), 'nodes.test', ['ab', 'cd']));
    expect(inner.name).to.equal('envoy.transport_sockets.tls');
    expect(inner.typed_config.common_tls_context).to.deep.equal({
      validation_context: { verify_certificate_hash: ['ab', 'cd'] },
    });
  });

  it('receive whole listeners as connections, with the address in a PROXY header', () => {
    const message: any = handedOverListener(listener({ useProxyProto: true }));
    expect(message.filter_chains[0].filters[0].typed_config.cluster).to.equal('edge-gateway.node-proxies.tcp-8443');
    expect(message.listener_filters.map(({ name }: { name: string }) => name)).to.deep.equal([
      'envoy.filters.listener.proxy_protocol',
    ]);
    expect(handedOverListener(listener())).to.not.have.property('listener_filters');
  });
});
