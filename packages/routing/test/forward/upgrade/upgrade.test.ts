import { expect } from 'chai';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer as createNetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { createContext, setCloseDelay, type Context, type SnapshotUpstream } from '@edge-gateway/core';
import { forwardUpgrade } from '../../../src/forward/upgrade/forward-upgrade.ts';
import type { UpgradeOutcome, UpgradeTarget } from '../../../src/forward/forward.ts';
import type { StreamLimits } from '../../../src/route/options/stream-limits.ts';
import type { Upstreams } from '../../../src/upstream/upstream.ts';
import { createUpstreams } from '../../../src/upstream/upstreams.ts';
import { closeAll, listen, rawClient, rawUpstream, snapshotOf, until, whenDone } from '../harness.ts';
import { certificates, secretsOf } from '../../upstream/certificates.ts';

interface UpgradeGateway {
  readonly port: number;
  readonly url: string;
  readonly outcomes: UpgradeOutcome[];
  readonly sockets: Set<Socket>;
  readonly upstreams: Upstreams;
  /** The value of a statistic of the upstream. */
  stat(name: string): number;
}

async function upgradeGateway(
  upstream: SnapshotUpstream,
  {
    context = createContext(),
    headers = [] as string[],
    timeoutMs = undefined as number | undefined,
    timeoutOf = (_req: IncomingMessage): number | undefined => timeoutMs,
    streamLimits = undefined as StreamLimits | undefined,
    pathOf = (req: IncomingMessage): string => `/rewritten${req.url}`,
    onFailure = undefined as UpgradeTarget['onFailure'],
  }: {
    context?: Context;
    headers?: string[];
    timeoutMs?: number | undefined;
    timeoutOf?: (req: IncomingMessage) => number | undefined;
    streamLimits?: StreamLimits;
    pathOf?: (req: IncomingMessage) => string;
    onFailure?: UpgradeTarget['onFailure'];
  } = {},
): Promise<UpgradeGateway> {
  const upstreams = createUpstreams(context);
  upstreams.apply([upstream]);
  const outcomes: UpgradeOutcome[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  server.on('upgrade', (req, socket, head) => {
    const dropped = new Set(['connection', 'upgrade', 'expect']);
    const kept = req.rawHeaders.filter((_, i) => !dropped.has(req.rawHeaders[i - (i % 2)]!.toLowerCase()));
    forwardUpgrade(req, socket, head, {
      upstream: upstreams.get(upstream.name)!,
      path: pathOf(req),
      headers: [...kept, ...headers],
      timeoutMs: timeoutOf(req),
      streamLimits,
      ...(onFailure && { onFailure }),
      onDone: (outcome) => void outcomes.push(outcome),
    });
  });
  const port = await listen(server);
  const stat = (name: string): number => {
    const path = `cluster.${upstream.name}.${name}`;
    return (context.metrics.list().find((each) => each.name.path === path)!.stat as { value: number }).value;
  };
  whenDone(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await upstreams.close();
  });
  return { port, url: `ws://127.0.0.1:${port}`, outcomes, sockets, upstreams, stat };
}

interface Echo {
  readonly port: number;
  readonly requests: IncomingMessage[];
  readonly clients: Set<WebSocket>;
}

async function echoServer(server: Server = createServer()): Promise<Echo> {
  const requests: IncomingMessage[] = [];
  const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered].at(-1)! });
  sockets.on('connection', (socket, req) => {
    requests.push(req);
    socket.on('error', () => {});
    socket.on('message', (data, binary) => {
      const text = binary ? '' : String(data);
      if (text.startsWith('close ')) socket.close(Number(text.slice(6)), 'as you wish');
      else socket.send(data, { binary });
    });
  });
  const port = await listen(server);
  whenDone(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return { port, requests, clients: sockets.clients };
}

async function open(url: string, protocols: string[] = [], headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, protocols, { headers, perMessageDeflate: false });
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}

const HANDSHAKE =
  'GET /a HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

