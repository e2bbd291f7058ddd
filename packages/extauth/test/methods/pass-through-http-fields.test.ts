import type { IncomingMessage, ServerResponse } from 'node:http';
import { createContext, fromByteString, type AuthRequest } from '@edge-gateway/core';
import type { PassThroughAuth } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { passThroughHttpMethod } from '../../src/index.ts';
import { guarded, only, start, stopAll, type GuardedParts } from '../harness.ts';

type Http = NonNullable<PassThroughAuth['http']>;

const settings = { requestTimeout: '30s' };
const own = (http: Http, more: Partial<PassThroughAuth> = {}, parts: GuardedParts = {}) =>
  guarded(only({ passThroughAuth: { http, ...more } }), { settings, ...parts });

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return text;
}

describe('passThroughAuth.http, field by field', () => {
  afterEach(stopAll);

  it('headersToAdd: text beyond ASCII is sent as UTF-8', async () => {
    let sent: string | undefined;
    const url = await start((req, res) => {
      sent = req.headers['x-name'] as string;
      res.end();
    });
    const { ask } = await own({ url, request: { headersToAdd: { 'x-name': 'Mikołaj' } } });
    expect((await ask()).status).to.equal(200);
    expect(fromByteString(sent!)).to.equal('Mikołaj');
  });

  it('responseHeaderTimeout: a late response head is a failure', async () => {
    const url = await start(() => {});
    const times = { responseHeaderTimeout: '100ms', connectionTimeout: '600s' };
    const { ask } = await own({ url, ...times }, {}, { settings: { requestTimeout: '600s' } });
    expect(await ask()).to.include({ status: 403, body: '' });
  });

  it('connectionTimeout: limits the time for the whole response', async () => {
    let ends = false;
    const url = await start((_req, res) => {
      res.flushHeaders();
      if (ends) res.end();
    });
    expect((await (await own({ url, connectionTimeout: '100ms' })).ask()).status).to.equal(403);
    ends = true;
    for (const connectionTimeout of ['30s', '0.5h', '2000h', '30000.5ms']) {
      expect((await (await own({ url, connectionTimeout })).ask()).status, connectionTimeout).to.equal(200);
    }
  });

  it('connectionPool.maxConns: limits concurrent connections', async () => {
    for (const [maxConns, expected] of [
      [1, 1],
      [3, 3],
    ] as const) {
      const open: ServerResponse[] = [];
      let most = 0;
      const url = await start((_req, res) => {
        most = Math.max(most, open.push(res));
        // Answered a moment after as many are there as may be, so that one too many would be seen.
        if (open.length === expected) setTimeout(() => open.splice(0).forEach((each) => each.end()), 100);
      });
      const { ask } = await own({ url, connectionPool: { maxConns } });
      const answers = await Promise.all(Array.from({ length: 6 }, () => ask()));
      expect(answers.every(({ status }) => status === 200)).to.equal(true);
      expect(most).to.equal(expected);
    }
  });

  it('connectionPool.idleTimeout: a connection that is unused for so long is closed', async () => {
    const closed: unknown[] = [];
    const url = await start((req, res) => {
      req.socket.once('close', () => closed.push(1));
      // Longer than anyone waits here, so that only the field can end it.
      res.writeHead(200, { connection: 'keep-alive', 'keep-alive': 'timeout=60' }).end();
    });
    const kept = await own({ url });
    expect((await kept.ask()).status).to.equal(200);
    const brief = await own({ url, connectionPool: { idleTimeout: '50ms' } });
    expect((await brief.ask()).status).to.equal(200);
    await until(() => closed.length > 0);
    expect(closed).to.have.lengthOf(1);
  });

  it('request.headersToAdd: overrides copied headers in any case; pseudo and framing headers are not copied', async () => {
    let seen: IncomingMessage['headers'] = {};
    const url = await start((req, res) => {
      seen = req.headers;
      res.end();
    });
    const request = {
      allowedHeaders: ['x-a', 'X-B', 'Transfer-Encoding', 'Connection', 'Host', 'Content-Length'],
      headersToAdd: { 'X-A': 'added' },
    };
    const headers = { 'x-a': 'sent', 'x-b': 'sent' };
    const { ask } = await own({ url, request });
    expect((await ask('/', { method: 'POST', headers, body: 'hello' })).status).to.equal(200);
    expect(seen).to.include({ 'x-a': 'added', 'x-b': 'sent', host: new URL(url).host, 'content-length': '0' });
  });

  it('request.passThroughFilterMetadata and passThroughState: sends metadata and state of earlier steps', async () => {
    const told: unknown[] = [];
    const url = await start((req, res) => {
      void bodyOf(req).then((text) => {
        told.push(JSON.parse(text));
        res.end();
      });
    });
    const request: AuthRequest = {
      requestId: 'r',
      method: 'GET',
      scheme: 'http',
      host: 'a',
      path: '/',
      header: () => undefined,
      headers: () => [],
      clientAddress: '',
      state: { jwt: 'a.b.c' },
      metadata: new Map([['envoy.filters.http.jwt_authn', { main: { sub: 'alice' } }]]),
    };
    const scope = { id: 'n.c/s', context: createContext() };
    for (const wanted of [{ passThroughFilterMetadata: true }, { passThroughState: true }]) {
      const method = passThroughHttpMethod.create({ http: { url, request: wanted } }, scope);
      expect((await method.authorize(request)).allowed).to.equal(true);
      await method.close?.();
    }
    expect(told).to.deep.equal([
      { filterMetadata: { 'envoy.filters.http.jwt_authn': { main: { sub: 'alice' } } } },
      { state: { jwt: 'a.b.c' } },
    ]);
  });

  it('response.*: does not copy framing headers', async () => {
    const url = await start((req, res) => {
      const status = req.headers['x-say'] === 'no' ? 403 : 200;
      res.writeHead(status, { 'content-length': '2', connection: 'close', 'x-a': '1' }).end('hi');
    });
    const names = ['content-length', 'connection', 'transfer-encoding', 'x-a'];
    const { ask } = await own({
      url,
      request: { allowedHeaders: ['x-say'] },
      response: {
        allowedUpstreamHeaders: names,
        allowedClientHeadersOnSuccess: names,
        allowedClientHeadersOnDenied: names,
      },
    });
    const passed = await ask('/', { method: 'POST', body: 'hello' });
    expect(passed).to.include({ status: 200, body: '5' });
    expect(passed.headers['x-a']).to.equal('1');
    const refused = await ask('/', { headers: { 'x-say': 'no' } });
    expect(refused).to.include({ status: 403, body: 'hi' });
    expect(refused.headers['content-length']).to.equal('2');
  });

  it('failureModeAllow: counts allowed requests, over HTTP and over gRPC', async () => {
    const url = await start((_req, res) => void res.writeHead(500).end());
    const context = createContext();
    const counted = () =>
      Object.fromEntries(
        context.metrics
          .list()
          .flatMap(({ name, type, stat }) =>
            name.path.startsWith('extauth.') && type === 'counter' ? [[name.path, stat.value]] : [],
          ),
      );
    const name = 'extauth.vendor.io/http_passthrough_bypass_failure';
    await (await own({ url }, {}, { context })).ask();
    expect(counted()).to.deep.equal({ [name]: 0 });
    const lenient = await own({ url }, { failureModeAllow: true }, { context });
    for (let i = 0; i < 2; i++) expect((await lenient.ask()).status).to.equal(200);
    expect(counted()).to.deep.equal({ [name]: 2 });
    const grpc = only({ passThroughAuth: { grpc: { address: '127.0.0.1:1' }, failureModeAllow: true } });
    expect((await (await guarded(grpc, { settings, context })).ask()).status).to.equal(200);
    expect(counted()).to.deep.equal({ [name]: 2, 'extauth.vendor.io/passthrough_failure_bypass': 1 });
  });

  it('denies the request for every invalid response', async () => {
    const answers: Readonly<Record<string, (res: ServerResponse) => void>> = {
      'no HTTP': (res) => void res.socket?.end('SSH-2.0-x\r\n'),
      'half a head': (res) => void res.socket?.end('HTTP/1.1 200 OK\r\ncontent-len'),
      'half a body': (res) => {
        res.writeHead(200, { 'content-length': '100' }).write('x', () => res.destroy());
      },
      'a body of 1 MiB': (res) => void res.end('x'.repeat(1_048_576)),
      'a redirect to a server that would let in': (res) => void res.writeHead(307, { location: '/yes' }).end(),
      'nothing new': (res) => void res.writeHead(304).end(),
    };
    for (const [what, answer] of Object.entries(answers)) {
      const url = await start((req, res) => (req.url === '/yes' ? void res.end() : answer(res)));
      const { status, headers } = await (await own({ url })).ask();
      expect(status, what).to.be.oneOf([304, 307, 403]);
      expect(headers, what).not.to.have.property('location');
    }
  });
});
