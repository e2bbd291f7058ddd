import { expect } from 'chai';
import { connect, createServer, Socket } from 'node:net';
import { dial } from '../../../src/upstream/connect/dial.ts';
import { closeAll, gateway, get, httpUpstream, listen, snapshotOf, whenDone } from '../../forward/harness.ts';

type Address = number | 'silent';

/** Dials ports on this machine; `silent` never connects. */
function dialed(addresses: readonly Address[]): Promise<{ port: number; opened: Socket[] }> {
  const opened: Socket[] = [];
  const open = (address: Address): Socket => {
    const socket = address === 'silent' ? new Socket() : connect(address, '127.0.0.1');
    opened.push(socket);
    return socket;
  };
  return new Promise((resolve, reject) => {
    dial(addresses, open, (error, socket) => {
      if (!socket) return reject(error!);
      whenDone(() => socket.destroy());
      resolve({ port: socket.remotePort!, opened });
    });
  });
}

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function openPort(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  whenDone(() => server.close());
  return listen(server);
}

describe('dialing several addresses', () => {
  afterEach(closeAll);

  it('uses the first one that accepts the connection, and opens no other', async () => {
    const [one, two] = [await openPort(), await openPort()];
    const { port, opened } = await dialed([one, two]);
    expect([port, opened.length]).to.deep.equal([one, 1]);
  });

  it('tries the next one at once after a failure', async () => {
    const start = performance.now();
    const [closed, open] = [await closedPort(), await openPort()];
    expect((await dialed([closed, open])).port).to.equal(open);
    expect(performance.now() - start).to.be.lessThan(240);
  });

  it('tries the next one after 250 ms without a response, and closes the slower attempt', async () => {
    const start = performance.now();
    const open = await openPort();
    const { port, opened } = await dialed(['silent', open]);
    expect(port).to.equal(open);
    expect(performance.now() - start).to.be.within(240, 5000);
    expect(opened.map(({ destroyed }) => destroyed)).to.deep.equal([true, false]);
  });

  it('tries only one address after a failure', async () => {
    const [closed, open] = [await closedPort(), await openPort()];
    const start = performance.now();
    const { port } = await dialed([closed, 'silent', open]);
    expect(port).to.equal(open);
    expect(performance.now() - start).to.be.above(240);
  });

  it('does not try the only address again', async () => {
    const alone: unknown[] = [];
    const giveUp = dial(
      ['silent'],
      () => alone[alone.push(new Socket()) - 1] as Socket,
      () => {},
    );
    await dialed(['silent', await openPort()]);
    giveUp(new Error('enough'));
    expect(alone).to.have.length(1);
  });

  it('fails with the last failure, and once', async () => {
    const failures: unknown[] = [];
    await dialed([await closedPort(), await closedPort()]).catch((error: unknown) => failures.push(error));
    expect(failures).to.have.length(1);
    expect(failures[0]).to.include({ code: 'ECONNREFUSED' });
  });

  it('reports an address that Node rejects', async () => {
    const failure = await dialed([70_000]).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'ERR_SOCKET_BAD_PORT' });
  });

  it('finds a server by its IPv4 address if its IPv6 address does not work', async () => {
    const port = await httpUpstream((_req, res) => void res.end('over IPv4'));
    const endpoints = [{ address: '2001:db8::1', port, weight: 1, alternatives: ['127.0.0.1'] }];
    const gw = await gateway({ upstream: snapshotOf(port, { endpoints }) });
    expect((await get(gw.url)).body).to.equal('over IPv4');
  });
});
