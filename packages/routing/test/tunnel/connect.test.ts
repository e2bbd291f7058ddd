import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { expect } from 'chai';
import { closeAll, listen, until, whenDone } from '../forward/harness.ts';
import {
  CONNECT_REQUEST,
  connectRoute,
  FORWARDED,
  http1Client,
  http1Request,
  http2Request,
  TARGET,
  tcpServer,
  tunnelGateway,
  type End,
  type TunnelGateway,
} from './gateway.ts';

/** Repeats what it receives, in capitals, and says goodbye after the end. */
function shout({ socket }: End): void {
  socket.on('data', (chunk: Buffer) => socket.write(chunk.toString('latin1').toUpperCase()));
  socket.on('end', () => socket.end('BYE'));
}

/** An HTTP/2 server of CONNECT requests, which behaves like {@link shout}. */
async function http2Proxy(
  onStream: (stream: ServerHttp2Stream) => void = (stream) => {
    stream.respond({ ':status': 200, 'x-proxy': 'yes' });
    stream.on('data', (chunk: Buffer) => stream.write(chunk.toString('latin1').toUpperCase()));
    stream.on('end', () => stream.end('BYE'));
  },
): Promise<{ port: number; heads: (readonly string[])[]; streams: ServerHttp2Stream[] }> {
  const heads: (readonly string[])[] = [];
  const streams: ServerHttp2Stream[] = [];
  const server = createHttp2Server();
  server.on('session', (session) => {
    session.on('error', () => {});
    whenDone(() => session.destroy());
  });
  server.on('stream', (stream, _headers, _flags, raw) => {
    stream.on('error', () => {});
    heads.push(raw as unknown as string[]);
    streams.push(stream);
    onStream(stream);
  });
  const port = await listen(server as unknown as Parameters<typeof listen>[0]);
  whenDone(() => void server.close());
  return { port, heads, streams };
}

/** An HTTP/1.1 proxy that opens tunnels and behaves like {@link shout}. */
async function http1Proxy(response = 'HTTP/1.1 200 OK\r\nx-proxy: yes\r\n\r\n') {
  return tcpServer((end) => {
    let isOpen = false;
    end.socket.on('data', (chunk: Buffer) => {
      if (isOpen) end.socket.write(chunk.toString('latin1').toUpperCase());
      else if (end.text.includes('\r\n\r\n')) {
        isOpen = true;
        end.socket.write(response, 'latin1');
      }
    });
    end.socket.on('end', () => end.socket.end('BYE'));
  });
}

