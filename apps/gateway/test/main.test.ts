import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startEcho, type Service } from '@edge-gateway/demo';
import { GatewayProcess, until } from './gateway-process.ts';
import { tlsSecret } from './tls-secret.ts';

const direct = (name: string, domain: string, body: string): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: ['${domain}']
    routes:
      - name: ${name}
        matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: ${body} }
`;

const toEcho = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: echo }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;

const gatewayResource = (name: string, bindPort: number): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: ${name} }
spec: { bindPort: ${bindPort}, httpGateway: {} }
`;

describe('edge-gateway', () => {
  let gateway: GatewayProcess;
  let echo: Service;
  beforeEach(async () => {
    gateway = new GatewayProcess();
    echo = await startEcho();
  });
  afterEach(async () => {
    await gateway.close();
    await echo.close();
  });

  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${gateway.url}${path}`);
    return { status: response.status, text: await response.text() };
  };

  const componentOf = async (
    wanted: string,
  ): Promise<{ state: string; reason?: string; resources?: object[]; waitsFor?: string[] }> => {
    const components = (await (await fetch(`${gateway.stats}/components`)).json()) as any[];
    return components.find(({ name }) => name === wanted);
  };

  it('serves resources from files and follows every change', async () => {
    gateway.write('a.yaml', direct('a', '*', 'one'));
    await gateway.start();
    expect(await get('/')).to.deep.equal({ status: 200, text: 'one' });
    gateway.write('a.yaml', direct('a', '*', 'two'));
    await until(async () => (await get('/')).text === 'two', 'the changed body is served');
  });

  it('lists itself as the proxy that serves the newest version', async () => {
    gateway.write('a.yaml', direct('a', '*', 'one'));
    await gateway.start();
    const [proxy, ...others] = (await (await fetch(`${gateway.stats}/proxies`)).json()) as any[];
    expect(others).to.deep.equal([]);
    expect(proxy).to.include({ proxy: 'gateway-proxy', address: 'in process', current: true });
    expect(proxy.version).to.match(/^[0-9a-f]{20}$/);
    expect(proxy.age).to.be.within(0, 60);
  });

  it('keeps the last good version of a resource that becomes invalid, and reports the problem', async () => {
    gateway.write('a.yaml', direct('a', '*', 'good'));
    await gateway.start();
    gateway.write('a.yaml', direct('a', '*', 'bad').replace('directResponseAction', 'directRespnseAction'));
    await until(() => gateway.errors.includes('directRespnseAction'), 'the log names the misspelt key');
    expect(gateway.errors).to.match(/a\.yaml:\d+:\d+/);
    expect((await get('/')).text).to.equal('good');
    const input = (await (await fetch(`${gateway.stats}/snapshots/input`)).json()) as { data: any[] };
    const status = input.data.find(({ kind }) => kind === 'VirtualService').status.statuses['gw-system'];
    expect(status).to.include({ state: 'Rejected', reportedBy: 'gw' });
  });

  it('serves valid resources beside an invalid one at startup', async () => {
    gateway.write('good.yaml', direct('good', '*', 'good'));
    gateway.write(
      'bad.yaml',
      'apiVersion: gateway.vendor.io/v1\nkind: VirtualService\nmetadata: { name: bad }\nspec: { virtualHos: {} }\n',
    );
    gateway.write('worse.yaml', '\t: [');
    await gateway.start();
    expect((await get('/')).text).to.equal('good');
  });

  it('is ready, and after SIGTERM finishes active requests, accepts no new ones and exits with 0', async () => {
    gateway.write('echo.yaml', toEcho(echo.port));
    await gateway.start();
    expect(await (await fetch(`${gateway.admin}/ready`)).text()).to.match(/^LIVE/);
    const slow = fetch(`${gateway.url}/slow?delay=3000`);
    await until(
      async () =>
        (await (await fetch(`${gateway.admin}/stats?filter=downstream_rq_active`)).text()).match(
          /http\.http\.downstream_rq_active: 1/,
        ),
      'the request is under way',
    );
    gateway.child.kill('SIGTERM');
    await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 503, 'not ready any more');
    const answer = await slow;
    expect(answer.status).to.equal(200);
    await answer.text();
    expect(await gateway.ended()).to.equal(0);
  });

  it('stops immediately at a second SIGTERM', async () => {
    gateway.write('echo.yaml', toEcho(echo.port));
    await gateway.start();
    const slow = fetch(`${gateway.url}/slow?delay=60000`).catch((error: Error) => error);
    await until(
      async () =>
        (await (await fetch(`${gateway.admin}/stats?filter=downstream_rq_active`)).text()).includes('active: 1'),
      'the request is under way',
    );
    gateway.child.kill('SIGTERM');
    await until(() => {
      gateway.child.kill('SIGTERM');
      return gateway.child.exitCode !== null;
    }, 'the process ended');
    expect(gateway.child.exitCode).to.equal(143);
    expect(await slow).to.be.instanceOf(Error);
  });

  it('logs at SIGINT that it stops and how long it drains, and stops immediately at the next one', async () => {
    gateway.write('echo.yaml', toEcho(echo.port));
    await gateway.start('--drain-seconds', '60');
    const held = fetch(`${gateway.url}/held?delay=60000`).catch((error: Error) => error);
    await until(
      async () =>
        (await (await fetch(`${gateway.admin}/stats?filter=downstream_rq_active`)).text()).includes('active: 1'),
      'the request is under way',
    );
    gateway.child.kill('SIGINT');
    await until(() => gateway.errors.includes('"drainSeconds":60,"msg":"stopping"'), 'the log says that it drains');
    expect(gateway.errors).not.to.contain('Ctrl-C');
    await until(() => {
      gateway.child.kill('SIGINT');
      return gateway.child.exitCode !== null;
    }, 'the process ended');
    expect(gateway.child.exitCode).to.equal(143);
    expect(await held).to.be.instanceOf(Error);
  });

  it('names the port that is in use, and exits with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      const failure = await gateway.start('--stats-port', String(port)).catch((error: Error) => error);
      expect(failure).to.be.instanceOf(Error);
      expect((failure as Error).message)
        .to.include('ended with 1')
        .and.to.include(`port ${port} (control-plane diagnostics) is in use by another program`)
        .and.to.include('choose another port: --stats-port N');
    } finally {
      other.close();
    }
  });

  it('names the flag of each port that is in use', async () => {
    gateway.write('a.yaml', direct('a', '*', 'one'));
    const other = createServer().listen(0, '::');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      for (const flag of ['--http-port', '--admin-port', '--stats-port']) {
        const { message } = (await gateway.start(flag, String(port)).catch((error: Error) => error)) as Error;
        expect(message).to.include(`port ${port} (`).and.to.include(`choose another port: ${flag} N`);
      }
    } finally {
      other.close();
    }
  });

  it('serves its other listeners when the port of one Gateway resource is in use, and opens that one later', async () => {
    const other = createServer().listen(0, '::');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    gateway.write('a.yaml', direct('a', '*', 'one'));
    for (const [name, bindPort] of [
      ['taken', port],
      ['free', 0],
    ] as const) {
      gateway.write(`${name}.yaml`, gatewayResource(name, bindPort));
    }
    await gateway.start();
    expect((await get('/')).text).to.equal('one');
    expect((await fetch(`${gateway.admin}/ready`)).status).to.equal(503);
    expect((await componentOf(`listener-::-${port}`)).reason).to.include(`port ${port}`);
    other.close();
    await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 200, 'the port is tried again');
    expect((await componentOf(`listener-::-${port}`)).state).to.equal('ready');
  });

  it('is not ready until every listener of the resources is open, and stays ready then', async () => {
    gateway.write('plain.yaml', direct('plain', '*', 'one'));
    gateway.write(
      'safe.yaml',
      direct('safe', '*', 'two').replace('spec:', 'spec:\n  sslConfig: { secretRef: { name: t } }'),
    );
    await gateway.start();
    const unready = await fetch(`${gateway.admin}/ready`);
    expect([unready.status, await unready.text()]).to.deep.equal([503, 'INITIALIZING\n']);
    const ready = gateway.ready as unknown as { unserved: { name: string; reason: string }[]; problems: number };
    expect(ready.unserved).to.have.length(1);
    expect(ready.unserved[0]!.reason).to.include('SSL secret not found: no secret gw-system.t');
    expect(ready.problems).to.be.greaterThan(0);
    expect((await componentOf('gateway-proxy')).reason).to.include('SSL secret not found');
    const { name } = ready.unserved[0]!;
    expect((await componentOf('gateway-proxy')).waitsFor).to.deep.equal([name]);
    const listener = await componentOf(name);
    expect(listener.state).to.equal('failed');
    const services = listener.resources as { kind: string }[];
    expect(services.map(({ kind }) => kind)).to.deep.equal(['VirtualService']);
    gateway.write('t.yaml', tlsSecret());
    await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 200, 'the listener is served');
    gateway.write('plain.yaml', direct('plain', '*', 'one').replace('spec:', 'spc:'));
    await until(() => gateway.errors.includes('spc'), 'the mistake is reported');
    expect((await fetch(`${gateway.admin}/ready`)).status).to.equal(200);
  });

  it('is not ready while the only virtual service of a listener is rejected', async () => {
    gateway.write('a.yaml', direct('a', '*', 'one').replace('prefix', 'prefx'));
    await gateway.start();
    expect((await fetch(`${gateway.admin}/ready`)).status).to.equal(503);
    const { unserved } = gateway.ready as unknown as { unserved: { reason: string }[] };
    expect(unserved).to.have.length(1);
    expect(unserved[0]!.reason).to.include('VirtualService/gw-system/a is rejected').and.to.include('prefx');
    gateway.write('a.yaml', direct('a', '*', 'one'));
    await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 200, 'the listener is served');
  });

  it('is ready without resources, which need no listener', async () => {
    await gateway.start();
    expect((await fetch(`${gateway.admin}/ready`)).status).to.equal(200);
  });

  it('names a missing directory and an invalid flag', async () => {
    const failure = (await gateway.start('--config', `${gateway.dir}/nothing`).catch((error: Error) => error)) as Error;
    expect(failure.message).to.include('ended with 1').and.to.include('directory does not exist');
    const wrong = (await gateway.start('--http-port', 'eighty').catch((error: Error) => error)) as Error;
    expect(wrong.message).to.include('a port must be between 0 and 65535');
    const role = (await gateway.startRole('nothing').catch((error: Error) => error)) as Error;
    expect(role.message).to.include(
      "unknown role 'nothing': the roles are all, control-plane, proxy, discovery, extauth, rate-limit",
    );
  });

  it('opens the developer API while the Settings enable it', async () => {
    gateway.write('a.yaml', direct('a', '*', 'one'));
    await gateway.start();
    gateway.write(
      'settings.yaml',
      'apiVersion: settings.gw.vendor.io/v1\nkind: Settings\nmetadata: { name: default }\nspec: { devMode: true }\n',
    );
    await until(() => gateway.errors.includes('deprecated developer API listening'), 'the developer API opens');
    const port = Number(gateway.errors.match(/"port":(\d+),"msg":"deprecated developer API listening/)![1]);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(await answer.text()).to.include('Developer API');
    gateway.write(
      'settings.yaml',
      'apiVersion: settings.gw.vendor.io/v1\nkind: Settings\nmetadata: { name: default }\nspec: {}\n',
    );
    await until(
      () =>
        fetch(`http://127.0.0.1:${port}/`).then(
          () => false,
          () => true,
        ),
      'the developer API closes',
    );
  });

  it('writes one JSON line per request to standard output, and nothing else', async () => {
    gateway.write('a.yaml', direct('a', '*', 'one'));
    await gateway.start();
    await get('/some/path?x=1');
    await until(() => gateway.output.includes('\n'), 'an access-log line');
    const lines = gateway.output.trim().split('\n');
    expect(lines).to.have.length(1);
    const line = JSON.parse(lines[0]!);
    expect(JSON.stringify(line)).to.include('/some/path');
    expect(Object.values(line)).to.include(200);
  });
});
