import { expect } from 'chai';
import { createControlPlane } from '../../src/control/control-plane.ts';
import { createLoggers } from '../../src/observe/logger.ts';
import { memorySource } from '../../src/source/memory.ts';

const gateway = (port: number, more = ''): string => `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: own${port}${more} }
spec: { bindPort: ${port}, httpGateway: {} }
`;
const INVALID = gateway(80).replace('bindPort: 80', 'bindPort: no');

describe('the ports of default gateways', () => {
  async function start(documents: Readonly<Record<string, string>>) {
    const lines: { readonly level: number; readonly msg: string; readonly ports?: readonly number[] }[] = [];
    const log = createLoggers({ destination: { write: (line) => void lines.push(JSON.parse(line)) } });
    const source = memorySource(documents);
    const controlPlane = createControlPlane({ source, log, defaultGateways: { httpPort: 81 } });
    await controlPlane.start();
    const logged = () => lines.filter(({ msg }) => msg.includes('default gateways'));
    return { source, controlPlane, logged };
  }

  it('are named in a warning when the first Gateway resource closes them, once', async () => {
    const { source, controlPlane, logged } = await start({});
    expect(logged()).to.deep.equal([]);
    source.set('a', gateway(9000));
    source.set('b', gateway(9001));
    expect(logged()).to.have.length(1);
    expect(logged()[0]).to.deep.include({ level: 40, ports: [81, 8443] });
    source.delete('a');
    source.delete('b');
    source.set('a', gateway(9000));
    expect(logged()).to.have.length(2);
    await controlPlane.close();
  });

  it('are named at the start if there are Gateway resources, and only those that they do not open', async () => {
    const { controlPlane, logged } = await start({ a: gateway(81) });
    expect(logged()).to.have.length(1);
    expect(logged()[0]).to.deep.include({ level: 30, ports: [8443] });
    await controlPlane.close();
  });

  it('are not named if Gateway resources open both', async () => {
    const { controlPlane, logged } = await start({ a: gateway(81), b: gateway(8443) });
    expect(logged()).to.deep.equal([]);
    expect(controlPlane.state!.replacedDefaultPorts).to.deep.equal([]);
    await controlPlane.close();
  });

  it('stay closed by a rejected Gateway, and open with Gateways of the Gateway API', async () => {
    const { controlPlane } = await start({ a: INVALID });
    expect(controlPlane.state!.replacedDefaultPorts).to.deep.equal([81, 8443]);
    await controlPlane.close();
    const generated = gateway(9000).replace('name: own9000', 'name: own, labels: { created_by: gw-kube-gateway-api }');
    const other = await start({ a: generated });
    expect(other.controlPlane.state!.replacedDefaultPorts).to.deep.equal([]);
    await other.controlPlane.close();
  });
});
