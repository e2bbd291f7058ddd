import { createServer } from 'node:http';
import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import type { ActionKind, Handler } from '@edge-gateway/core';
import { closeAll, listen, until, whenDone } from '../forward/harness.ts';
import { frame } from '../websocket/frames.ts';
import {
  http1Request,
  http2Request,
  http2Session,
  tunnelGateway,
  webSocketHead,
  type TunnelGateway,
  type TunnelGatewayParts,
} from './gateway.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
const HANDSHAKE =
  'GET /chat?room=1 HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Protocol: chat\r\n\r\n`;
const HELLO = frame(Buffer.from('hello'), { masked: true }).toString('latin1');
const ECHO = frame(Buffer.from('hello')).toString('latin1');
/** A frame that closes with 1001, without a mask. */
const GOING_AWAY = '\x88\x02\x03\xe9';

interface Upstream {
  readonly port: number;
  /** Method, path and headers of each handshake. */
  readonly heads: Readonly<Record<string, unknown>>[];
  /** What they received of each WebSocket. */
  readonly texts: string[];
}

/** A server of WebSockets over HTTP/1.1 that repeats messages. */
async function http1Server(): Promise<Upstream> {
  const upstream = { port: 0, heads: [] as Readonly<Record<string, unknown>>[], texts: [] as string[] };
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered][0]! });
  sockets.on('connection', (socket, { method, url, headers }) => {
    upstream.heads.push({ method, url, ...headers });
    socket.on('error', () => {});
    socket.on('message', (data) => socket.send(String(data)));
  });
  upstream.port = await listen(server);
  whenDone(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return upstream;
}

/** A server of WebSockets over HTTP/2 that repeats the first message. */
async function http2Server(
  serve = (stream: ServerHttp2Stream, _headers: IncomingHttpHeaders): void => {
    stream.respond({ ':status': 200, 'sec-websocket-protocol': 'chat', 'x-a': '1' });
    stream.once('data', () => stream.write(ECHO, 'latin1'));
  },
  enableConnectProtocol = true,
): Promise<Upstream> {
  const upstream = { port: 0, heads: [] as Readonly<Record<string, unknown>>[], texts: [] as string[] };
  const server = createHttp2Server({ settings: { enableConnectProtocol } });
  server.on('session', (session) => {
    session.on('error', () => {});
    whenDone(() => session.destroy());
  });
  server.on('stream', (stream, headers) => {
    const i = upstream.heads.push({ ...headers }) - 1;
    upstream.texts[i] = '';
    stream.on('error', () => {}).on('data', (chunk: Buffer) => (upstream.texts[i] += chunk.toString('latin1')));
    stream.on('end', () => stream.end());
    serve(stream, headers);
  });
  upstream.port = await listen(server as unknown as Parameters<typeof listen>[0]);
  whenDone(() => void server.close());
  return upstream;
}

interface Opened {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  text(): string;
  send(bytes: string): void;
  isOver(): boolean;
}

