import { connect } from 'node:net';
import { expect } from 'chai';
import { direct } from '../workers/resources.ts';
import { GatewayProcess } from '../gateway-process.ts';

interface ReadOnlyPorts {
  readonly metricsPort?: number;
  readonly readConfigPort?: number;
}

const portsOf = ({ ready }: GatewayProcess): ReadOnlyPorts => ready as ReadOnlyPorts;

describe('the ports of a proxy for scrapers and readers', () => {
  let gateway: GatewayProcess;
  beforeEach(() => {
    gateway = new GatewayProcess();
    gateway.write('routes.yaml', direct('shop'));
  });
  afterEach(() => gateway.close());

  it('listen on loopback only, with metrics of the requests and the configuration', async () => {
    await gateway.start('--metrics-port', '0', '--read-config-port', '0');
    const { metricsPort, readConfigPort } = portsOf(gateway);
    await (await fetch(gateway.url)).text();
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).to.match(/^envoy_http_downstream_rq_total\{.*\} 1$/m);
    const dump = await (await fetch(`http://127.0.0.1:${readConfigPort}/config_dump`)).text();
    expect(dump).to.contain('gw-system.direct');
    expect((await fetch(`http://127.0.0.1:${metricsPort}/config_dump`)).status).to.equal(404);
    for (const path of ['/quitquitquit', '/logging', '/healthcheck/fail']) {
      for (const port of [metricsPort, readConfigPort]) {
        expect((await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST' })).status, path).to.equal(404);
      }
    }
    expect(await isOpen('127.0.0.2', metricsPort!)).to.equal(false);
    expect(await isOpen('127.0.0.2', readConfigPort!)).to.equal(false);
    const other = new GatewayProcess();
    other.write('routes.yaml', direct('shop'));
    const error = await startError(other, '--metrics-port', String(metricsPort));
    expect(error).to.contain('(probes and metrics of the proxy, by convention 8081) is in use by another program');
    expect(error).to.contain('--metrics-port N (0 picks a free port)');
  });

  it('listen on the address of --read-only-address, with the statistics of all workers', async () => {
    const address = ['--read-only-address', '127.0.0.2'];
    await gateway.start('--workers', '2', '--metrics-port', '0', '--read-config-port', '0', ...address);
    const { metricsPort, readConfigPort } = portsOf(gateway);
    for (let i = 0; i < 4; i++) await (await fetch(gateway.url, { headers: { connection: 'close' } })).text();
    const metrics = await (await fetch(`http://127.0.0.2:${metricsPort}/metrics`)).text();
    expect(metrics).to.match(/^envoy_http_downstream_rq_total\{.*\} 4$/m);
    expect((await fetch(`http://127.0.0.2:${readConfigPort}/ready`)).status).to.equal(200);
    expect(await isOpen('127.0.0.1', metricsPort!)).to.equal(false);
    expect((await fetch(`${gateway.admin}/ready`)).status).to.equal(200);
  });

  it('require a token for the configuration on other addresses, but not for metrics', async () => {
    const error = await startError(gateway, '--read-config-port', '0', '--read-only-address', '0.0.0.0');
    expect(error).to.contain('--read-only-address 0.0.0.0 is not loopback').and.contain('--admin-token-file');
    await gateway.start('--metrics-port', '0', '--read-only-address', '0.0.0.0');
    expect((await fetch(`http://127.0.0.1:${portsOf(gateway).metricsPort}/metrics`)).status).to.equal(200);
  });
});

async function startError(gateway: GatewayProcess, ...flags: string[]): Promise<string> {
  const error = await gateway.start(...flags).catch(({ message }: Error) => message);
  if (typeof error === 'string') return error;
  await gateway.close();
  throw new Error('started');
}

/** Resolves with true if something accepts connections there. */
function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