describe('CONNECT', () => {
  afterEach(closeAll);

  for (const version of ['HTTP/1.1', 'HTTP/2'] as const) {
    describe(`over ${version}`, () => {
      const request = async (
        port: number,
      ): Promise<{
        status: number;
        text: () => string;
        write(text: string): void;
        end(): void;
        ended: () => boolean;
        closed: () => boolean;
        headers: string;
      }> => {
        if (version === 'HTTP/1.1') {
          const end = await http1Request(port);
          return {
            status: Number(end.head.split(' ')[1]),
            headers: end.head,
            text: () => end.text,
            write: (text) => void end.socket.write(text),
            end: () => void end.socket.end(),
            ended: () => end.ended,
            closed: () => end.ended || end.closed,
          };
        }
        const end = await http2Request(port);
        return {
          status: end.status!,
          headers: Object.entries(end.headers)
            .map(([name, value]) => `${name}: ${String(value)}`)
            .join('\r\n'),
          text: () => end.text,
          write: (text) => void end.stream.write(text),
          end: () => void end.stream.end(),
          ended: () => end.ended,
          closed: () => end.closed,
        };
      };

      it('is terminated into a TCP connection that ends on each side on its own', async () => {
        const { port, ends } = await tcpServer(shout);
        const gateway = await tunnelGateway({ port });
        const client = await request(gateway.port);
        expect(client.status).to.equal(200);
        expect(client.headers).not.to.match(/content-length|transfer-encoding/);
        client.write('hello');
        await until(() => client.text() === 'HELLO');
        expect(gateway.stat('http.http.downstream_cx_upgrades_active')).to.equal(1);
        expect(gateway.stat('http.http.downstream_cx_upgrades_total')).to.equal(1);
        client.end();
        await until(() => client.ended());
        expect(client.text()).to.equal('HELLOBYE');
        expect(ends).to.have.length(1);
        expect(ends[0]!.text).to.equal('hello');
        await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
        expect(gateway.stat('cluster.up_gw-system.upstream_rq_200')).to.equal(1);
        await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0);
        expect(gateway.stat('cluster.up_gw-system.upstream_rq_active')).to.equal(0);
      });

      it('is forwarded to a proxy over HTTP/1.1', async () => {
        const { port, ends } = await http1Proxy();
        const gateway = await tunnelGateway({ port, routes: [FORWARDED] });
        const client = await request(gateway.port);
        expect(client.status).to.equal(200);
        expect(client.headers).to.include('x-proxy: yes');
        client.write('hello');
        await until(() => client.text() === 'HELLO');
        client.end();
        await until(() => client.ended());
        expect(client.text()).to.equal('HELLOBYE');
        const [line, ...headers] = ends[0]!.text.split('\r\n');
        expect(line).to.equal(`CONNECT ${TARGET} HTTP/1.1`);
        expect(headers.filter((header) => header.startsWith('host:'))).to.deep.equal([`host: ${TARGET}`]);
        await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0);
      });

      it('is forwarded to a proxy over HTTP/2', async () => {
        const { port, heads } = await http2Proxy();
        const gateway = await tunnelGateway({ port, routes: [FORWARDED], upstream: { spec: { useHttp2: true } } });
        const client = await request(gateway.port);
        expect(client.status).to.equal(200);
        expect(client.headers).to.include('x-proxy: yes');
        client.write('hello');
        await until(() => client.text() === 'HELLO');
        client.end();
        await until(() => client.ended());
        expect(client.text()).to.equal('HELLOBYE');
        expect(heads[0]!.slice(0, 4)).to.deep.equal([':method', 'CONNECT', ':authority', TARGET]);
        expect(heads[0]).not.to.include(':path');
        expect(heads[0]).not.to.include(':scheme');
        await until(() => gateway.stat('http.http.downstream_cx_upgrades_active') === 0);
      });

      it('passes on 2 MiB in both directions', async () => {
        const { port } = await tcpServer(({ socket }) => socket.pipe(socket));
        const gateway = await tunnelGateway({ port });
        const client = await request(gateway.port);
        const block = 'x'.repeat(65_536);
        for (let i = 0; i < 32; i++) client.write(block);
        client.end();
        await until(() => client.ended());
        expect(client.text().length).to.equal(32 * block.length);
      });

      it('relays the response of a proxy that rejects CONNECT, and closes the tunnel', async () => {
        const response =
          'HTTP/1.1 407 Proxy Authentication Required\r\nx-reason: none\r\ncontent-length: 4\r\n\r\nwho?';
        const { port } = await http1Proxy(response);
        const gateway = await tunnelGateway({ port, routes: [FORWARDED] });
        const client = await request(gateway.port);
        expect(client.status).to.equal(407);
        expect(client.headers).to.include('x-reason: none');
        await until(() => client.text() === 'who?' && client.ended());
      });

      it('passes on a response of a proxy that ends with its side of the connection', async () => {
        const { port } = await tcpServer(({ socket }) => {
          socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\n\r\nwho?'));
        });
        const gateway = await tunnelGateway({ port, routes: [FORWARDED] });
        const client = await request(gateway.port);
        expect(client.status).to.equal(403);
        await until(() => client.text().includes('who?') && client.ended());
        await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0);
      });

      it('gets 503 from a proxy that ends its side without a response', async () => {
        const { port } = await tcpServer(({ socket }) => socket.once('data', () => socket.end()));
        const gateway = await tunnelGateway({ port, routes: [FORWARDED] });
        expect((await request(gateway.port)).status).to.equal(503);
      });

      it('passes on a redirect of a proxy, which opens no tunnel', async () => {
        const { port } = await http1Proxy('HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n');
        const gateway = await tunnelGateway({ port, routes: [FORWARDED] });
        const client = await request(gateway.port);
        expect(client.status).to.equal(302);
        await until(() => client.ended());
      });

      it('passes on the response of a proxy over HTTP/2 that refuses', async () => {
        const { port } = await http2Proxy((stream) => {
          stream.respond({ ':status': 403, 'content-length': 2 });
          stream.end('no');
        });
        const gateway = await tunnelGateway({ port, routes: [FORWARDED], upstream: { spec: { useHttp2: true } } });
        const client = await request(gateway.port);
        expect(client.status).to.equal(403);
        await until(() => client.text() === 'no' && client.ended());
      });

      it('responds with 503 if the upstream refuses the connection', async () => {
        const { port, close } = await closedPort();
        await close();
        for (const route of [connectRoute(), FORWARDED]) {
          const gateway = await tunnelGateway({ port, routes: [route] });
          expect((await request(gateway.port)).status).to.equal(503);
          expect(gateway.stat('http.http.downstream_cx_upgrades_active')).to.equal(0);
        }
      });

      it('responds with 502 to an invalid HTTP response, and with 504 to none', async () => {
        const broken = await tcpServer(({ socket }) => socket.write('SSH-2.0-OpenSSH_9.2\r\n\r\n'));
        const gateway = await tunnelGateway({ port: broken.port, routes: [FORWARDED] });
        expect((await request(gateway.port)).status).to.equal(502);
        await until(() => gateway.stat('cluster.up_gw-system.upstream_cx_active') === 0);
        const silent = await tcpServer();
        const options = { upgrades: [{ connect: {} }], timeout: '0.05s' };
        const slow = await tunnelGateway({ port: silent.port, routes: [connectRoute(options)] });
        expect((await request(slow.port)).status).to.equal(504);
        await until(() => silent.ends.every(({ closed, ended }) => closed || ended));
      });

      it('is not limited by the timeout of the route once it is open', async () => {
        const opening = await tcpServer(({ socket }) =>
          socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n')),
        );
        const silent = await tcpServer();
        const timeout = '0.5s';
        const open: TunnelGateway[] = [
          await tunnelGateway({
            port: opening.port,
            routes: [connectRoute({ upgrades: [{ connectTerminate: {} }], timeout })],
          }),
          await tunnelGateway({ port: opening.port, routes: [connectRoute({ upgrades: [{ connect: {} }], timeout })] }),
        ];
        const clients = await Promise.all(open.map((gateway) => request(gateway.port)));
        const late = await tunnelGateway({
          port: silent.port,
          routes: [connectRoute({ upgrades: [{ connect: {} }], timeout })],
        });
        // Its timeout is later than those of the open tunnels.
        expect((await request(late.port)).status).to.equal(504);
        for (const client of clients) {
          expect(client.status).to.equal(200);
          expect(client.closed()).to.equal(false);
          client.write('still');
        }
        await until(() => opening.ends.every(({ text }) => text.endsWith('still')));
      });

      it('lets the upstream end first', async () => {
        const { port, ends } = await tcpServer(({ socket }) => socket.end('BYE'));
        const gateway = await tunnelGateway({ port });
        const client = await request(gateway.port);
        await until(() => client.text() === 'BYE' && client.ended());
        client.write('late');
        client.end();
        await until(() => ends[0]!.text === 'late' && ends[0]!.ended);
      });

      it('ends in order on a proxy over HTTP/2 that ends first', async () => {
        const proxy = await http2Proxy((stream) => {
          stream.respond({ ':status': 200 });
          stream.end('BYE');
          stream.resume();
        });
        const gateway = await tunnelGateway({
          port: proxy.port,
          routes: [FORWARDED],
          upstream: { spec: { useHttp2: true } },
        });
        const client = await request(gateway.port);
        await until(() => client.text() === 'BYE' && client.ended());
        client.end();
        await until(() => proxy.streams[0]!.closed);
        expect(proxy.streams[0]!.rstCode).to.equal(0);
      });

      it('is rejected with 405 if no route matches it', async () => {
        const { port, ends } = await tcpServer();
        const gateway = await tunnelGateway({ port, routes: [{}] });
        expect((await request(gateway.port)).status).to.equal(405);
        const enabled = await tunnelGateway({
          port,
          routes: [{}],
          listener: { httpOptions: { httpConnectionManagerSettings: { upgrades: [{ connect: {} }] } } },
        });
        expect((await request(enabled.port)).status).to.equal(405);
        expect(ends).to.have.length(0);
      });

      it('is rejected with 403 unless the route or the listener allows it', async () => {
        const { port, ends } = await tcpServer(shout);
        const rejected = await tunnelGateway({ port, routes: [connectRoute({})] });
        expect((await request(rejected.port)).status).to.equal(403);
        const listener = { httpOptions: { httpConnectionManagerSettings: { upgrades: [{ connect: {} }] } } };
        const disabled = connectRoute({ upgrades: [{ connect: { enabled: false } }] });
        const off = await tunnelGateway({ port, routes: [disabled], listener });
        expect((await request(off.port)).status).to.equal(403);
        expect(ends).to.have.length(0);
        const proxy = await http1Proxy();
        const on = await tunnelGateway({ port: proxy.port, routes: [connectRoute({})], listener });
        expect((await request(on.port)).status).to.equal(200);
      });

      it('closes after the idle timeout, and after its maximum duration', async () => {
        const { port, ends } = await tcpServer();
        const limits = [{ idleTimeout: '0.5s' }, { maxStreamDuration: { maxStreamDuration: '0.5s' } }];
        for (const limit of limits) {
          const route = connectRoute({ upgrades: [{ connectTerminate: {} }], ...limit });
          const gateway = await tunnelGateway({ port, routes: [route] });
          const client = await request(gateway.port);
          expect(client.status).to.equal(200);
          await until(() => client.closed());
          await until(() => ends.every(({ closed, ended }) => closed || ended));
          expect(ends.some(({ error }) => error)).to.equal(false);
        }
      });

      it('counts as a request of the circuit breaker', async () => {
        const { port } = await tcpServer(shout);
        const gateway = await tunnelGateway({
          port,
          upstream: { spec: { circuitBreakers: { maxRequests: 1 } } },
        });
        expect((await request(gateway.port)).status).to.equal(200);
        expect((await request(gateway.port)).status).to.equal(503);
      });
    });
  }

  it('passes on all that a client over HTTP/2 sends after the upstream has ended, also if it is slow', async () => {
    const { port, ends } = await tcpServer(({ socket }) => void socket.pause().end('BYE'));
    const gateway = await tunnelGateway({ port });
    const client = await http2Request(gateway.port);
    await until(() => client.text === 'BYE' && client.ended);
    const text = 'late'.repeat(1024 * 1024);
    const { session } = client.stream;
    client.stream.end(text);
    await until(() => client.closed);
    // The gateway has received everything when it confirms the ping.
    await new Promise((resolve) => session!.ping(resolve));
    ends[0]!.socket.resume();
    await until(() => ends[0]!.ended || ends[0]!.closed);
    expect(ends[0]!.text.length).to.equal(text.length);
    expect(ends[0]!.error).to.equal(undefined);
  });

  it('runs the same policies as other requests', async () => {
    const { port, ends } = await tcpServer(shout);
    const seen: string[] = [];
    const guard = {
      name: 'guard',
      option: 'rbac',
      stage: 'rbac',
      compile: () =>
        function guard(
          req: { method?: string; headers: Record<string, unknown> },
          res: { writeHead(status: number): { end(): void } },
          next: () => void,
        ) {
          seen.push(`${req.method} ${String(req.headers['host'])}`);
          if (req.headers['authorization']) next();
          else res.writeHead(401).end();
        },
    };
    const route = connectRoute({ upgrades: [{ connectTerminate: {} }], rbac: {} });
    const gateway = await tunnelGateway({ port, routes: [route], concerns: [guard as never] });
    expect((await http1Request(gateway.port)).head).to.match(/^HTTP\/1\.1 401 /);
    expect((await http2Request(gateway.port)).status).to.equal(401);
    expect(ends).to.have.length(0);
    const authorized = CONNECT_REQUEST.replace('\r\n\r\n', '\r\nAuthorization: me\r\n\r\n');
    expect((await http1Request(gateway.port, authorized)).head).to.match(/^HTTP\/1\.1 200 /);
    const head = { ':method': 'CONNECT', ':authority': TARGET, authorization: 'me' };
    expect((await http2Request(gateway.port, head)).status).to.equal(200);
    expect(new Set(seen)).to.deep.equal(new Set([`CONNECT ${TARGET}`]));
  });

  it('uses its target as the host, also if Host lacks the port', async () => {
    const proxy = await http1Proxy();
    const gateway = await tunnelGateway({ port: proxy.port, routes: [FORWARDED] });
    await http1Request(gateway.port, 'CONNECT db.example:5432 HTTP/1.1\r\nHost: DB.example\r\n\r\n');
    expect(proxy.ends[0]!.text).to.include('host: db.example:5432\r\n');
  });

  it('sends what the client sent early, but only once the tunnel is open', async () => {
    const opened = Promise.withResolvers<void>();
    const proxy = await tcpServer(({ socket }) => {
      void opened.promise.then(() => socket.write('HTTP/1.1 200 OK\r\n\r\nfirst'));
    });
    const gateway = await tunnelGateway({ port: proxy.port, routes: [FORWARDED] });
    const client = http1Client(gateway.port, `${CONNECT_REQUEST}EARLY`);
    await until(() => proxy.ends[0]?.text.endsWith('\r\n\r\n') === true);
    expect(proxy.ends[0]!.text).not.to.include('EARLY');
    opened.resolve();
    await until(() => proxy.ends[0]!.text.endsWith('EARLY') && client.text.endsWith('first'));
  });

  it('is rejected in order, after the responses to earlier requests', async () => {
    const { port } = await tcpServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
    const gateway = await tunnelGateway({ port, routes: [{}] });
    const client = http1Client(gateway.port, `GET / HTTP/1.1\r\nHost: a\r\n\r\n${CONNECT_REQUEST}`);
    await until(() => client.closed || client.ended);
    expect([...client.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).to.deep.equal(['200', '405']);
  });
});

async function closedPort(): Promise<{ port: number; close(): Promise<void> }> {
  const { createServer } = await import('node:net');
  const server = createServer();
  const port = await listen(server);
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
