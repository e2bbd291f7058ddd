import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';
import { freePorts } from '../../../test/parts/free-port.ts';

const gatewayOn = (name: string, port: number): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: gw-system }
spec: { bindAddress: 127.0.0.1, bindPort: ${port}, httpGateway: {} }
---`;
const HOST = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: any, namespace: gw-system }
spec: { virtualHost: { domains: ['*'], routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }] } }
`;

describe('a listener whose port is in use', () => {
  it('is a problem of its Gateway, at its port in the file, until it is open', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const [other] = (await freePorts(1)) as [number];
    const gateway = new GatewayProcess();
    try {
      gateway.write('a.yaml', gatewayOn('gateway-proxy', other) + gatewayOn('taken', port) + HOST);
      await gateway.start();
      const problem = async () => {
        const response = await fetch(`${gateway.stats}/problems`, { headers: { accept: 'application/json' } });
        const { problems } = (await response.json()) as { problems: any[] };
        return problems.find(({ message }) => /not open: .* in use by another program/.test(message));
      };
      const found = await until(problem, 'the problem');
      expect(found).to.include({ kind: 'Gateway', name: 'taken', severity: 'error' });
      expect(found.message).to.include('rejected by proxy gateway-proxy (bindPort)');
      expect(found).to.include({ line: 10 });
      taken.close();
      await once(taken, 'close');
      await until(async () => (await problem()) === undefined, 'the end of the problem');
      expect((await fetch(`http://127.0.0.1:${port}`)).status).to.equal(200);
    } finally {
      taken.close();
      await gateway.close();
    }
  });
});
