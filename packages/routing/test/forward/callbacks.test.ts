import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { createContext } from '@edge-gateway/core';
import { forward } from '../../src/forward/forward-request.ts';
import { forwardTo } from '../../src/forward/forward-to.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import { closeAll, gateway, get, httpUpstream, listen, rawUpstream, snapshotOf, until, whenDone } from './harness.ts';

const WHOLE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  whenDone(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** Messages of what nobody caught while `run` ran. */
async function uncaughtDuring(run: () => Promise<void>): Promise<string[]> {
  const listeners = process.listeners('uncaughtException');
  const thrown: string[] = [];
  process.removeAllListeners('uncaughtException').on('uncaughtException', ({ message }) => thrown.push(message));
  try {
    await run();
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
  return thrown;
}

describe('forward with failing callbacks', () => {
  afterEach(closeAll);

  it('releases the slot of a connection although its end callback threw', async () => {
    const upstream = await rawUpstream((socket, request) => {
      if (request.includes('/good')) socket.write(WHOLE);
    });
    const spec = { circuitBreakers: { maxConnections: 1 } };
    const upstreams = createUpstreams(createContext());
    upstreams.apply([snapshotOf(upstream.port, { spec })]);
    whenDone(() => upstreams.close());
    const port = await serve((req, res) => {
      forward(req, res, upstreams.get('echo_gw-system')!, {
        method: 'GET',
        path: req.url!,
        headers: [],
        timeoutMs: req.url === '/slow' ? 200 : 0,
        onResponseHead: (_status, headers) => headers,
        onDone() {
          if (req.url !== '/good') throw new Error(`the end of ${req.url}`);
        },
      });
    });
    const thrown = await uncaughtDuring(async () => {
      for (const [i, path] of ['/reset', '/slow', '/left'].entries()) {
        const bad = connect(port, '127.0.0.1').on('error', () => {});
        whenDone(() => bad.destroy());
        bad.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
        await until(() => upstream.requests.length === 2 * i + 1);
        const good = get(`http://127.0.0.1:${port}/good`);
        if (path === '/reset') for (const each of upstream.sockets) each.resetAndDestroy();
        if (path === '/left') bad.destroy();
        expect((await good).status).to.equal(200);
      }
    });
    expect(thrown).to.deep.equal(['the end of /reset', 'the end of /slow', 'the end of /left']);
  });

  it('treats a response that was ended elsewhere like a disconnected client', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
    const responses: ServerResponse[] = [];
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    gw.server.prependListener('request', (_req, res) => responses.push(res));
    const socket = connect(gw.port, '127.0.0.1').on('error', () => {});
    whenDone(() => socket.destroy());
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await until(() => responses[0]?.headersSent === true);
    // The client reads nothing, so the response does not close at once.
    socket.pause();
    responses[0]!.write(Buffer.alloc(20_000_000));
    responses[0]!.end();
    for (const each of upstream.sockets) each.write('defghi');
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ flags: 'DC' });
    expect(gw.stat('upstream_rq_active')).to.equal(0);
  });

  it('sends no more of a body than was announced', async () => {
    const upstream = await rawUpstream((socket, request) => void (request.startsWith('GET') && socket.write(WHOLE)));
    const gw = await gateway({
      upstream: snapshotOf(upstream.port),
      head(req) {
        if (req.method === 'POST') req.unshift(Buffer.from('abcGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n'));
        return { timeoutMs: 5000 };
      },
    });
    expect(await get(gw.url, { method: 'POST', body: 'abc' })).to.include({ status: 503 });
    await until(() => upstream.sockets.size === 0, 'the connection is closed');
    expect(upstream.requests.join('')).to.not.include('smuggled');
    expect((await get(gw.url)).status).to.equal(200);
  });

  it('sends a body whose encoding was set as it came', async () => {
    const target = await httpUpstream((req, res) => void req.pipe(res));
    const handler = forwardTo({ target: `http://127.0.0.1:${target}` });
    whenDone(() => handler.close!());
    const port = await serve((req, res) => {
      req.setEncoding('utf8');
      handler(req, res, (error) => void res.writeHead(500).end(String(error)));
    });
    const body = 'ä€'.repeat(10);
    const url = `http://127.0.0.1:${port}`;
    expect(await get(url, { method: 'POST', body })).to.include({
      status: 200,
      body: Buffer.from(body).toString('latin1'),
    });
    const chunked = { 'transfer-encoding': 'chunked' };
    expect(await get(url, { method: 'POST', body, headers: chunked })).to.include({
      status: 200,
      body: Buffer.from(body).toString('latin1'),
    });
  });

  it('releases queued requests of a connection when the client disconnects', async () => {
    const upstream = await rawUpstream(() => {});
    const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ timeoutMs: 0 }) });
    const socket = connect(gw.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(20));
    await until(() => upstream.requests.length === 20);
    socket.destroy();
    await once(socket, 'close');
    await until(() => gw.outcomes.length === 20, 'all are over');
    expect(gw.stat('upstream_rq_active')).to.equal(0);
    await until(() => upstream.sockets.size === 0);
  });
});
