import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { GatewayProcess, until } from '../gateway-process.ts';
import { askOnce } from './requests.ts';
import { direct, gatewayOn } from './resources.ts';
import { tlsSecret } from '../tls-secret.ts';

async function occupied(options: { reusePort: boolean }): Promise<{ server: Server; port: number }> {
  const server = createServer().listen({ port: 0, host: '::', ...options });
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

describe('the ports of edge-gateway --workers 2', () => {
  let gateway: GatewayProcess;
  beforeEach(() => {
    gateway = new GatewayProcess();
    gateway.write('a.yaml', direct('one'));
  });
  afterEach(() => gateway.close());

  it('are named when another program uses them, even one that shares its ports', async () => {
    const { server, port } = await occupied({ reusePort: true });
    try {
      const failure = await gateway.start('--workers', '2', '--http-port', String(port)).catch((error: Error) => error);
      expect((failure as Error).message)
        .to.include('ended with 1')
        .and.to.include(`port ${port} (plain port of the default gateway) is in use by another program`)
        .and.to.include('choose another port: --http-port N');
      expect(gateway.errors.match(/"msg":"listener failed"/g)).to.have.length(1);
    } finally {
      server.close();
    }
  });

  it('open in all workers when they become free, change with the resources, and resume TLS sessions anywhere', async () => {
    const { server, port } = await occupied({ reusePort: false });
    gateway.write('taken.yaml', gatewayOn('taken', port));
    gateway.write('free.yaml', gatewayOn('free', 0));
    await gateway.start('--workers', '2');
    expect((await askOnce(gateway.url)).text).to.equal('one');
    expect((await fetch(`${gateway.admin}/ready`)).status).to.equal(503);
    server.close();
    await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 200, 'the port is opened later');
    const listening = async (name: RegExp): Promise<number | undefined> => {
      const lines = (await (await fetch(`${gateway.admin}/listeners`)).text()).trim().split('\n');
      const line = lines.find((each) => name.test(each));
      return line === undefined ? undefined : Number(/(\d+)$/.exec(line)![1]);
    };
    const url = `http://127.0.0.1:${port}`;
    for (let i = 0; i < 12; i++) expect((await askOnce(url)).text).to.equal('one');

    gateway.write(
      'taken.yaml',
      gatewayOn('taken', 0).replace('bindPort', 'bindAddress: 127.0.0.1, ssl: true, bindPort'),
    );
    gateway.write('t.yaml', tlsSecret());
    gateway.write(
      'safe.yaml',
      direct('safe')
        .replace('name: direct', 'name: safe')
        .replace('spec:', 'spec:\n  sslConfig: { secretRef: { name: t } }'),
    );
    const tlsPort = (await until(() => listening(/^listener-127\.0\.0\.1-0-taken::/), 'the TLS listener is open'))!;
    await until(
      async () => (await listening(new RegExp(`^listener-::-${port}::`))) === undefined,
      'the port is closed',
    );
    await until(
      () =>
        askOnce(url).then(
          () => false,
          ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
        ),
      'no worker listens on the removed port',
    );

    const handshake = async (session?: Buffer) => {
      const socket = connect({
        port: tlsPort,
        host: '127.0.0.1',
        rejectUnauthorized: false,
        maxVersion: 'TLSv1.2',
        ...(session && { session }),
      });
      await once(socket, 'secureConnect');
      const found = { isReused: socket.isSessionReused(), session: socket.getSession()! };
      socket.destroy();
      return found;
    };
    const { session } = await handshake();
    // New connections reach either worker.
    for (let i = 0; i < 12; i++) expect((await handshake(session)).isReused).to.equal(true);
  });
});
