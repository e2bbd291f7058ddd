import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { expect } from 'chai';
import type { Route } from '@edge-gateway/core';
import { closeAll, listen, until, untilStill, whenDone } from '../forward/harness.ts';
import { CODE, fields, FLAG, frame, FRAME, FrameClient, uint32 } from '../listen/http2/frames.ts';
import { data, frameUpstream, head, lastData, reset } from '../upstream/http2/frames.ts';
import {
  CONNECT_REQUEST,
  connectRoute,
  FORWARDED,
  http1Client,
  http1Request,
  http2Request,
  http2Session,
  openStream,
  TARGET,
  tcpServer,
  tunnelGateway,
  webSocketHead,
} from './gateway.ts';

const CONNECT = { ':method': 'CONNECT', ':authority': TARGET };

describe('hostile tunnels', () => {
  afterEach(closeAll);

  const host = `Host: ${TARGET}\r\n`;
  const FORMS: readonly (readonly [name: string, status: number, head: string])[] = [
    ['a body with a length', 400, `CONNECT ${TARGET} HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc`],
    ['a body in chunks', 400, `CONNECT ${TARGET} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two lengths', 400, `CONNECT ${TARGET} HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 3\r\n\r\n`],
    ['a path', 400, `CONNECT /a HTTP/1.1\r\n${host}\r\n`],
    ['an absolute target', 400, `CONNECT http://${TARGET}/ HTTP/1.1\r\n${host}\r\n`],
    ['no port', 400, 'CONNECT db.example HTTP/1.1\r\nHost: db.example\r\n\r\n'],
    ['port 0', 400, 'CONNECT db.example:0 HTTP/1.1\r\nHost: db.example:0\r\n\r\n'],
    ['port 65536', 400, 'CONNECT db.example:65536 HTTP/1.1\r\nHost: db.example:65536\r\n\r\n'],
    ['userinfo', 400, 'CONNECT me@db.example:1 HTTP/1.1\r\nHost: me@db.example:1\r\n\r\n'],
    ['another Host', 400, `CONNECT ${TARGET} HTTP/1.1\r\nHost: other.example:5432\r\n\r\n`],
    ['another port in Host', 400, `CONNECT ${TARGET} HTTP/1.1\r\nHost: db.example:1\r\n\r\n`],
    ['two Hosts', 400, `CONNECT ${TARGET} HTTP/1.1\r\n${host}${host}\r\n`],
    ['no Host', 400, `CONNECT ${TARGET} HTTP/1.1\r\n\r\n`],
    ['HTTP/1.0', 426, `CONNECT ${TARGET} HTTP/1.0\r\n${host}\r\n`],
  ];
  for (const [name, status, head] of FORMS) {
    it(`are not opened over HTTP/1.1 for ${name}: ${status}, and the connection closes`, async () => {
      const { port, ends } = await tcpServer();
      const gateway = await tunnelGateway({ port });
      const client = await http1Request(gateway.port, head);
      expect(client.head).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      await until(() => client.ended || client.closed);
      expect(ends).to.have.length(0);
    });
  }

  const connect = [':method', 'CONNECT'] as const;
  const target = [':authority', TARGET] as const;
  const webSocket = [
    connect,
    [':protocol', 'websocket'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'a'],
  ] as const;
  const version = ['sec-websocket-version', '13'] as const;
  type Pairs = readonly (readonly [string, string])[];
  /** `reset` if the stream must be reset. */
  const STREAMS: readonly (readonly [name: string, outcome: number | 'reset', head: Pairs])[] = [
    ['a tunnel with a path', 'reset', [connect, target, [':path', '/']]],
    ['a tunnel with a scheme', 'reset', [connect, target, [':scheme', 'http']]],
    ['a tunnel without authority', 'reset', [connect]],
    ['a tunnel without port', 400, [connect, [':authority', 'db.example']]],
    ['a tunnel with another host', 400, [connect, target, ['host', 'other.example']]],
    ['a tunnel with a length', 400, [connect, target, ['content-length', '3']]],
    ['a tunnel with a coding', 'reset', [connect, target, ['transfer-encoding', 'chunked']]],
    ['a WebSocket without path', 'reset', [...webSocket.filter(([name]) => name !== ':path'), version]],
    ['a WebSocket without scheme', 'reset', [...webSocket.filter(([name]) => name !== ':scheme'), version]],
    ['a WebSocket by GET', 'reset', [[':method', 'GET'], ...webSocket.slice(1), version]],
    ['a WebSocket without version', 426, webSocket],
    ['a WebSocket of version 8', 426, [...webSocket, ['sec-websocket-version', '8']]],
    ['a WebSocket with a length', 400, [...webSocket, version, ['content-length', '3']]],
    ['a WebSocket with Upgrade', 'reset', [...webSocket, version, ['upgrade', 'websocket']]],
    ['a WebSocket with Connection', 'reset', [...webSocket, version, ['connection', 'upgrade']]],
    ['an unknown protocol', 403, [connect, [':protocol', 'connect-udp'], ...webSocket.slice(2), version]],
  ];
  for (const [name, outcome, list] of STREAMS) {
    it(`are not opened over HTTP/2 for ${name}: ${outcome}, and other streams are served`, async () => {
      const { port, ends } = await tcpServer();
      const gateway = await tunnelGateway({ port });
      const client = await FrameClient.open(gateway.port);
      whenDone(() => client.close());
      client.send(frame(FRAME.headers, FLAG.endHeaders, 1, fields(...list)));
      if (outcome === 'reset') expect(await client.reset(1)).to.equal(CODE.protocol);
      else expect(await client.status(1)).to.equal(outcome);
      expect(ends).to.have.length(0);
      client.send(frame(FRAME.headers, FLAG.endHeaders, 3, fields(connect, target)));
      expect(await client.status(3)).to.equal(200);
    });
  }

  for (const connectKind of ['forward', 'terminate'] as const) {
    it(`do not reach own ports or private addresses through a host that the request names (${connectKind})`, async () => {
      const { port, ends } = await tcpServer();
      const upgrades = connectKind === 'forward' ? [{ connect: {} }] : [{ connectTerminate: {} }];
      const route: Partial<Route> = {
        ...connectRoute({ upgrades }),
        action: {
          type: 'forward',
          destinations: [{ upstream: 'dynamic', weight: 1, options: {}, dynamic: { type: 'host' } }],
        },
      };
      const ask = async (options: object, to: string): Promise<string> => {
        const gateway = await tunnelGateway({
          port,
          routes: [route],
          listener: { httpOptions: { dynamicForwardProxy: options } },
        });
        const over1 = await http1Request(gateway.port, `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`);
        const over2 = await http2Request(gateway.port, { ':method': 'CONNECT', ':authority': to });
        return `${over1.head.split(' ')[1]} ${over2.status}`;
      };
      for (const to of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, '169.254.169.254:80', '10.0.0.1:22'])
        expect(await ask({}, to), to).to.equal('403 403');
      const loopback = { allowedAddresses: ['127.0.0.1/32'] };
      // The port of the listener.
      expect(await ask(loopback, '127.0.0.1:8080')).to.equal('403 403');
      expect(ends).to.have.length(0);
      if (connectKind === 'terminate') {
        expect(await ask(loopback, `127.0.0.1:${port}`)).to.equal('200 200');
        expect(ends).to.have.length(2);
      }
    });
  }

  it('end with the reset of either side, and other streams go on', async () => {
    const { port, ends } = await tcpServer(({ socket }) => socket.write('hello'));
    const gateway = await tunnelGateway({ port });
    const first = await http1Request(gateway.port);
    await until(() => first.text === 'hello');
    first.socket.resetAndDestroy();
    await until(() => ends[0]!.closed);
    expect(ends[0]!.error?.code).to.equal('ECONNRESET');
    const second = await http1Request(gateway.port);
    await until(() => second.text === 'hello');
    ends[1]!.socket.resetAndDestroy();
    await until(() => second.closed);
    expect(second.error?.code).to.equal('ECONNRESET');

    // A client of Node ends a stream before it resets it.
    const raw = await FrameClient.open(gateway.port);
    whenDone(() => raw.close());
    for (const id of [1, 3, 5]) raw.send(frame(FRAME.headers, FLAG.endHeaders, id, fields(connect, target)));
    for (const id of [1, 3, 5]) await raw.until(({ type, stream }) => type === FRAME.data && stream === id);
    raw.send(frame(FRAME.rstStream, 0, 1, Buffer.from([0, 0, 0, CODE.cancel])));
    await until(() => ends.filter(({ closed }) => closed).length === 3);
    expect(ends.filter(({ error }) => error?.code === 'ECONNRESET')).to.have.length(2);
    ends.findLast(({ closed }) => !closed)!.socket.resetAndDestroy();
    const { stream: gone } = await raw.until(({ type }) => type === FRAME.rstStream);
    const left = gone === 3 ? 5 : 3;
    raw.send(frame(FRAME.data, 0, left, Buffer.from('still here')));
    await until(() => ends.some(({ text }) => text === 'still here'));
    raw.close();
    await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
    await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0);
  });

  it('end with a reset of the upstream without an error, whatever they wait for', async () => {
    for (const isComplete of [true, false]) {
      const { port } = await frameUpstream((socket, id, { received }) => {
        socket.write(Buffer.concat([head(id, ':status', '200'), isComplete ? lastData(id, 'all') : data(id, 'all')]));
        const isSending = (): boolean => received.some(({ type }) => type === FRAME.data);
        void until(isSending).then(() => socket.write(reset(id, 0)));
      });
      const gateway = await tunnelGateway({ port, routes: [FORWARDED, {}], upstream: { spec: { useHttp2: true } } });
      const { socket, ...client } = await http1Request(gateway.port);
      socket.write(Buffer.alloc(300_000));
      await until(() => gateway.stat('cluster.up_gw-system.upstream_rq_active') === 0);
      expect(client.head).to.match(/^HTTP\/1.1 200 /);
      socket.destroy();
    }
  });

  it('release everything if the client leaves before the response', async () => {
    const silent = await tcpServer(({ socket }) => socket.on('end', () => socket.end()));
    for (const useHttp2 of [false, true]) {
      const gateway = await tunnelGateway({ port: silent.port, routes: [FORWARDED], upstream: { spec: { useHttp2 } } });
      const session = await http2Session(gateway.port);
      const stream = openStream(session, CONNECT);
      const client = http1Client(gateway.port, CONNECT_REQUEST);
      await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 2);
      stream.stream.close(CODE.cancel);
      client.socket.destroy();
      await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
      await until(() => gateway.stat('cluster.up_gw-system.upstream_rq_active') === 0);
      if (!useHttp2) await until(() => silent.ends.every(({ ended, closed }) => ended || closed));
    }
  });

  it('hold only what flow control allows of data before the response, and discard it with a rejection', async () => {
    let refuse = (): void => {};
    const proxy = await tcpServer(({ socket }) => {
      refuse = () => void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
    const http2ProtocolOptions = { initialStreamWindowSize: 65_535 };
    const gateway = await tunnelGateway({
      port: proxy.port,
      routes: [FORWARDED],
      listener: { httpOptions: { httpConnectionManagerSettings: { http2ProtocolOptions } } },
    });
    const session = await http2Session(gateway.port);
    const stream = openStream(session, CONNECT);
    for (let i = 0; i < 64; i++) stream.stream.write(Buffer.alloc(65_536));
    await until(() => proxy.ends[0]?.text.endsWith('\r\n\r\n') === true);
    // The rest waits at the client.
    expect(stream.stream.writableLength).to.be.greaterThan(3 * 1024 * 1024);
    refuse();
    await until(() => stream.status === 403 && stream.closed);
    expect(proxy.ends[0]!.text.length).to.be.lessThan(1_000);
  });

  it('grant the window of the connection again for what they no longer pass on', async () => {
    const window = 65_535;
    const http2ProtocolOptions = { initialStreamWindowSize: window, initialConnectionWindowSize: window };
    const { port } = await tcpServer(({ socket }) => void socket.pause());
    const gateway = await tunnelGateway({
      port,
      listener: { httpOptions: { httpConnectionManagerSettings: { http2ProtocolOptions } } },
    });
    const client = await FrameClient.open(gateway.port);
    whenDone(() => client.close());
    client.send(frame(FRAME.headers, FLAG.endHeaders, 1, fields(connect, target)));
    expect(await client.status(1)).to.equal(200);
    let sent = 0;
    const granted = (of: number): number =>
      client.frames
        .filter(({ type, stream }) => type === FRAME.windowUpdate && stream === of)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), window);
    const left = (): number => Math.min(granted(0), granted(1)) - sent;
    // The buffers of the kernel take some megabytes.
    await untilStill(() => {
      for (let bytes = left(); bytes > 0; bytes = left()) {
        const part = Buffer.alloc(Math.min(bytes, 16_384));
        client.send(frame(FRAME.data, 0, 1, part));
        sent += part.length;
      }
      return sent;
    });
    // The tunnel goes on after the last byte of the client, until it is reset.
    client.send(frame(FRAME.data, FLAG.endStream, 1), frame(FRAME.rstStream, 0, 1, uint32(CODE.cancel)));
    await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
    await until(() => granted(0) - sent > window / 2, 'the window');
  });

  it('are limited as streams, and a flood of WebSockets that are reset closes the connection', async () => {
    const upstream = await tcpServer();
    const http2ProtocolOptions = { maxConcurrentStreams: 2 };
    const limited = await tunnelGateway({
      port: upstream.port,
      routes: [{}],
      listener: { httpOptions: { httpConnectionManagerSettings: { http2ProtocolOptions } } },
    });
    const raw = await FrameClient.open(limited.port);
    whenDone(() => raw.close());
    await raw.until(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack);
    const head = fields(...webSocket, version);
    for (const id of [1, 3, 5]) raw.send(frame(FRAME.headers, FLAG.endHeaders, id, head));
    expect(await raw.reset(5)).to.equal(CODE.refused);
    raw.close();
    await until(() => limited.stat('http.http.downstream_cx_upgrades_active') === 0);
    expect(limited.stat('http.http.downstream_cx_upgrades_total')).to.be.lessThan(3);

    const gateway = await tunnelGateway({ port: upstream.port, routes: [{}] });
    const flood = await FrameClient.open(gateway.port);
    whenDone(() => flood.close());
    const code = Buffer.from([0, 0, 0, CODE.cancel]);
    for (let id = 1; id < 2_000; id += 2) {
      flood.send(frame(FRAME.headers, FLAG.endHeaders, id, head), frame(FRAME.rstStream, 0, id, code));
    }
    expect(await flood.goaway()).to.equal(CODE.calm);
    await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
    await until(() => gateway.stat('cluster.up_gw-system.upstream_rq_active') === 0);
    const other = await http2Session(gateway.port);
    expect(other.remoteSettings.enableConnectProtocol).to.equal(true);
  });

  it('carry no header of one version into the other', async () => {
    const proxy = await tcpServer(({ socket }) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nconnection: x-hop\r\nx-hop: 1\r\ncontent-length: 5\r\nkeep-alive: timeout=5\r\nx-kept: 1\r\n\r\n',
      );
    });
    const gateway = await tunnelGateway({ port: proxy.port, routes: [FORWARDED] });
    const over2 = await http2Request(gateway.port, {
      ...CONNECT,
      'proxy-authorization': 'Basic x',
      'x-forwarded-for': '6.6.6.6',
      x_forwarded_for: '6.6.6.6',
      te: 'trailers',
    });
    expect(over2.status).to.equal(200);
    expect(over2.headers).to.include({ 'x-kept': '1' });
    expect(over2.headers).not.to.have.any.keys('x-hop', 'keep-alive', 'content-length', 'connection');
    const head = proxy.ends[0]!.text.split('\r\n').map((line) => line.split(':')[0]!.toLowerCase());
    expect(head).not.to.include.members(['proxy-authorization']);
    expect(head).not.to.include('x_forwarded_for');
    expect(proxy.ends[0]!.text).to.include('x-forwarded-for: 6.6.6.6,127.0.0.1\r\n');
    const over1 = await http1Request(gateway.port);
    expect(over1.head.toLowerCase()).not.to.match(/x-hop|keep-alive|content-length|connection/);
  });

  it('generate a key for a WebSocket over HTTP/2, and verify the accept value of the upstream', async () => {
    const server = await tcpServer(({ socket }) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n',
      );
    });
    const gateway = await tunnelGateway({ port: server.port, routes: [{}] });
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    const socket = await http2Request(gateway.port, webSocketHead({ 'sec-websocket-key': key }));
    expect(socket.status).to.equal(502);
    expect(server.ends[0]!.text)
      .to.match(/sec-websocket-key: [\w+/]{22}==/i)
      .and.not.to.include(key);
    await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
    await until(() => server.ends[0]!.closed || server.ends[0]!.ended);
  });

  it('respond with 502 to an HTTP/2 response that is invalid for a tunnel, and with 503 to a reset stream', async () => {
    const CASES: readonly (readonly [status: number, serve: (stream: ServerHttp2Stream) => void])[] = [
      [503, (stream) => stream.close(CODE.refused)],
      [503, (stream) => stream.close(CODE.cancel)],
      [503, (stream) => stream.session!.destroy()],
    ];
    for (const [status, serve] of CASES) {
      const server = createHttp2Server({ settings: { enableConnectProtocol: true } });
      server.on('session', (session) => session.on('error', () => {}));
      server.on('stream', (stream) => {
        stream.on('error', () => {});
        serve(stream);
      });
      const port = await listen(server as unknown as Parameters<typeof listen>[0]);
      whenDone(() => void server.close());
      const upstream = { spec: { useHttp2: true } };
      const gateway = await tunnelGateway({ port, routes: [FORWARDED, {}], upstream });
      expect((await http2Request(gateway.port)).status).to.equal(status);
      expect((await http2Request(gateway.port, webSocketHead())).status).to.equal(status);
      expect((await http1Request(gateway.port)).head).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      expect(gateway.stat('http.http.downstream_cx_upgrades_active')).to.equal(0);
    }
  });

  it('close after the idle timeout of the listener if one half stays open', async () => {
    const { port, ends } = await tcpServer();
    const limits = { streamIdleTimeoutMs: 100 };
    const gateway = await tunnelGateway({ port, limits });
    const over1 = await http1Request(gateway.port);
    over1.socket.end();
    const over2 = await http2Request(gateway.port);
    over2.stream.end();
    await until(() => over1.ended && over2.closed);
    await until(() => ends.every(({ ended, closed }) => ended || closed));
    await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
  });
});
