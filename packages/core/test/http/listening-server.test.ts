import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { listenHttpServer, type ListeningServer, type ServerTls } from '../../src/index.ts';

const file = (name: string): string =>
  readFileSync(new URL(`../../../routing/test/upstream/certificates/${name}`, import.meta.url), 'utf8');

describe('a server of a service', () => {
  const open: ListeningServer[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });

  async function listen(port = 0, tls?: ServerTls): Promise<ListeningServer> {
    const server = await listenHttpServer((_req, res) => void res.end('ok'), {
      address: '127.0.0.1',
      port,
      tls,
      maxHeaderSize: 4096,
    });
    open.push(server);
    return server;
  }

  it('serves until it drains', async () => {
    const { port, drain } = await listen();
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).to.equal('ok');
    await drain();
    expect(await fetch(`http://127.0.0.1:${port}/`).catch(() => 'closed')).to.equal('closed');
  });

  it('rejects with the error of the socket if the port is in use', async () => {
    const { port } = await listen();
    expect(await listen(port).catch((error: Error) => error)).to.include({ code: 'EADDRINUSE' });
  });

  it('rejects heads that are too large', async () => {
    const { port } = await listen();
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-long': 'x'.repeat(5000) } });
    expect(response.status).to.equal(431);
  });

  it('serves nothing in plain text with a certificate', async () => {
    const { port } = await listen(0, { certificate: file('server.crt'), key: file('server.key') });
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'));
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('error', () => {});
    await once(socket, 'close');
    expect(received).not.to.include('ok');
  });
});
