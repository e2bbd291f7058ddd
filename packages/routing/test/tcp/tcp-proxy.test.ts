import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { until } from '../tracing/otlp-server.ts';
import { certificates, secretsOf } from '../upstream/certificates.ts';
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

const TLS = { sslConfig: { secretRef: { name: 'tls', namespace: 'gw-system' } }, sniDomains: [] };

/** Also if the connection closes with an error. */
const closeOf = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));

describe('TCP gateways', () => {
  afterEach(closeAll);

  it('forward both directions, log and count', async () => {
    const { port: up } = await echoServer('a');
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(up)]);
    expect(await talk(await client(gateway.port), 'hello')).to.equal('a:hello');
    await until(() => gateway.stat('tcp.tcp.downstream_cx_rx_bytes_total') === 5);
    await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0 && gateway.log().length > 0);
    expect(gateway.log()).to.deep.equal(['host up_gw-system - 5 7 1 - -']);
    expect(gateway.stat('tcp.tcp.downstream_cx_total')).to.equal(1);
    expect(gateway.stat('tcp.tcp.downstream_cx_tx_bytes_total')).to.equal(7);
    expect(gateway.stat('cluster.up_gw-system.upstream_cx_total')).to.equal(1);
  });

  it('let the server speak first and end first', async () => {
    let rest = '';
    const { port: up } = await tcpServer((socket) => {
      socket.end('greeting');
      socket.setEncoding('latin1').on('data', (chunk: string) => (rest += chunk));
    });
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(up)]);
    const socket = await client(gateway.port);
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    await once(socket, 'end');
    expect(received).to.equal('greeting');
    socket.end('late');
    await until(() => rest === 'late');
  });

  it('keep a slow reader from filling the memory', async () => {
    const chunk = Buffer.alloc(65_536, 'x');
    let written = 0;
    const { port: up } = await tcpServer((socket) => {
      const fill = (): void => {
        while (written < 400_000_000 && socket.writable && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', fill);
      fill();
    });
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(up)]);
    const socket = await client(gateway.port);
    socket.pause();
    let before = -1;
    await until(() => {
      const isStill = written === before && written > 0;
      before = written;
      return isStill;
    });
    expect(written).to.be.below(100_000_000);
    let read = 0;
    socket.on('data', (data: Buffer) => (read += data.length)).resume();
    await until(() => read > 20_000_000);
  });

  it('try other hosts up to maxConnectAttempts', async () => {
    const { port: up } = await echoServer('b');
    const dead = await closedPort();
    const options = { tcpProxySettings: { maxConnectAttempts: 2 } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(dead, up)]);
    for (let i = 0; i < 4; i++) expect(await talk(await client(gateway.port), 'x')).to.equal('b:x');
    await until(() => gateway.log().length === 4);
    const attempts = gateway.log().map((line) => line.split(' ')[5]);
    expect(attempts).to.include('2');
    expect(attempts.every((count) => count === '1' || count === '2')).to.equal(true);
  });

  it('close connections that no attempt can open', async () => {
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(await closedPort())]);
    expect(await talk(await client(gateway.port), 'x')).to.equal('');
    await until(() => gateway.log().length > 0);
    expect(gateway.log()[0]).to.match(/^host up_gw-system UF,URX \d 0 1 - upstream_reset/);
    expect(gateway.stat('cluster.up_gw-system.upstream_cx_connect_attempts_exceeded')).to.equal(1);
  });

  it('close connections without a healthy host, a cluster or a destination', async () => {
    const parts = [
      tcpPart({ name: 'none' }, { tls: false }),
      tcpPart(
        { name: 'gone', destinations: [{ upstream: 'gone_gw-system', weight: 1 }] },
        { sourceRanges: [{ addressPrefix: '127.0.0.0', prefixLen: 8 }] },
      ),
    ];
    const gateway = await tcpGateway(parts, [upstreamAt()]);
    await talk(await client(gateway.port), 'x');
    await gateway.apply([parts[0]!], [upstreamAt()]);
    await talk(await client(gateway.port), 'x');
    await gateway.apply([tcpPart({ name: 'empty', destinations: [] })], [upstreamAt()]);
    await talk(await client(gateway.port), 'x');
    await until(() => gateway.log().length === 3);
    expect(gateway.log().map((line) => line.split(' ').slice(0, 3).join(' '))).to.deep.equal([
      'gone gone_gw-system NC',
      'none up_gw-system UH',
      'empty - NR',
    ]);
    expect(gateway.stat('tcp.tcp.downstream_cx_no_route')).to.equal(2);
  });

  it('share connections by weight', async () => {
    const [a, b] = [await echoServer('a'), await echoServer('b')];
    const upstreams = [upstreamAt(a.port), { ...upstreamAt(b.port), name: 'other_gw-system' }];
    const destinations = [
      { upstream: 'up_gw-system', weight: 0 },
      { upstream: 'other_gw-system', weight: 3 },
    ];
    const gateway = await tcpGateway([tcpPart({ destinations })], upstreams);
    for (let i = 0; i < 5; i++) expect(await talk(await client(gateway.port), '')).to.equal('b:');
  });

  it('close idle connections', async () => {
    const { port: up } = await echoServer();
    const options = { tcpProxySettings: { idleTimeout: '0.05s' } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(up)]);
    const socket = await client(gateway.port);
    await once(socket.resume(), 'end');
    await until(() => gateway.stat('tcp.tcp.idle_timeout') === 1 && gateway.log().length > 0);
    expect(gateway.log()[0]).to.match(/idle_timeout$/);
  });

  it('limit the connections of a part', async () => {
    const { port: up } = await echoServer('a');
    const options = { connectionLimit: { maxActiveConnections: 1 } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(up)]);
    const first = await client(gateway.port);
    await once(first, 'data');
    expect(await talk(await client(gateway.port), 'x')).to.equal('');
    first.destroy();
    await until(() => gateway.stat('listener.[__]_8080.downstream_cx_active') === 0);
    expect(await talk(await client(gateway.port), 'x')).to.equal('a:x');
  });

  it('limit the rate of new connections', async () => {
    const { port: up } = await echoServer('a');
    const options = { localRatelimit: { maxTokens: 1, tokensPerFill: 1, fillInterval: '1h' } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(up)]);
    expect(await talk(await client(gateway.port), 'x')).to.equal('a:x');
    expect(await talk(await client(gateway.port), 'x')).to.equal('');
  });

  it('break the circuit at the limit of connections of the upstream', async () => {
    const { port: up } = await echoServer('a');
    const upstream = { ...upstreamAt(up), spec: { circuitBreakers: { maxConnections: 1, maxPendingRequests: 0 } } };
    const gateway = await tcpGateway([tcpPart()], [upstream]);
    const first = await client(gateway.port);
    await once(first, 'data');
    expect(await talk(await client(gateway.port), 'x')).to.equal('');
    await until(() => gateway.log().length > 0);
    expect(gateway.log()[0]).to.match(/ UO /);
  });

  it('eject hosts that refuse connections', async () => {
    const { port: up } = await echoServer('a');
    const upstream = {
      ...upstreamAt(await closedPort(), up),
      spec: { outlierDetection: { consecutive5xx: 1, maxEjectionPercent: 100 } },
    };
    const gateway = await tcpGateway([tcpPart()], [upstream]);
    for (let i = 0; i < 4; i++) await talk(await client(gateway.port), 'x');
    expect(gateway.stat('cluster.up_gw-system.upstream_cx_connect_fail')).to.equal(1);
    expect(gateway.stat('cluster.up_gw-system.outlier_detection.ejections_active')).to.equal(1);
  });

  it('terminate TLS', async () => {
    const { server } = certificates();
    const context = createContext({ secrets: secretsOf({ tls: { 'tls.crt': server.cert, 'tls.key': server.key } }) });
    const { port: up } = await echoServer('a');
    const part = tcpPart({ sslConfigurations: [TLS] }, { tls: true, serverNames: ['api.example.com'] });
    const gateway = await tcpGateway([part], [upstreamAt(up)], { context });
    const open = (servername: string) =>
      connectTls({
        port: gateway.port,
        host: '127.0.0.1',
        servername,
        ALPNProtocols: ['x'],
        rejectUnauthorized: false,
      });
    const socket = open('api.example.com').on('error', () => {});
    await once(socket, 'secureConnect');
    expect(await talk(socket, 'hi')).to.equal('a:hi');
    await until(() => gateway.log().length > 0);
    expect(gateway.log()[0]).to.match(/^host up_gw-system - 2 4 1 api\.example\.com -$/);
    const other = open('other.example.com').on('error', () => {});
    await closeOf(other);
    expect(gateway.stat('listener.[__]_8080.no_filter_chain_match')).to.equal(1);
    const plain = await client(gateway.port);
    expect(await talk(plain, 'plain')).to.equal('');
    expect(gateway.stat('listener.[__]_8080.no_filter_chain_match')).to.equal(2);
  });

  it('pass TLS through by its server name, and use it as the cluster', async () => {
    const { ca, server } = certificates();
    const { createServer: createTlsServer } = await import('node:tls');
    const secure = createTlsServer({ ...server }, (socket) => socket.end(`for ${socket.servername as string}`));
    const { port: up } = await tcpServer((socket) => secure.emit('connection', socket));
    const parts = [
      tcpPart({ name: 'a' }, { tls: true, serverNames: ['*.example.com'] }),
      tcpPart({ name: 'by-name', destinations: [], forwardsServerName: true }, { tls: true }),
    ];
    const gateway = await tcpGateway(parts, [upstreamAt(up)]);
    const ask = async (servername: string): Promise<string> => {
      const socket = connectTls({
        port: gateway.port,
        host: '127.0.0.1',
        servername,
        ca,
        checkServerIdentity: () => undefined,
      });
      socket.on('error', () => {});
      return talk(socket, '');
    };
    expect(await ask('api.example.com')).to.equal('for api.example.com');
    expect(await ask('up_gw-system')).to.equal('for up_gw-system');
    expect(await ask('unknown')).to.equal('');
    expect(await ask('')).to.equal('');
    await until(() => gateway.log().length === 4);
    expect(gateway.log().map((line) => line.split(' ').slice(0, 3).join(' '))).to.deep.equal([
      'a up_gw-system -',
      'by-name up_gw-system -',
      'by-name unknown NC',
      'by-name - NR',
    ]);
    const found = ['tls_found', 'sni_found', 'sni_not_found', 'tls_not_found', 'client_hello_too_large'];
    const counts = () => found.map((name) => gateway.stat(`tls_inspector.${name}`));
    expect(counts()).to.deep.equal([4, 3, 1, 0, 0]);
    const plain = await client(gateway.port);
    expect(await talk(plain, 'plain')).to.equal('');
    const tooLarge = await client(gateway.port);
    tooLarge.write(Buffer.from([22, 3, 1, 0, 4, 1, 0, 0x40, 0]));
    await once(tooLarge.resume(), 'end');
    expect(counts()).to.deep.equal([4, 3, 1, 1, 1]);
  });

  it('connect through an HTTP tunnel', async () => {
    let head = '';
    const { port: up } = await tcpServer((socket) => {
      socket.on('data', (chunk: Buffer) => {
        if (head.endsWith('\r\n\r\n')) return void socket.write(`echo ${chunk.toString()}`);
        head += chunk.toString();
        if (head.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 200 OK\r\n\r\nready ');
      });
      socket.on('end', () => socket.end());
    });
    const tunnelingConfig = {
      hostname: 'db.example:5432',
      headersToAdd: [{ header: { key: 'x-a', value: '1' } }, { header: { key: 'X-A', value: '2' }, append: false }],
    };
    const gateway = await tcpGateway(
      [tcpPart({ options: { tcpProxySettings: { tunnelingConfig } } })],
      [upstreamAt(up)],
    );
    expect(await talk(await client(gateway.port), 'hi')).to.equal('ready echo hi');
    expect(head).to.equal('CONNECT db.example:5432 HTTP/1.1\r\nhost: db.example:5432\r\nX-A: 2\r\n\r\n');
  });

  it('close the connection if the proxy rejects the tunnel', async () => {
    const { port: up } = await tcpServer((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    const options = { tcpProxySettings: { tunnelingConfig: { hostname: 'db:1' } } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(up)]);
    expect(await talk(await client(gateway.port), 'hi')).to.equal('');
    await until(() => gateway.log().length > 0);
    expect(gateway.log()[0]).to.match(/ UF,URX /);
  });

  it('log open connections at intervals', async () => {
    const { port: up } = await echoServer('a');
    const options = { tcpProxySettings: { accessLogFlushInterval: '0.02s' } };
    const gateway = await tcpGateway([tcpPart({ options })], [upstreamAt(up)]);
    const socket = await client(gateway.port);
    await until(() => gateway.log().length >= 2);
    socket.destroy();
  });

  it('keep open connections when the listener changes, and close them at the end of a drain', async () => {
    const { port: up } = await echoServer('a');
    const gateway = await tcpGateway([tcpPart()], [upstreamAt(up)]);
    const socket = await client(gateway.port);
    await once(socket, 'data');
    await gateway.apply([tcpPart({ name: 'other' })], [upstreamAt(up)]);
    socket.write('still');
    expect(String(await once(socket, 'data'))).to.equal('still');
    const ended = once(socket, 'end');
    await gateway.listeners.drain(50);
    await ended;
  });
});
