import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindPort: 0
  httpGateway: { options: { dynamicForwardProxy: { allowedAddresses: [0.0.0.0/0, '::/0'] } } }
---
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { devMode: true }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: egress, namespace: gw-system }
spec:
  virtualHost:
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { dynamicForwardProxy: { autoHostRewriteHeader: x-target } }
`;

describe('the own ports of a process with a dynamic forward proxy', function () {
  this.timeout(30_000);
  const gateway = new GatewayProcess();
  before(async () => {
    gateway.write('egress.yaml', RESOURCES);
    await gateway.start();
  });
  after(() => gateway.close());

  const post = async (target: string): Promise<number> => {
    const url = `${gateway.url}/healthcheck/fail`;
    const [res] = await once(request(url, { method: 'POST', headers: { 'x-target': target } }).end(), 'response');
    res.resume();
    return res.statusCode;
  };

  it('cannot be reached through it, also if their address is allowed', async () => {
    const { adminPort, statsPort } = gateway.ready;
    const developer = () => /"port":(\d+)[^\n]*"deprecated developer API listening"/.exec(gateway.errors)?.[1];
    const developerPort = await until(developer, 'the developer port is open');
    const own = [adminPort, statsPort, Number(developerPort), Number(new URL(gateway.url).port)];
    for (const port of own) {
      for (const host of ['127.0.0.1', '127.0.0.2', 'localhost', '[::1]', '[::ffff:7f00:1]', '0.0.0.0'])
        expect(await post(`${host}:${port}`), `${host}:${port}`).to.equal(403);
    }
    expect(await (await fetch(`${gateway.admin}/ready`)).text()).to.contain('LIVE');
  });
});