describe('forwardUpgrade', () => {
  afterEach(closeAll);

  it('echoes text and binary messages both ways', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port));
    const socket = await open(`${gw.url}/chat?x=1`);
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).to.equal('hello');
    socket.send(Buffer.from([0, 255, 1]));
    expect((await once(socket, 'message'))[0]).to.deep.equal(Buffer.from([0, 255, 1]));
    socket.close();
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 101, flags: '', endpoint: `127.0.0.1:${echo.port}` });
    // Two messages and the close, without the head.
    expect(gw.outcomes[0]!.bytesSent).to.equal(14);
  });

  it('sends the path and the headers it is given', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port), { headers: ['x-twice', 'a', 'x-twice', 'b'] });
    await open(`${gw.url}/chat?x=1`, [], { 'x-own': 'yes' });
    const [req] = echo.requests;
    expect(req!.url).to.equal('/rewritten/chat?x=1');
    expect(req!.headers).to.include({ 'x-own': 'yes', 'x-twice': 'a, b', connection: 'Upgrade', upgrade: 'websocket' });
    expect(req!.headers.host).to.equal(`127.0.0.1:${gw.port}`);
  });

  it('sends a path that begins with two slashes unchanged', async () => {
    const echo = await echoServer();
    const gateway = await upgradeGateway(snapshotOf(echo.port), { pathOf: () => '//evil.example/x?y=//z' });
    const socket = await open(gateway.url);
    expect(echo.requests[0]!.url).to.equal('//evil.example/x?y=//z');
    expect(echo.requests[0]!.headers.host).to.equal(`127.0.0.1:${gateway.port}`);
    socket.close();
  });

  it('negotiates the sub-protocol end to end', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port));
    const socket = await open(gw.url, ['one', 'two']);
    expect(socket.protocol).to.equal('two');
  });

  it('passes a message of 8 MiB', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port));
    const socket = await open(gw.url);
    const big = Buffer.alloc(8 * 1024 * 1024, 'x');
    socket.send(big);
    expect(((await once(socket, 'message'))[0] as Buffer).equals(big)).to.equal(true);
  });

  it('passes close codes from the upstream', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port));
    const socket = await open(gw.url);
    socket.send('close 4321');
    const [code, reason] = await once(socket, 'close');
    expect([code, String(reason)]).to.deep.equal([4321, 'as you wish']);
  });

  it('passes close codes from the client', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port));
    const socket = await open(gw.url);
    const closed = once([...echo.clients][0]!, 'close');
    socket.close(4001, 'enough');
    const [code, reason] = await closed;
    expect([code, String(reason)]).to.deep.equal([4001, 'enough']);
  });

  it('relays a rejection of the upstream completely', async () => {
    const upstream = createServer((_req, res) => void res.end());
    upstream.on('upgrade', (_req, socket) =>
      socket.end(
        'HTTP/1.1 403 Forbidden\r\nx-why: no\r\ncontent-length: 9\r\nx-hop: 1\r\nconnection: x-hop\r\n\r\nforbidden',
      ),
    );
    const port = await listen(upstream);
    whenDone(() => upstream.close());
    const gw = await upgradeGateway(snapshotOf(port));
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text)
      .to.match(/^HTTP\/1.1 403 Forbidden\r\n/)
      .and.contain('x-why: no');
    expect(text).to.not.contain('x-hop: 1');
    expect(text.endsWith('\r\n\r\nforbidden')).to.equal(true);
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 403 });
  });

  for (const [name, rejection, received] of [
    ['204 and a body', '204 No Content\r\nx-why: no\r\ncontent-length: 5\r\n\r\nhello', ''],
    ['304 and a body', '304 Not Modified\r\nx-why: no\r\n\r\nhello', ''],
    ['more than its length', '403 Forbidden\r\nx-why: no\r\ncontent-length: 2\r\n\r\nno, never', 'no'],
    [
      'bytes after its last chunk',
      '403 Forbidden\r\nx-why: no\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\nnever',
      '2\r\nno\r\n0\r\n\r\n',
    ],
  ] as const) {
    it(`relays a rejection with ${name}, without the bytes that do not belong to it`, async () => {
      const upstream = await rawUpstream((socket) => socket.write(`HTTP/1.1 ${rejection}`));
      const gw = await upgradeGateway(snapshotOf(upstream.port));
      const { text } = await rawClient(gw.port, HANDSHAKE);
      const [head = '', ...body] = text.split('\r\n\r\n');
      expect(head.split('\r\n', 1)[0]).to.equal(`HTTP/1.1 ${rejection.split('\r\n', 1)[0]}`);
      expect(head).to.contain('\r\nx-why: no');
      expect(body.join('\r\n\r\n')).to.equal(received);
      await until(() => gw.outcomes.length === 1 && upstream.sockets.size === 0);
      expect(gw.outcomes[0]).to.include({ status: Number(rejection.slice(0, 3)), flags: '' });
    });
  }

  it('responds with 503 when the upstream is down', async () => {
    const upstream = createServer();
    const port = await listen(upstream);
    upstream.close();
    const gw = await upgradeGateway(snapshotOf(port));
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text).to.match(/^HTTP\/1.1 503 Service Unavailable\r\n/);
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 503, flags: 'UF' });
  });

  it('names an IPv6 endpoint in brackets', async () => {
    const gw = await upgradeGateway(snapshotOf(1, { endpoints: [{ address: '::1', port: 1, weight: 1 }] }));
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text).to.match(/^HTTP\/1\.1 503 /);
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]!.endpoint).to.equal('[::1]:1');
  });

  it('responds with 503 without an endpoint', async () => {
    const gw = await upgradeGateway(snapshotOf(1, { endpoints: [] }));
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text)
      .to.match(/^HTTP\/1.1 503 /)
      .and.contain('no healthy upstream');
  });

  for (const [name, ...header] of [
    ['a line break in a header', 'x-a', 'b\r\nx-c: d'],
    ['a header that is not Latin-1', 'x-user', '\u65e5\u672c'],
    ['two hosts', 'Host', 'b'],
  ] as const) {
    it(`sends no request with ${name}`, async () => {
      const upstream = await rawUpstream((socket) => socket.destroy());
      const gw = await upgradeGateway(snapshotOf(upstream.port), { headers: header });
      const { text } = await rawClient(gw.port, HANDSHAKE);
      expect(text)
        .to.match(/^HTTP\/1.1 500 /)
        .and.contain('the request cannot be sent upstream as it is');
      await until(() => gw.outcomes.length === 1);
      expect(gw.outcomes[0]).to.include({ status: 500, flags: '' });
      expect(upstream.connections).to.equal(0);
    });
  }

  it('responds with 503 when the upstream resets the handshake', async () => {
    const upstream = await rawUpstream((socket) => socket.resetAndDestroy());
    const gw = await upgradeGateway(snapshotOf(upstream.port));
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text).to.match(/^HTTP\/1.1 503 /);
  });

  for (const [name, bad] of Object.entries({
    'no HTTP': 'SSH-2.0-OpenSSH\r\n\r\n',
    'status 099': 'HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n',
    'status 999': 'HTTP/1.1 999 High\r\ncontent-length: 0\r\n\r\n',
    'a NUL in a header': 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nx: \0\r\n\r\n',
    'another protocol':
      'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: h2c\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    'the accept value of another key':
      'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n',
    'no accept value': 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n',
    'two content-lengths': 'HTTP/1.1 403 No\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
  })) {
    it(`responds with 502 when the upstream responds to the handshake with ${name}`, async () => {
      const upstream = await rawUpstream((socket) => socket.write(bad));
      const gw = await upgradeGateway(snapshotOf(upstream.port));
      const { text } = await rawClient(gw.port, HANDSHAKE);
      expect(text).to.match(/^HTTP\/1.1 502 /);
      expect(upstream.sockets.size).to.equal(0);
    });
  }

  it('is over when the client leaves with the rejection, although it has sent frames already', async () => {
    const upstream = await rawUpstream((socket) => {
      for (const each of gw.sockets) setCloseDelay(each, 600_000);
      socket.write('SSH-2.0-OpenSSH\r\n\r\n');
    });
    const gw = await upgradeGateway(snapshotOf(upstream.port));
    const { text } = await rawClient(gw.port, `${HANDSHAKE}frames`);
    expect(text).to.match(/^HTTP\/1.1 502 /);
    await until(() => gw.outcomes.length === 1);
    expect(gw.sockets.size).to.equal(0);
  });

  it('closes the upstream connection when the client leaves before the response', async () => {
    const upstream = await rawUpstream(() => {});
    const gw = await upgradeGateway(snapshotOf(upstream.port));
    const client = connect(gw.port, '127.0.0.1');
    client.write(HANDSHAKE);
    await until(() => upstream.requests.length === 1);
    client.destroy();
    await until(() => upstream.sockets.size === 0);
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 0, flags: 'DC' });
  });

  it('closes the upstream when the client disappears', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port));
    const socket = await open(gw.url);
    socket.terminate();
    await until(() => echo.clients.size === 0);
  });

  it('closes both when the client leaves and the upstream does not', async () => {
    const upstream = createServer();
    const tunnels = new Set<Duplex>();
    upstream.on('upgrade', (_req, socket: Duplex) => {
      tunnels.add(socket.on('close', () => tunnels.delete(socket)).on('error', () => {}));
      socket
        .resume()
        .write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
        );
    });
    const port = await listen(upstream);
    whenDone(() => {
      for (const socket of tunnels) socket.destroy();
      upstream.close();
    });
    const gw = await upgradeGateway(snapshotOf(port));
    const client = connect(gw.port, '127.0.0.1');
    client.write(HANDSHAKE);
    await once(client, 'data');
    client.destroy();
    await until(() => gw.sockets.size === 0 && gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 101 });
  });

  it('forwards upstream data to a client that has finished sending', async () => {
    const upstream = await rawUpstream((socket) => {
      socket.on('end', () => socket.end('bye'));
      socket
        .resume()
        .write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
        );
    });
    const gw = await upgradeGateway(snapshotOf(upstream.port));
    const client = connect({ port: gw.port, host: '127.0.0.1', allowHalfOpen: true });
    client.write(HANDSHAKE);
    await once(client, 'data');
    client.end();
    expect(String((await once(client, 'data'))[0])).to.equal('bye');
    await until(() => gw.sockets.size === 0);
  });

  it('forwards upstream data some time after the client has finished sending', async () => {
    const received = Promise.withResolvers<void>();
    const upstream = createNetServer({ allowHalfOpen: true }, (socket) => {
      socket.on('end', () => {
        socket.write('one');
        void received.promise.then(() => socket.end('two'));
      });
      socket
        .resume()
        .write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
        );
    });
    const gw = await upgradeGateway(snapshotOf(await listen(upstream)));
    whenDone(() => upstream.close());
    const client = connect({ port: gw.port, host: '127.0.0.1', allowHalfOpen: true });
    client.write(HANDSHAKE);
    let text = '';
    client.on('data', (chunk) => (text += chunk));
    await until(() => text.includes('\r\n\r\n'));
    client.end();
    await until(() => text.endsWith('one'));
    received.resolve();
    await once(client, 'end');
    expect(text.slice(text.indexOf('\r\n\r\n') + 4)).to.equal('onetwo');
    await until(() => gw.sockets.size === 0);
  });

  it('passes on the last words of an upstream that closes, however slowly the client reads', async () => {
    const last = Buffer.alloc(4 * 1024 * 1024, 'z');
    const upstream = await rawUpstream((socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      );
      socket.end(last);
    });
    const gw = await upgradeGateway(snapshotOf(upstream.port));
    const client = connect({ port: gw.port, host: '127.0.0.1' });
    client.write(HANDSHAKE);
    let received = 0;
    client.on('data', (chunk) => {
      received += chunk.length;
      client.pause();
      setTimeout(() => client.resume(), 2);
    });
    await once(client, 'close');
    expect(received).to.be.greaterThan(last.length);
  });

  it('writes buffered data when the upstream closes', async () => {
    const piece = Buffer.alloc(48 * 1024, 'z');
    let upstreamSocket: Socket | undefined;
    let isClosed = false;
    const upstream = await rawUpstream((socket) => {
      upstreamSocket = socket.on('close', () => (isClosed = true));
      socket
        .resume()
        .write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
        );
    });
    const gw = await upgradeGateway(snapshotOf(upstream.port));
    const client = connect({ port: gw.port, host: '127.0.0.1', allowHalfOpen: true });
    client.write(HANDSHAKE);
    await once(client, 'readable');
    const [socket] = gw.sockets;
    const head = socket!.bytesWritten;
    let sent = 0;
    // The client reads nothing, so that at some point the kernel accepts no more.
    while (socket!.writableLength === 0) {
      upstreamSocket!.write(piece);
      sent += piece.length;
      await until(() => socket!.bytesWritten - head === sent);
    }
    upstreamSocket!.end();
    await until(() => isClosed);
    let received = 0;
    client.on('data', (chunk: Buffer) => (received += chunk.length));
    await once(client, 'end');
    expect(received - head).to.equal(sent);
    client.end();
  });

  it('closes the client when the upstream disappears', async () => {
    const echo = await echoServer();
    const gw = await upgradeGateway(snapshotOf(echo.port));
    const socket = await open(gw.url);
    const closed = once(socket, 'close');
    for (const client of echo.clients) client.terminate();
    const [code] = await closed;
    expect(code).to.equal(1006);
    await until(() => gw.sockets.size === 0);
  });

  it('applies back pressure to the upstream while the client reads slowly', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'z');
    const total = 64 * 1024 * 1024;
    const upstream = await rawUpstream((socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      );
      const pump = (): void => {
        while (sent < total) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once('drain', pump);
        }
        socket.end();
      };
      pump();
    });
    const gw = await upgradeGateway(snapshotOf(upstream.port));
    const client = connect(gw.port, '127.0.0.1');
    client.pause().write(HANDSHAKE);
    await until(() => sent > 0);
    let before = -1;
    await until(() => {
      const still = sent === before;
      before = sent;
      return still;
    });
    expect(sent).to.be.lessThan(total / 2);
    let received = 0;
    client.on('data', (data) => (received += data.length)).resume();
    await once(client, 'end');
    client.end();
    expect(received).to.be.greaterThan(total);
    expect(sent).to.equal(total);
  });

  it('uses TLS to the upstream, and verifies it', async () => {
    const { ca, server } = certificates();
    const echo = await echoServer(createHttpsServer({ cert: server.cert, key: server.key }) as unknown as Server);
    const upstream = snapshotOf(echo.port, {
      tls: true,
      endpoints: [{ address: '127.0.0.1', port: echo.port, weight: 1, sni: 'api.example.com' }],
      spec: { sslConfig: { secretRef: { name: 'tls' } } },
    });
    const good = await upgradeGateway(upstream, {
      context: createContext({ secrets: secretsOf({ tls: { 'ca.crt': ca } }) }),
    });
    const socket = await open(good.url);
    socket.send('over TLS');
    expect(String((await once(socket, 'message'))[0])).to.equal('over TLS');
    const bad = await upgradeGateway({ ...upstream, spec: {} });
    expect((await rawClient(bad.port, HANDSHAKE)).text).to.match(/^HTTP\/1.1 503 /);
    await until(() => bad.outcomes.length === 1);
    expect(bad.outcomes[0]!.details).to.contain('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });
});

describe('limits of upgrades', () => {
  afterEach(closeAll);

  async function opened(url: string): Promise<WebSocket> {
    const client = new WebSocket(url);
    client.on('error', () => {});
    await once(client, 'open');
    return client;
  }

  it('refuse more than maxRequests at a time', async () => {
    const { port } = await echoServer();
    const upstream = snapshotOf(port, { spec: { circuitBreakers: { maxRequests: 1 } } });
    const gateway = await upgradeGateway(upstream);
    const first = await opened(gateway.url);
    const second = new WebSocket(gateway.url).on('error', () => {});
    const [, response] = (await once(second, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).to.equal(503);
    response.resume();
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes[0]).to.include({ status: 503, flags: 'UO' });
    first.terminate();
    await until(() => gateway.outcomes.length === 2);
    (await opened(gateway.url)).terminate();
  });

  it('do not lose what the upstream sends with its response', async () => {
    const { port } = await rawUpstream((socket) =>
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nfirst bytes',
      ),
    );
    const gateway = await upgradeGateway(snapshotOf(port), { streamLimits: { idleMs: 60_000, durationMs: 60_000 } });
    const { text } = await rawClient(gateway.port, HANDSHAKE);
    expect(text.split('\r\n\r\n')[1]).to.equal('first bytes');
  });

  it('give up a handshake after the timeout', async () => {
    const { port, sockets } = await rawUpstream(() => {});
    const gw = await upgradeGateway(snapshotOf(port), { timeoutMs: 50 });
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text).to.match(/^HTTP\/1\.1 504 Gateway Timeout\r\n/);
    expect(text.split('\r\n\r\n')[1]).to.equal('upstream request timeout');
    await until(() => gw.outcomes.length === 1 && sockets.size === 0);
    expect(gw.outcomes[0]).to.include({ status: 504, flags: 'UT', details: 'response_timeout' });
    expect(gw.stat('upstream_rq_timeout')).to.equal(1);
    const [host] = gw.upstreams.get('echo_gw-system')!.hostStates;
    expect(host!.counters).to.include({ rq_timeout: 1, rq_error: 1, rq_total: 1, rq_active: 0 });
  });

  it('break off a rejection that is not complete after the timeout', async () => {
    const { port, sockets } = await rawUpstream((socket) =>
      socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 10\r\n\r\nhalf'),
    );
    const gw = await upgradeGateway(snapshotOf(port), { timeoutMs: 100 });
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text)
      .to.match(/^HTTP\/1\.1 403 /)
      .and.match(/half$/);
    await until(() => gw.outcomes.length === 1 && sockets.size === 0);
    expect(gw.outcomes[0]).to.include({ status: 403, flags: 'UT', details: 'response_timeout' });
  });

  it('do not wait for a connection after the timeout, although the client stays', async () => {
    const { port } = await echoServer();
    const upstream = snapshotOf(port, { spec: { circuitBreakers: { maxConnections: 1 } } });
    const gw = await upgradeGateway(upstream, { timeoutOf: ({ url }) => (url === '/a' ? 50 : undefined) });
    const first = await opened(gw.url);
    const second = connect({ port: gw.port, host: '127.0.0.1', allowHalfOpen: true });
    second.write(HANDSHAKE);
    const [response] = (await once(second, 'data')) as [Buffer];
    expect(String(response)).to.match(/^HTTP\/1\.1 504 /);
    expect([gw.stat('upstream_rq_pending_active'), gw.outcomes.length]).to.deep.equal([0, 0]);
    second.destroy();
    first.terminate();
    await until(() => gw.outcomes.length === 2);
  });

  it('are counted once if the gateway responds to the failure and the client leaves later', async () => {
    const failures: UpgradeOutcome[] = [];
    const gw = await upgradeGateway(snapshotOf(1), { onFailure: (_, outcome) => void failures.push(outcome) });
    const client = connect(gw.port, '127.0.0.1');
    client.write(HANDSHAKE);
    await until(() => failures.length === 1);
    expect(failures[0]).to.include({ status: 503, flags: 'UF' });
    // Whoever responds to a failure ends the connection.
    for (const socket of gw.sockets) socket.resume().end();
    client.destroy();
    await until(() => gw.sockets.size === 0);
    expect(gw.outcomes).to.deep.equal([]);
    expect([gw.stat('upstream_rq_active'), gw.stat('upstream_rq_completed')]).to.deep.equal([0, 1]);
    const [host] = gw.upstreams.get('echo_gw-system')!.hostStates;
    expect(host!.counters).to.include({ rq_active: 0, rq_total: 1 });
  });

  it('leave a tunnel open after the timeout', async () => {
    let handshakes = 0;
    const { port } = await rawUpstream((socket) => {
      if (handshakes++ > 0) return;
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      );
      socket.on('data', () => socket.write('still'));
    });
    const gw = await upgradeGateway(snapshotOf(port), { timeoutMs: 100 });
    const client = connect(gw.port, '127.0.0.1');
    client.write(HANDSHAKE);
    await once(client, 'data');
    // Its timeout ends after that of the tunnel would.
    expect((await rawClient(gw.port, HANDSHAKE)).text).to.match(/^HTTP\/1\.1 504 /);
    client.write('frame');
    expect(String((await once(client, 'data'))[0])).to.equal('still');
    client.destroy();
  });

  it('are unlimited with a timeout of 0', async () => {
    const { port } = await echoServer();
    const gw = await upgradeGateway(snapshotOf(port), { timeoutMs: 0 });
    const client = await opened(gw.url);
    client.send('once');
    expect(String((await once(client, 'message'))[0])).to.equal('once');
    client.terminate();
  });

  it('end an idle tunnel', async () => {
    const { port } = await echoServer();
    const gateway = await upgradeGateway(snapshotOf(port), { streamLimits: { idleMs: 60, durationMs: 0 } });
    const client = await opened(gateway.url);
    client.send('once');
    expect(String((await once(client, 'message'))[0])).to.equal('once');
    await once(client, 'close');
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes[0]).to.include({ status: 101, flags: 'SI', details: 'stream_idle_timeout' });
  });

  it('end a tunnel that is in use for too long', async () => {
    const { port } = await echoServer();
    const gateway = await upgradeGateway(snapshotOf(port), { streamLimits: { idleMs: 5000, durationMs: 100 } });
    const client = await opened(gateway.url);
    client.on('message', () => client.send('again')).send('first');
    await once(client, 'close');
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes[0]).to.include({ status: 101, flags: 'DT', details: 'max_duration_timeout' });
  });

  it('give up a handshake without a response', async () => {
    const { port } = await rawUpstream(() => {});
    const gateway = await upgradeGateway(snapshotOf(port), { streamLimits: { idleMs: 60, durationMs: 0 } });
    const client = new WebSocket(gateway.url).on('error', () => {});
    const [, response] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).to.equal(504);
    response.resume();
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes[0]).to.include({ status: 504, flags: 'SI' });
  });
});
