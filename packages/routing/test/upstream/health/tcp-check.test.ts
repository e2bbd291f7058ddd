import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { containsBlocks } from '../../../src/upstream/health/tcp-check.ts';
import { closeAll, listen, until, whenDone } from '../../forward/harness.ts';
import { checkedUpstream } from './checked.ts';

const hex = (text: string) => ({ text: Buffer.from(text).toString('hex') });

/** A server that calls back with each connection. */
async function tcpUpstream(onSocket: (socket: Socket) => void): Promise<{ port: number; connections(): number }> {
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  const port = await listen(server);
  whenDone(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port, connections: () => connections };
}

describe('TCP health checks', () => {
  afterEach(closeAll);

  it('pass if the host accepts a connection', async () => {
    const { port } = await tcpUpstream(() => {});
    await checkedUpstream(port, { tcpHealthCheck: {} }).becomes(true);
  });

  it('close the connection, even if the host keeps its side open', async () => {
    const open = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
      socket.resume();
    });
    const port = await listen(server);
    whenDone(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    // Other tests may leave some for a moment.
    const others = sockets();
    const { upstreams, checks } = checkedUpstream(port, { tcpHealthCheck: { send: hex('BYE') } });
    await checks(5);
    await upstreams.close();
    // Those of the server remain, because it never closes them.
    await until(() => sockets() <= others + open.size, 'no connection of a check');
  });

  it('fail if nothing listens', async () => {
    const checked = checkedUpstream(1, { tcpHealthCheck: {} });
    await checked.checks(2);
    expect(checked.flags()).to.equal('failed_active_hc');
    expect(checked.stat('health_check.network_failure')).to.be.at.least(2);
  });

  it('send bytes and wait for others on one connection', async () => {
    const upstream = await tcpUpstream((socket) => {
      socket.on('data', (data) => {
        expect(data.toString()).to.equal('PING');
        socket.write('+PO');
        setImmediate(() => socket.write('NG\r\n'));
      });
    });
    const checked = checkedUpstream(upstream.port, {
      tcpHealthCheck: { send: hex('PING'), receive: [hex('+P'), hex('G')] },
    });
    await checked.checks(4);
    expect(checked.flags()).to.equal('');
    expect(upstream.connections()).to.equal(1);
  });

  it('open a connection for each check with reuseConnection: false', async () => {
    const upstream = await tcpUpstream((socket) => void socket.on('data', () => socket.write('PONG')));
    const checked = checkedUpstream(upstream.port, {
      reuseConnection: false,
      tcpHealthCheck: { send: hex('PING'), receive: [hex('PONG')] },
    });
    await checked.checks(3);
    expect(upstream.connections()).to.be.at.least(3);
  });

  it('fail if the host closes the connection instead', async () => {
    const { port } = await tcpUpstream((socket) => socket.end('NO'));
    const checked = checkedUpstream(port, { tcpHealthCheck: { receive: [hex('PONG')] } });
    await checked.checks(2);
    expect(checked.flags()).to.equal('failed_active_hc');
  });

  it('fail after too many other bytes', async () => {
    const { port } = await tcpUpstream((socket) => void socket.write(Buffer.alloc(100_000)));
    const checked = checkedUpstream(port, { tcpHealthCheck: { receive: [hex('PONG')] } });
    await checked.checks(1);
    expect(checked.flags()).to.equal('failed_active_hc');
    expect(checked.stat('health_check.network_failure')).to.equal(0);
  });

  it('close the connection when their upstream is removed', async () => {
    let closed = false;
    const { port } = await tcpUpstream((socket) => void socket.on('close', () => (closed = true)));
    const checked = checkedUpstream(port, { tcpHealthCheck: { receive: [hex('PONG')] } });
    await until(() => checked.stat('health_check.attempt') === 1);
    await checked.upstreams.close();
    await until(() => closed || checked.stat('health_check.attempt') === 0);
  });

  for (const [data, blocks, expected] of [
    ['abcd', ['a', 'cd'], true],
    ['abcd', ['cd', 'a'], false],
    ['aa', ['a', 'a'], true],
    ['a', ['a', 'a'], false],
    ['', [], true],
  ] as const) {
    it(`find ${blocks.join(' and ') || 'nothing'} in "${data}": ${expected}`, () => {
      const found = containsBlocks(
        Buffer.from(data),
        blocks.map((block) => Buffer.from(block)),
      );
      expect(found).to.equal(expected);
    });
  }
});
