import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { DEFAULT_SNAPSHOT_SETTINGS, type SnapshotSettings } from '@edge-gateway/core';
import type { ExtProc } from '@edge-gateway/core/schema';
import { startPausableProxy } from '../../../../test/parts/pausable-proxy.ts';
import { until } from '../../../../test/parts/until.ts';
import { served, type Served, type ServedParts } from '../served.ts';
import { directOf, echo, endpointOf, start, upstreamOf } from '../snapshots.ts';
import { headersOf, mutation, startProcessor, type ProcessingServer, type Received } from './server.ts';

const NOTHING = { response: {} };
const SERVER = { extProcServerRef: { name: 'processor', namespace: 'gw-system' } };
/** Changes nothing. */
const unchanged = ({ request }: Received): object => ({ [request]: NOTHING });
const bodyOf = (message: Received) => message.requestBody ?? message.responseBody;
const replaced = (text: string) => ({ response: { bodyMutation: { body: Buffer.from(text) } } });

interface Parts extends ServedParts {
  readonly block?: ExtProc;
  readonly backend?: RequestListener;
  /** Port of another backend. */
  readonly backendPort?: number;
  /** Port of the processing server. */
  readonly port?: number;
}

describe('extProc', () => {
  let processor: ProcessingServer;
  let gateway: Served;
  afterEach(stop);

  async function stop(): Promise<void> {
    await gateway.close();
    processor.stop();
  }

  async function processing(
    answer: Parameters<typeof startProcessor>[0],
    { block, http, backend = echo, backendPort, port, ...rest }: Parts = {},
  ): Promise<void> {
    processor = await startProcessor(answer);
    const extProc: ExtProc = { messageTimeout: '2s', ...block, grpcService: { ...SERVER, ...block?.grpcService } };
    const servers = [
      upstreamOf([endpointOf(backendPort ?? (await start(backend)).port)]),
      upstreamOf([endpointOf(port ?? processor.port)], 'processor'),
    ];
    gateway = await served({ ...rest, http: { extProc, ...http }, upstreams: servers });
  }

  it('sends the heads of request and response, and applies the changes', async () => {
    let head: Record<string, string> = {};
    await processing((message) => {
      if (message.request === 'requestHeaders') {
        head = headersOf(message);
        const headerMutation = mutation({ 'x-added': 'yes', ':path': '/other?q' }, ['x-gone']);
        return { requestHeaders: { response: { headerMutation } } };
      }
      const headerMutation = mutation({ 'x-from': 'processor', ':status': '201' });
      return { responseHeaders: { response: { headerMutation } } };
    });
    const { status, headers, body } = await gateway.ask('/path?query', { headers: { 'x-gone': '1', 'x-kept': '2' } });
    expect(head).include({ ':method': 'GET', ':path': '/path?query', ':authority': 'a.example', 'x-kept': '2' });
    expect(head).not.have.any.keys('host', 'connection');
    expect(status).equal(201);
    expect(headers['x-from']).equal('processor');
    const seen = JSON.parse(body) as { url: string; headers: Record<string, string> };
    expect(seen.url).equal('/other?q');
    expect(seen.headers).include({ 'x-added': 'yes', 'x-kept': '2' });
    expect(seen.headers).not.have.property('x-gone');
    expect(processor.seen).deep.equal(['requestHeaders /path?query', 'responseHeaders 200']);
  });

  it('is called over a new connection after one that went silent, on which messages time out', async () => {
    const hidden = await startProcessor(unchanged);
    const proxy = await startPausableProxy(hidden.port);
    try {
      await processing(unchanged, { block: { messageTimeout: '500ms' }, port: proxy.port });
      await until(async () => (await gateway.ask('/')).status === 200);
      proxy.silence();
      expect((await gateway.ask('/')).status).equal(504);
      await until(async () => (await gateway.ask('/')).status === 200);
    } finally {
      proxy.close();
      hidden.stop();
    }
  });

  describe('of a WebSocket', () => {
    const backends: Server[] = [];
    afterEach(() => {
      for (const each of backends.splice(0)) each.close();
    });

    /** A server whose WebSockets echo, and what the client receives. */
    async function open(answer: Parameters<typeof startProcessor>[0], block: ExtProc = {}) {
      const backend = createServer();
      const server = new WebSocketServer({ server: backend });
      server.on('connection', (each) => each.on('message', (data) => each.send(String(data))));
      backends.push(backend);
      await new Promise<void>((resolve) => void backend.listen(0, '127.0.0.1', resolve));
      const { port } = backend.address() as AddressInfo;
      await processing(answer, { block, backendPort: port });
      return new Promise<{ status: number; headers: IncomingMessage['headers']; echo: string }>((resolve, reject) => {
        const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/chat`, { headers: { host: 'a.example' } });
        client.once('upgrade', ({ statusCode: status = 0, headers }) => {
          client.once('message', (data) => {
            client.terminate();
            resolve({ status, headers, echo: String(data) });
          });
        });
        client.once('open', () => client.send('hello'));
        client.once('unexpected-response', (_req, { statusCode: status = 0, headers }) => {
          client.terminate();
          resolve({ status, headers, echo: '' });
        });
        client.on('error', reject);
      });
    }

    it('sees the head of the 101 and may change its headers, but not its status', async () => {
      let isLast: boolean | undefined;
      const {
        status,
        headers,
        echo: echoed,
      } = await open((message) => {
        if (message.request !== 'responseHeaders') return unchanged(message);
        isLast = message.responseHeaders!.endOfStream;
        return {
          responseHeaders: { response: { headerMutation: mutation({ 'x-from': 'processor', ':status': '200' }) } },
        };
      });
      expect([status, headers['x-from'], echoed, isLast]).deep.equal([101, 'processor', 'hello', false]);
      expect(processor.seen).deep.equal(['requestHeaders /chat', 'responseHeaders 101']);
      await until(() => gateway.stat('http.http.ext_proc.streams_closed') === 1);
    });

    it('may respond instead of the 101', async () => {
      const { status, headers } = await open((message) =>
        message.request === 'responseHeaders'
          ? { immediateResponse: { status: { code: 403 }, headers: mutation({ 'x-why': 'no' }) } }
          : unchanged(message),
      );
      expect([status, headers['x-why']]).deep.equal([403, 'no']);
    });

    it('rejects it if the server does not respond in time, unless failures are allowed', async () => {
      const silent = (message: Received) => (message.request === 'responseHeaders' ? undefined : unchanged(message));
      const block = { messageTimeout: '500ms' };
      const { status } = await open(silent, block);
      expect(status).equal(504);
      await stop();
      expect((await open(silent, { ...block, failureModeAllow: true })).echo).equal('hello');
    });

    it('is not called with responseHeaderMode: SKIP', async () => {
      expect((await open(unchanged, { processingMode: { responseHeaderMode: 'SKIP' } })).status).equal(101);
      expect(processor.seen).deep.equal(['requestHeaders /chat']);
    });
  });

  it('skips heads, and sends only the headers of the rules', async () => {
    let head: Record<string, string> = {};
    const forwardRules = { allowedHeaders: { patterns: [{ prefix: 'x-' }, { exact: ':path' }] } };
    await processing((message) => ((head = headersOf(message)), unchanged(message)), {
      block: { forwardRules, processingMode: { responseHeaderMode: 'SKIP' } },
    });
    await gateway.ask('/', { headers: { 'x-a': '1', cookie: 'secret' } });
    expect(Object.keys(head)).include.members([':path', 'x-a']);
    expect(head).not.have.any.keys('cookie', ':method');
    expect(processor.seen).deep.equal(['requestHeaders /']);
  });

  it('buffers bodies and replaces them', async () => {
    const late = (value: string, body: string) => ({
      response: { headerMutation: mutation({ 'x-late': value }), bodyMutation: { body: Buffer.from(body) } },
    });
    await processing(
      (message) => {
        if (message.request === 'requestBody') return { requestBody: late('1', 'changed') };
        return message.request === 'responseBody' ? { responseBody: late('2', 'new') } : unchanged(message);
      },
      { block: { processingMode: { requestBodyMode: 'BUFFERED', responseBodyMode: 'BUFFERED' } } },
    );
    const { headers, body } = await gateway.ask('/', { method: 'POST', body: 'original' });
    expect(body).equal('new');
    expect(headers).include({ 'x-late': '2', 'content-length': '3' });
    expect(processor.seen[1]).equal('requestBody original.');
    expect(processor.seen[3]).match(/^responseBody \{"method":"POST".*"x-late":"1".*\}\.$/);
  });

  it('clears a body', async () => {
    const clear = { requestBody: { response: { bodyMutation: { clearBody: true } } } };
    await processing((message) => (message.request === 'requestBody' ? clear : unchanged(message)), {
      block: { processingMode: { requestBodyMode: 'BUFFERED' } },
    });
    expect((await gateway.seen('/', { method: 'POST', body: 'x' })).headers).include({ 'content-length': '0' });
  });

  for (const mode of ['BUFFERED', 'STREAMED', 'BUFFERED_PARTIAL'] as const)
    it(`removes the digests of bodies that the server changes: ${mode}`, async () => {
      await processing((message) => (bodyOf(message) ? { [message.request]: replaced('new') } : unchanged(message)), {
        block: { processingMode: { requestBodyMode: mode, responseBodyMode: mode } },
        backend: (req, res) => {
          res.writeHead(206, { 'x-seen': req.headers['content-digest'] ?? 'none', etag: '"1"', 'content-range': 'x' });
          req.resume().on('end', () => res.end('body'));
        },
      });
      const { headers } = await gateway.ask('/', { method: 'POST', body: 'x', headers: { 'content-digest': 'x' } });
      expect(headers).include({ 'x-seen': 'none' }).and.not.have.any.keys('etag', 'content-range');
    });

  it('keeps the digests of bodies that the server does not change', async () => {
    await processing(unchanged, {
      block: { processingMode: { requestBodyMode: 'BUFFERED', responseBodyMode: 'BUFFERED' } },
      backend: (req, res) => {
        res.writeHead(200, { 'x-seen': req.headers['content-digest'] ?? 'none', etag: '"1"' });
        req.resume().on('end', () => res.end('body'));
      },
    });
    const { headers } = await gateway.ask('/', { method: 'POST', body: 'x', headers: { 'content-digest': 'x' } });
    expect(headers).include({ 'x-seen': 'x', etag: '"1"' });
  });

  it('streams bodies in both directions', async () => {
    await processing(
      (message) => {
        const body = bodyOf(message);
        return body ? { [message.request]: replaced(body.body.toString().toUpperCase()) } : unchanged(message);
      },
      {
        block: { processingMode: { requestBodyMode: 'STREAMED', responseBodyMode: 'STREAMED' } },
        backend: (req, res) => {
          let text = '';
          req.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => res.end(`${text} echoed`));
        },
      },
    );
    const req = httpRequest({ host: '127.0.0.1', port: gateway.port, method: 'POST', agent: false });
    req.write('one ');
    req.end('two');
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of res) text += String(chunk);
    expect(text).equal('ONE TWO ECHOED');
  });

  it('processes the start of a body that is larger than the buffer', async () => {
    await processing(
      (message) => {
        const body = bodyOf(message);
        return body ? { [message.request]: replaced(`<${body.body.length >= 1_048_576}>`) } : unchanged(message);
      },
      {
        block: {
          messageTimeout: '5s',
          processingMode: { requestBodyMode: 'BUFFERED_PARTIAL', responseBodyMode: 'BUFFERED_PARTIAL' },
        },
        backend: (req, res) => void req.pipe(res),
      },
    );
    const { body } = await gateway.ask('/', { method: 'POST', body: `${'x'.repeat(3_000_000)}end` });
    expect(body).match(/^<true>x*end$/);
    expect(body.length).below(2_000_000);
    expect((await gateway.ask('/', { method: 'POST', body: 'short' })).body).equal('<false>');
  });

  it('responds with what the server sends', async () => {
    const headers = mutation({ 'x-why': 'rules', 'content-type': 'text/x-own' });
    const immediateResponse = { status: { code: 403 }, body: Buffer.from('not you'), details: 'not you', headers };
    await processing(() => ({ immediateResponse }));
    const answer = await gateway.ask('/');
    expect([answer.status, answer.body]).deep.equal([403, 'not you']);
    expect(answer.headers).include({ 'x-why': 'rules', 'content-type': 'text/x-own' });
    expect(processor.seen).have.length(1);
    expect(gateway.stat('cluster.up_gw-system.upstream_rq_total')).equal(0);
  });

  it('responds with the bytes that the server sends', async () => {
    const image = Buffer.from([0x89, 0x50, 0xff, 0xfe]);
    await processing(() => ({ immediateResponse: { status: { code: 403 }, body: image } }));
    const response = await fetch(`http://127.0.0.1:${gateway.port}/`);
    expect([response.status, Buffer.from(await response.arrayBuffer())]).deep.equal([403, image]);
  });

  for (const code of [403, 408, 503]) {
    it(`responds with what the server sends while a request body is streamed: ${code}`, async () => {
      const setHeaders = [
        ['x-why', 'rules'],
        ['content-type', 'text/x-own'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ].map(([key, value]) => ({ header: { key, rawValue: Buffer.from(value!) }, append: { value: true } }));
      const immediateResponse = { status: { code }, body: Buffer.from('not you'), headers: { setHeaders } };
      await processing((message) => (message.requestBody ? { immediateResponse } : unchanged(message)), {
        block: { processingMode: { requestBodyMode: 'STREAMED' } },
      });
      const answer = await gateway.ask('/', { method: 'POST', body: 'x' });
      expect([answer.status, answer.body]).deep.equal([code, 'not you']);
      expect(answer.headers).include({ 'x-why': 'rules', 'content-type': 'text/x-own' });
      expect(answer.headers['set-cookie']).deep.equal(['a=1', 'b=2']);
    });
  }

  it('replaces a response by that of the server', async () => {
    const immediateResponse = { status: { code: 418 }, body: Buffer.from('teapot') };
    await processing((message) => (message.request === 'responseHeaders' ? { immediateResponse } : unchanged(message)));
    const { status, body } = await gateway.ask('/');
    expect([status, body]).deep.equal([418, 'teapot']);
  });

  it('replaces a body in response to the head, and then sends nothing more', async () => {
    await processing(({ request }) => ({ [request]: { response: { status: 1, ...replaced(request).response } } }));
    const { headers } = await gateway.seen('/', { method: 'POST', body: 'x' });
    expect(headers).include({ 'content-length': '14' });
    expect(processor.seen).have.length(1);
  });

  it('lets the server choose the mode, if allowed', async () => {
    const modeOverride = { requestBodyMode: 2, responseHeaderMode: 2 };
    const answer = (message: Received) => ({ ...unchanged(message), modeOverride });
    await processing(answer, { block: { allowModeOverride: true } });
    await gateway.ask('/', { method: 'POST', body: 'x' });
    expect(processor.seen).deep.equal(['requestHeaders /', 'requestBody x.']);
    await stop();
    await processing(answer);
    await gateway.ask('/', { method: 'POST', body: 'x' });
    expect(processor.seen).deep.equal(['requestHeaders /', 'responseHeaders 200']);
  });

  it('rejects changes by the rules', async () => {
    const set = {
      ':method': 'PUT',
      ':authority': 'b',
      'x-envoy-a': '1',
      'content-length': '9',
      'x-no': '1',
      'x-ok': '1',
    };
    const response = { headerMutation: mutation(set, [':path', 'host', 'x-no']) };
    const answer = (message: Received) =>
      message.request === 'requestHeaders' ? { requestHeaders: { response } } : unchanged(message);
    await processing(answer, { block: { mutationRules: { disallowExpression: 'x-no' } } });
    const { method, headers } = await gateway.seen('/', { headers: { 'x-no': '0' } });
    expect(method).equal('GET');
    expect(headers).include({ host: 'a.example', 'x-ok': '1', 'x-no': '0' });
    expect(headers).not.have.any.keys('x-envoy-a', 'content-length');
    expect(gateway.stat('http.http.ext_proc.rejected_header_mutations')).equal(8);
    await stop();
    await processing(answer, { block: { mutationRules: { disallowIsError: true } } });
    expect((await gateway.ask('/')).status).equal(500);
    await stop();
    await processing(answer, { block: { mutationRules: { allowAllRouting: true, allowEnvoy: true } } });
    const changed = await gateway.seen('/');
    expect(changed.method).equal('PUT');
    expect(changed.headers).include({ host: 'b', 'x-envoy-a': '1' });
  });

  it('adds values with append, and replaces them otherwise', async () => {
    const setHeaders = [
      { header: { key: 'x-both', rawValue: Buffer.from('new') }, append: { value: true } },
      { header: { key: 'x-one', value: 'new' } },
      { header: { key: 'x-empty' } },
    ];
    await processing((message) =>
      message.request === 'requestHeaders'
        ? { requestHeaders: { response: { headerMutation: { setHeaders } } } }
        : unchanged(message),
    );
    const { headers } = await gateway.seen('/', { headers: { 'x-both': 'old', 'x-one': 'old', 'x-empty': 'old' } });
    expect(headers).include({ 'x-both': 'old, new', 'x-one': 'new', 'x-empty': '' });
  });

  it('selects the route again if the server requests it', async () => {
    const other = directOf('other', { matchers: [{ prefix: '/', headers: [{ name: 'x-other' }] }] });
    const response = { headerMutation: mutation({ 'x-other': '1' }), clearRouteCache: true };
    const answer = (message: Received) =>
      message.request === 'requestHeaders' ? { requestHeaders: { response } } : unchanged(message);
    await processing(answer, { routes: [other, directOf('first')] });
    expect((await gateway.ask('/')).body).equal('other');
    await stop();
    await processing(answer, { routes: [other, directOf('first')], block: { disableClearRouteCache: true } });
    expect((await gateway.ask('/')).body).equal('first');
  });

  const headerOnly = (set: Record<string, string>) => ({
    requestHeaders: { response: { headerMutation: mutation(set) } },
  });
  for (const [name, answer] of [
    ['does not respond in time', () => undefined],
    ['responds to another part', () => ({ responseBody: NOTHING })],
    ['ends the call with an error', (_message, call) => void call.emit('error', { code: 13, details: 'broken' })],
    ['sets an invalid header', () => headerOnly({ 'x-a': 'b\r\nc' })],
    ['sets a path with dot segments', () => headerOnly({ ':path': '/a/../b' })],
  ] as readonly (readonly [string, Parameters<typeof startProcessor>[0]])[]) {
    const messageTimeout = name.includes('in time') ? '0.1s' : '30s';
    it(`rejects the request if the server ${name}`, async () => {
      await processing(answer, { block: { messageTimeout } });
      const { status } = await gateway.ask('/');
      expect(status).equal(name.includes('path') ? 400 : name.includes('in time') ? 504 : 500);
      expect(gateway.stat('http.http.ext_proc.streams_failed')).equal(1);
      expect(gateway.stat('cluster.up_gw-system.upstream_rq_total')).equal(0);
    });
    it(`forwards the request if failures are allowed and the server ${name}`, async () => {
      await processing(answer, { block: { messageTimeout, failureModeAllow: true } });
      await gateway.seen('/');
      expect(gateway.stat('http.http.ext_proc.failure_mode_allowed')).equal(1);
    });
  }

  it('rejects the request if the server cannot be reached, after its retries', async () => {
    await processing(unchanged, { port: 1, block: { grpcService: { retryPolicy: { numRetries: 2 } } } });
    expect((await gateway.ask('/')).status).equal(500);
    expect(gateway.stat('http.http.ext_proc.streams_started')).equal(3);
  });

  it('processes nothing more when the server ends the call', async () => {
    await processing((message, call) => {
      call.write(unchanged(message));
      call.end();
      return undefined;
    });
    await gateway.seen('/');
    expect(processor.seen).have.length(1);
  });

  it('waits longer if the server requests it, up to the maximum', async () => {
    await processing(
      (message, call) => {
        call.write({ overrideMessageTimeout: { seconds: 30, nanos: 0 } });
        setTimeout(() => call.write(unchanged(message)), 700);
        return undefined;
      },
      { block: { messageTimeout: '0.5s', maxMessageTimeout: '30s' } },
    );
    await gateway.seen('/');
    expect(gateway.stat('http.http.ext_proc.message_timeouts')).equal(0);
  });

  it('waits longer only once for a message', async () => {
    await processing(
      (_message, call) => {
        call.write({ overrideMessageTimeout: { seconds: 0, nanos: 60_000_000 } });
        call.write({ overrideMessageTimeout: { seconds: 80, nanos: 0 } });
        return undefined;
      },
      { block: { messageTimeout: '0.05s', maxMessageTimeout: '90s' } },
    );
    expect((await gateway.ask('/')).status).equal(504);
    expect(gateway.stat('http.http.ext_proc.message_timeouts')).equal(1);
  });

  it('ends the call when the client disconnects', async () => {
    await processing(() => undefined, { block: { messageTimeout: '60s' } });
    const req = httpRequest({ host: '127.0.0.1', port: gateway.port, agent: false }).on('error', () => undefined);
    req.end();
    await until(() => processor.calls.length > 0);
    const ended = once(processor.calls[0]!, 'cancelled');
    req.destroy();
    await ended;
    await gateway.router.close();
    expect(gateway.stat('http.http.ext_proc.streams_closed')).equal(1);
    expect(gateway.stat('http.http.ext_proc.streams_failed')).equal(0);
  });

  it('ignores pseudo-headers that the message does not have', async () => {
    const set = (name: string) => ({ response: { headerMutation: mutation({ [name]: '201' }) } });
    await processing(({ request }) => ({ [request]: set(request === 'requestHeaders' ? ':status' : ':path') }));
    expect((await gateway.ask('/')).status).equal(200);
    expect(gateway.stat('http.http.ext_proc.rejected_header_mutations')).equal(2);
    await stop();
    const immediateResponse = {
      status: { code: 403 },
      headers: mutation({ ':status': '200', ':foo': 'x', 'x-a': 'b' }),
    };
    await processing(() => ({ immediateResponse }));
    const { status, headers } = await gateway.ask('/');
    expect(status).equal(403);
    expect(headers['x-a']).equal('b');
  });

  it('keeps the cookies of an immediate response apart', async () => {
    const cookies = ['a=1; Path=/', 'b=2', 'c=3'];
    const setHeaders = cookies.map((value) => ({
      header: { key: 'Set-Cookie', rawValue: Buffer.from(value) },
      append: { value: true },
    }));
    await processing(() => ({ immediateResponse: { status: { code: 401 }, headers: { setHeaders } } }));
    expect((await gateway.ask('/')).headers['set-cookie']).deep.equal(cookies);
  });

  it('rejects more than 60 KiB of header values', async () => {
    const values = (size: number) => mutation({ 'x-a': 'a'.repeat(size - 10_000), 'x-b': 'b'.repeat(10_000) });
    await processing(({ request }) => ({ [request]: { response: { headerMutation: values(61_440) } } }), {
      block: { processingMode: { requestHeaderMode: 'SKIP' } },
    });
    const large = { agent: false, host: '127.0.0.1', port: gateway.port, maxHeaderSize: 100_000 };
    const [res] = (await once(httpRequest(large).end(), 'response')) as [IncomingMessage];
    expect([res.resume().statusCode, res.headers['x-b']?.length]).deep.equal([200, 10_000]);
    await stop();
    await processing(({ request }) => ({ [request]: { response: { headerMutation: values(61_441) } } }));
    expect((await gateway.ask('/')).status).equal(500);
    expect(gateway.stat('http.http.ext_proc.streams_failed')).equal(1);
  });

  it('leaves a server that responds to the client and does not end the call', async () => {
    let left: Promise<unknown> | undefined;
    await processing((_message, call) => {
      call.removeAllListeners('end');
      left = once(call, 'cancelled');
      return { immediateResponse: { status: { code: 403 } } };
    });
    expect((await gateway.ask('/')).status).equal(403);
    await left;
  });

  it('is disabled and overridden by routes and virtual hosts', async () => {
    await processing(unchanged, { options: { extProc: { disabled: true } } });
    await gateway.seen('/');
    expect(processor.seen).deep.equal([]);
    await stop();
    await processing(unchanged, {
      host: { extProc: { overrides: { processingMode: { responseHeaderMode: 'SKIP' } } } },
    });
    await gateway.seen('/');
    expect(processor.seen).deep.equal(['requestHeaders /']);
  });

  it('uses the block of the Settings, which a listener overrides or disables', async () => {
    const settings: SnapshotSettings = {
      ...DEFAULT_SNAPSHOT_SETTINGS,
      extProc: { grpcService: SERVER, messageTimeout: '2s', processingMode: { requestHeaderMode: 'SKIP' } },
    };
    await processing(unchanged, { settings, http: { extProc: { failureModeAllow: true } } });
    await gateway.seen('/a');
    expect(processor.seen).deep.equal(['responseHeaders 200']);
    await stop();
    await processing(unchanged, { settings, http: { disableExtProc: true } });
    await gateway.seen('/b');
    expect(processor.seen).deep.equal([]);
  });

  it('calls early, regular and late servers at their stages', async () => {
    const order: string[] = [];
    const blockOf = (name: string, stage: 'AuthNStage' | 'RouteStage'): ExtProc => ({
      grpcService: { ...SERVER, initialMetadata: [{ key: 'x-name', value: name }] },
      messageTimeout: '2s',
      filterStage: { stage },
      processingMode: { responseHeaderMode: 'SKIP' },
    });
    const http = {
      extProcLate: blockOf('late', 'AuthNStage'),
      extProc: blockOf('regular', 'RouteStage'),
      extProcEarly: blockOf('early', 'AuthNStage'),
    };
    const answer = (message: Received, call: { metadata: { get(name: string): unknown[] } }) => {
      order.push(String(call.metadata.get('x-name')[0]));
      return unchanged(message);
    };
    await processing(answer, { http });
    await gateway.seen('/');
    expect(order).deep.equal(['early', 'regular', 'late']);
  });
});
