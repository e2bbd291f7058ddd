import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { until } from '../tracing/otlp-server.ts';
import {
  client,
  closeAll,
  closedPort,
  echoServer,
  talk,
  tcpGateway,
  tcpPart,
  tcpServer,
  upstreamAt,
} from './tcp-gateway.ts';

const LONG = { connectionConfig: { connectTimeout: '3600s' } };
const TUNNEL = { tcpProxySettings: { tunnelingConfig: { hostname: 'db:1' } } };

const errorOf = (socket: Socket): Promise<string | undefined> =>
  new Promise((resolve) => {
    let code: string | undefined;
    socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code)).once('close', () => resolve(code));
  });

describe('a TCP session', () => {
  afterEach(closeAll);

  it('counts as an active request of its host', async () => {
    const { port: up } = await echoServer('a');
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(up)]);
    const active = (): number => gateway.router.hostStates('up_gw-system')![0]!.counters.rq_active;
    const socket = await client(gateway.port);
    await once(socket, 'data');
    expect(active()).to.equal(1);
    socket.destroy();
    await until(() => active() === 0);
  });

  it('tries each host once, and counts the error of those that refuse', async () => {
    const { port: up } = await echoServer('b');
    const dead = [await closedPort(), await closedPort()];
    const options = { tcpProxySettings: { maxConnectAttempts: 3 } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(...dead, up)]);
    for (let i = 0; i < 20; i++) expect(await talk(await client(gateway.port), 'x')).to.equal('b:x');
    const errors = gateway.router.hostStates('up_gw-system')!.map(({ counters }) => counters.rq_error);
    expect(errors[2]).to.equal(0);
    expect(errors[0]! + errors[1]!).to.be.greaterThan(0);
  });

  it('counts the bytes of its upstream', async () => {
    const { port: up } = await echoServer('a');
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(up)]);
    expect(await talk(await client(gateway.port), 'xyz')).to.equal('a:xyz');
    await until(() => gateway.log().length === 1);
    const bytes = (name: string): number => gateway.stat(`cluster.up_gw-system.upstream_cx_${name}_bytes_total`);
    expect([bytes('rx'), bytes('tx')]).to.deep.equal([5, 3]);
  });

  it('tries no other host at a limit of connections', async () => {
    const [a, b] = [await echoServer('a'), await echoServer('a')];
    const spec = { circuitBreakers: { maxConnections: 1, maxPendingRequests: 0 } };
    const options = { tcpProxySettings: { maxConnectAttempts: 3 } };
    const gateway = await tcpGateway([tcpPart({ options })], [{ ...upstreamAt(a.port, b.port), spec }]);
    for (let i = 0; i < 2; i++) await once(await client(gateway.port), 'data').catch(() => {});
    expect(await talk(await client(gateway.port), 'x')).to.equal('');
    await until(() => gateway.log().some((line) => line.includes(' UO ')));
    const line = gateway.log().find((each) => each.includes(' UO '));
    expect(line!.split(' ')[5]).to.equal('1');
  });

  it('closes the connection of the upstream if its client leaves before the tunnel is open', async () => {
    const proxy = await tcpServer(() => {});
    const gateway = await tcpGateway([tcpPart({ options: TUNNEL })], [{ ...upstreamAt(proxy.port), spec: LONG }]);
    const socket = await client(gateway.port);
    await until(() => proxy.sockets.size === 1);
    const [tunnel] = proxy.sockets;
    await once(tunnel!, 'data');
    socket.resetAndDestroy();
    await once(tunnel!.resume(), 'end');
    await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0);
  });

  it('ends if the proxy does not open the tunnel within the connect timeout', async () => {
    const proxy = await tcpServer(() => {});
    const spec = { connectionConfig: { connectTimeout: '0.05s' } };
    const gateway = await tcpGateway([tcpPart({ options: TUNNEL })], [{ ...upstreamAt(proxy.port), spec }]);
    expect(await talk(await client(gateway.port), 'x')).to.equal('');
    await until(() => gateway.log().length === 1);
    expect(gateway.log()[0]).to.match(/ UF,URX /);
  });

  it('writes nothing to the access log after its end', async () => {
    const { port: up } = await echoServer();
    const options = { tcpProxySettings: { accessLogFlushInterval: '0.01s' } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(up)]);
    expect(await talk(await client(gateway.port), 'x')).to.equal('x');
    await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0);
    const linesOf = (bytes: number): number =>
      gateway.log().filter((line) => line.startsWith(`host up_gw-system - ${bytes} `)).length;
    const open = async (count: number): Promise<void> => {
      const socket = await client(gateway.port);
      socket.write('yy');
      const before = linesOf(2);
      await until(() => linesOf(2) > before + count);
      socket.destroy();
    };
    await open(1);
    const ended = linesOf(1);
    await open(5);
    expect(linesOf(1)).to.equal(ended);
  });

  it('delivers everything to a slow client after the upstream has closed', async () => {
    const size = 20_000_000;
    const { port: up } = await tcpServer((socket) => socket.resume().end(Buffer.alloc(size, 'x')));
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(up)]);
    const socket = await client(gateway.port);
    socket.end();
    let received = 0;
    for await (const chunk of socket) {
      received += (chunk as Buffer).length;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(received).to.equal(size);
  });

  it('passes on a reset of either side', async () => {
    const upstream = await echoServer('a');
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(upstream.port)]);
    const first = await client(gateway.port);
    await once(first, 'data');
    const reset = errorOf(first.resume());
    for (const socket of upstream.sockets) socket.resetAndDestroy();
    expect(await reset).to.equal('ECONNRESET');
    upstream.sockets.clear();
    const second = await client(gateway.port);
    await once(second, 'data');
    const [server] = upstream.sockets;
    const other = errorOf(server!);
    second.resetAndDestroy();
    expect(await other).to.equal('ECONNRESET');
  });
});
