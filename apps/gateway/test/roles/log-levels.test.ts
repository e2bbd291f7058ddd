import { expect } from 'chai';
import { direct } from '../workers/resources.ts';
import { GatewayProcess, until } from '../gateway-process.ts';

describe('the log levels of roles apart', () => {
  const controlPlane = new GatewayProcess();
  const proxy = new GatewayProcess();

  before(async () => {
    controlPlane.write('a.yaml', direct('first'));
    const ports = ['--xds-port', '0', '--stats-port', '0', '--http-port', '0', '--https-port', '0'];
    await controlPlane.startRole('control-plane', ...ports, '--component-log-level', 'config:warn,secret:debug');
    const flags = ['--admin-port', '0', '--snapshot-file', 'none', '--workers', '2'];
    const levels = ['--log-level', 'debug', '--component-log-level', 'conn_handler:error'];
    await proxy.startRole('proxy', '--xds', `127.0.0.1:${controlPlane.ready.xdsPort}`, ...flags, ...levels);
  });
  after(async () => {
    await proxy.close();
    await controlPlane.close();
  });

  const put = (body: object): Promise<Response> =>
    fetch(`${controlPlane.stats}/logging`, { method: 'PUT', body: JSON.stringify(body) });
  const served = async (body: string): Promise<unknown> =>
    until(async () => (await (await fetch(proxy.url)).text()) === body, `the proxy serves ${body}`);

  it('start with the levels of their flags, in workers too', async () => {
    const own = await (await fetch(`${controlPlane.stats}/logging`)).json();
    expect(own).to.deep.equal({ level: 'info', loggers: { config: 'warn', secret: 'debug' } });
    const ofProxy = await (await fetch(`${proxy.admin}/logging`)).text();
    expect(ofProxy).to.contain('  conn_handler: error\n').and.contain('  router: debug\n');
    // The workers have opened their listeners, and would log that otherwise.
    await served('first');
    expect(proxy.errors).not.to.contain('"logger":"conn_handler"');
    expect(controlPlane.errors).not.to.contain('"logger":"config"');
  });

  it('change at run time in one process only', async () => {
    const before = await (await fetch(`${proxy.admin}/logging`)).text();
    expect(await (await put({ loggers: { config: 'info' } })).json()).to.deep.equal({
      level: 'info',
      loggers: { secret: 'debug' },
    });
    controlPlane.write('a.yaml', direct('second'));
    await served('second');
    await until(() => controlPlane.errors.includes('"logger":"config"'), 'the change is logged');
    expect(await (await fetch(`${proxy.admin}/logging`)).text()).to.equal(before);
  });
});