async function openWebSocket(
  gateway: TunnelGateway,
  version: 1 | 2,
  more: Record<string, string> = {},
): Promise<Opened> {
  if (version === 2) {
    const end = await http2Request(gateway.port, webSocketHead({ 'sec-websocket-protocol': 'chat', ...more }));
    return {
      status: end.status ?? 0,
      headers: end.headers as Record<string, string>,
      text: () => end.text,
      send: (bytes) => void end.stream.write(bytes, 'latin1'),
      isOver: () => end.ended || end.closed,
    };
  }
  const end = await http1Request(gateway.port, HANDSHAKE);
  const headers = Object.fromEntries(
    end.head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  return {
    status: Number(end.head.split(' ')[1]),
    headers,
    text: () => end.text,
    send: (bytes) => void end.socket.write(bytes, 'latin1'),
    isOver: () => end.ended || end.closed,
  };
}

const HTTP2 = { spec: { useHttp2: true } };
const webSockets = (port: number, parts: Partial<TunnelGatewayParts> = {}): Promise<TunnelGateway> =>
  tunnelGateway({ port, routes: [{}], ...parts });

describe('WebSockets of clients and upstreams of both versions', () => {
  afterEach(closeAll);

  for (const client of [1, 2] as const) {
    for (const server of [1, 2] as const) {
      it(`pass from HTTP/${client} to HTTP/${server}`, async () => {
        const upstream = server === 1 ? await http1Server() : await http2Server();
        const gateway = await webSockets(upstream.port, server === 2 ? { upstream: HTTP2 } : {});
        const socket = await openWebSocket(gateway, client);
        expect(socket.status).to.equal(client === 1 ? 101 : 200);
        expect(socket.headers['sec-websocket-protocol']).to.equal('chat');
        expect(socket.headers['sec-websocket-accept']).to.equal(client === 1 ? ACCEPT : undefined);
        expect(socket.headers['upgrade']).to.equal(client === 1 ? 'websocket' : undefined);
        socket.send(HELLO);
        await until(() => socket.text() === ECHO);
        const [head = {}] = upstream.heads;
        if (server === 1) {
          expect(head).to.include({ method: 'GET', url: '/chat?room=1', host: 'a.example', upgrade: 'websocket' });
          expect(head['sec-websocket-key']).to.match(/^[\w+/]{22}==$/);
          expect(head).not.to.have.any.keys(':protocol', ':method');
        } else {
          expect(head).to.include({
            ':method': 'CONNECT',
            ':protocol': 'websocket',
            ':path': '/chat?room=1',
            ':authority': 'a.example',
            ':scheme': 'http',
            'sec-websocket-version': '13',
          });
          expect(head).not.to.have.any.keys('sec-websocket-key', 'connection', 'upgrade', 'host');
        }
        expect(gateway.stat('http.http.downstream_cx_upgrades_total')).to.equal(1);
        expect(gateway.stat('http.http.downstream_cx_upgrades_active')).to.equal(1);
        expect(gateway.stat('cluster.up_gw-system.upstream_rq_101')).to.equal(1);
      });

      it(`are closed with 1001 when the listener drains, from HTTP/${client} to HTTP/${server}`, async () => {
        const upstream = server === 1 ? await http1Server() : await http2Server();
        const gateway = await webSockets(upstream.port, server === 2 ? { upstream: HTTP2 } : {});
        const socket = await openWebSocket(gateway, client);
        gateway.router.drain();
        await until(() => socket.text().includes(GOING_AWAY) && socket.isOver());
        if (server === 2) await until(() => upstream.texts[0]!.startsWith('\x88\x82'));
      });

      it(`close after the idle timeout and after their maximum duration, from HTTP/${client} to HTTP/${server}`, async () => {
        const upstream = server === 1 ? await http1Server() : await http2Server();
        for (const options of [{ idleTimeout: '0.5s' }, { maxStreamDuration: { maxStreamDuration: '0.5s' } }]) {
          const parts = { routes: [{ options }], ...(server === 2 && { upstream: HTTP2 }) };
          const gateway = await webSockets(upstream.port, parts);
          const socket = await openWebSocket(gateway, client);
          expect(socket.status).to.equal(client === 1 ? 101 : 200);
          await until(() => socket.isOver());
          await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
        }
      });

      it(`pass with the transformations of their response head, from HTTP/${client} to HTTP/${server}`, async () => {
        const upstream = server === 1 ? await http1Server() : await http2Server();
        const changing = (transformationTemplate: object): object => ({
          responseTransforms: [{ responseTransformation: { transformationTemplate } }],
        });
        const stagedTransformations = {
          early: changing({ headers: { 'x-early': { text: '{{ missing }}' } } }),
          regular: changing({
            headers: {
              'x-set': { text: '{{ header(":status") }}' },
              ':status': { text: '404' },
            },
            headersToRemove: ['sec-websocket-protocol'],
            body: { text: 'no tunnel has one' },
          }),
        };
        const parts = { routes: [{ options: { stagedTransformations } }], ...(server === 2 && { upstream: HTTP2 }) };
        const socket = await openWebSocket(await webSockets(upstream.port, parts as never), client);
        expect(socket.status).to.equal(client === 1 ? 101 : 200);
        expect(socket.headers).to.include({ 'x-set': '101', server: 'envoy' });
        expect(socket.headers['upgrade']).to.equal(client === 1 ? 'websocket' : undefined);
        expect(socket.headers).to.not.have.any.keys('sec-websocket-protocol', 'x-early');
        socket.send(HELLO);
        await until(() => socket.text() === ECHO);
      });

      it(`relay the response of an upstream that rejects them, from HTTP/${client} to HTTP/${server}`, async () => {
        const upstream =
          server === 1
            ? { port: await plainServer() }
            : await http2Server((stream) => {
                stream.respond({ ':status': 403, 'content-length': '2' });
                stream.end('no');
              });
        const gateway = await webSockets(upstream.port, server === 2 ? { upstream: HTTP2 } : {});
        const socket = await openWebSocket(gateway, client);
        expect(socket.status).to.equal(403);
        await until(() => socket.text() === 'no' && socket.isOver());
      });
    }

    it(`use HTTP/1.1 if the server does not accept them over HTTP/2, from HTTP/${client}`, async () => {
      const upstream = await mixedServer();
      const gateway = await webSockets(upstream.port, { upstream: HTTP2 });
      const socket = await openWebSocket(gateway, client);
      expect(socket.status).to.equal(client === 1 ? 101 : 200);
      socket.send(HELLO);
      await until(() => socket.text() === ECHO);
    });
  }

  it('are guarded by the same policies over HTTP/2', async () => {
    const upstream = await http1Server();
    const guard = {
      name: 'guard',
      option: 'rbac',
      stage: 'rbac',
      compile: () =>
        function guard(
          req: { method?: string; url?: string; headers: Record<string, unknown> },
          res: { writeHead(status: number): { end(text: string): void } },
          next: () => void,
        ) {
          if (req.headers['authorization'] && req.method === 'GET' && req.url === '/chat?room=1') next();
          else res.writeHead(401).end('who?');
        },
    };
    const gateway = await webSockets(upstream.port, {
      routes: [{ options: { rbac: {} } }],
      concerns: [guard as never],
    });
    const rejected = await openWebSocket(gateway, 2);
    expect(rejected.status).to.equal(401);
    await until(() => rejected.text() === 'who?' && rejected.isOver());
    expect(upstream.heads).to.have.length(0);
    expect((await openWebSocket(gateway, 2, { authorization: 'me' })).status).to.equal(200);
  });

  it('of a package that responds itself work over HTTP/2', async () => {
    const sockets = new WebSocketServer({ noServer: true });
    const respond = Object.assign(() => {}, {
      upgrade(...[req, socket, head]: Parameters<NonNullable<Handler['upgrade']>>): void {
        sockets.handleUpgrade(req, socket, head, (webSocket) => {
          webSocket.on('error', () => {});
          webSocket.on('message', (data) => webSocket.send(String(data)));
        });
      },
    });
    const gateway = await webSockets(9, {
      routes: [
        {
          action: { type: 'graphql', api: { name: 'api', namespace: 'gw-system' } },
          // Its filter would wait for the end of the body.
          options: {
            stagedTransformations: {
              regular: { responseTransforms: [{ responseTransformation: { transformationTemplate: {} } }] },
            },
          },
        },
      ],
      actions: [{ action: 'graphql', compile: () => respond } as ActionKind],
    });
    for (const version of [1, 2] as const) {
      const socket = await openWebSocket(gateway, version);
      expect(socket.status).to.equal(version === 1 ? 101 : 200);
      expect(socket.headers['sec-websocket-accept']).to.equal(version === 1 ? ACCEPT : undefined);
      socket.send(HELLO);
      await until(() => socket.text() === ECHO);
    }
    for (const client of sockets.clients) client.close(1001);
    const bad = await openWebSocket(gateway, 2, { 'sec-websocket-protocol': ',' });
    expect(bad.status).to.equal(400);
    await until(() => bad.isOver());
    expect((await http2Request(gateway.port)).status).to.equal(405);
    for (const client of sockets.clients) client.terminate();
  });

  it('are announced over HTTP/2 only where they are allowed', async () => {
    const upstream = await http1Server();
    const off = { httpOptions: { httpConnectionManagerSettings: { upgrades: [{ websocket: { enabled: false } }] } } };
    const on = [{ options: { upgrades: [{ websocket: {} }] } }];
    const announced = async (parts: Partial<TunnelGatewayParts>): Promise<unknown> => {
      const gateway = await webSockets(upstream.port, parts);
      return (await http2Session(gateway.port)).remoteSettings.enableConnectProtocol;
    };
    expect(await announced({})).to.equal(true);
    expect(await announced({ listener: off })).to.equal(false);
    expect(await announced({ listener: off, routes: on })).to.equal(true);
  });

  it('are rejected over HTTP/2 where they are not allowed', async () => {
    const upstream = await http1Server();
    const routes = [{ options: { upgrades: [{ websocket: { enabled: false } }] } }];
    const gateway = await webSockets(upstream.port, { routes });
    expect((await openWebSocket(gateway, 2)).status).to.equal(403);
    const off = { httpOptions: { httpConnectionManagerSettings: { upgrades: [{ websocket: { enabled: false } }] } } };
    const never = await webSockets(upstream.port, { listener: off });
    // Without the setting, the request is invalid (RFC 8441 §3).
    expect((await openWebSocket(never, 2)).status).to.equal(0);
    expect(upstream.heads).to.have.length(0);
  });
});

async function plainServer(): Promise<number> {
  const server = createServer((_req, res) => res.writeHead(403, { 'content-length': '2' }).end('no'));
  server.on('upgrade', (_req, socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
  });
  const port = await listen(server);
  whenDone(() => void server.close());
  return port;
}

/** A server that speaks both versions on one port, and knows no WebSockets over HTTP/2. */
async function mixedServer(): Promise<{ port: number }> {
  const [http1, http2] = [await http1Server(), await http2Server(() => {}, false)];
  const { connect, createServer: createNetServer } = await import('node:net');
  const server = createNetServer((socket) => {
    socket.once('data', (first: Buffer) => {
      const isHttp2 = first.toString('latin1').startsWith('PRI ');
      const to = connect(isHttp2 ? http2.port : http1.port, '127.0.0.1');
      to.on('error', () => {}).write(first);
      socket
        .on('error', () => {})
        .pipe(to)
        .pipe(socket);
    });
  });
  const port = await listen(server);
  whenDone(() => void server.close());
  return { port };
}
