import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { closeAll, listen, until, whenDone } from '../../forward/harness.ts';
import { http2Client } from '../../listen/http2/client.ts';
import { fields, FLAG, frame, FRAME, FrameClient } from '../../listen/http2/frames.ts';
import { FRAMING_CASES } from '../../attack/framing-cases.ts';
import { grpcGateway } from '../../serve/grpc/gateway.ts';
import { http2Upstream } from './servers.ts';

/** A request as an upstream received it. */
interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  body: string;
  isComplete: boolean;
}

interface Upstream {
  readonly port: number;
  readonly received: Received[];
  /** The headers that were received over HTTP/1.1. */
  readonly text: () => string;
}

async function over2(): Promise<Upstream> {
  const received: Received[] = [];
  const { port } = await http2Upstream((stream, headers) => {
    const request = {
      method: headers[':method']!,
      path: headers[':path']!,
      headers: { ...headers },
      body: '',
      isComplete: false,
    };
    received.push(request);
    stream.on('data', (chunk) => (request.body += chunk));
    stream.on('end', () => {
      // Node ends a stream that is reset, too.
      if (stream.closed) return;
      request.isComplete = true;
      stream.respond({ ':status': 200, 'x-version': '2' });
      stream.end(`got ${request.body}`);
    });
  });
  return { port, received, text: () => '' };
}

async function over1(): Promise<Upstream> {
  const received: Received[] = [];
  let text = '';
  const server = createServer((req, res) => {
    const request = { method: req.method!, path: req.url!, headers: { ...req.headers }, body: '', isComplete: false };
    received.push(request);
    req.on('data', (chunk) => (request.body += chunk));
    req.on('end', () => {
      request.isComplete = true;
      text += req.rawHeaders.join('\r\n');
      res.writeHead(200, { 'x-version': '1' });
      res.end(`got ${request.body}`);
    });
  });
  const port = await listen(server);
  whenDone(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, received, text: () => text };
}

const UPSTREAMS = { 'HTTP/1.1': over1, 'HTTP/2': over2 } as const;

/** Sends bytes over HTTP/1.1; resolves with everything that is received until the connection closes. */
async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => {});
  socket.end(bytes, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

const SECOND = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n';

/** The pseudo-header fields of a request over HTTP/2. */
const POST = { ':method': 'POST', ':scheme': 'http', ':path': '/', ':authority': 'a' };

/** Headers of HTTP/2 that would change the framing, or end a line, over HTTP/1.1. */
const INVALID: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'transfer-encoding': [['transfer-encoding', 'chunked']],
  connection: [['connection', 'x-a']],
  'a line break in a value': [['x-a', `1\r\n\r\n${SECOND}`]],
  'a line break in a name': [['x-a: 1\r\nx-b', '2']],
  'a colon in a name': [['transfer-encoding: chunked\r\nx', '1']],
  'a capital in a name': [['X-A', '1']],
  'two lengths': [
    ['content-length', '5'],
    ['content-length', '6'],
  ],
  'an empty length': [['content-length', '']],
  'a list of lengths': [['content-length', '5, 5']],
  'a length with a sign': [['content-length', '+5']],
  'a negative length': [['content-length', '-5']],
  'a length in hex': [['content-length', '0x5']],
  'a length with a space inside': [['content-length', '5 5']],
  'a length that overflows': [['content-length', '99999999999999999999999999']],
  'a coding beside a length': [
    ['content-length', '5'],
    ['transfer-encoding', 'chunked'],
  ],
};

const PSEUDO: Readonly<Record<string, readonly [method: string, path: string, authority: string]>> = {
  'a line break in the path': ['POST', `/ HTTP/1.1\r\nhost: a\r\n\r\n${SECOND}`, 'a'],
  'a space in the path': ['POST', '/a b', 'a'],
  'a line break in the method': ['POST / HTTP/1.1\r\nx: 1\r\n\r\nGET', '/', 'a'],
  'a line break in the authority': ['POST', '/', `a\r\n\r\n${SECOND}`],
};

for (const [version, start] of Object.entries(UPSTREAMS)) {
  const spec = { useHttp2: version === 'HTTP/2' };
  const upstreamVersion = version === 'HTTP/2' ? '2' : '1';

  describe(`requests to an upstream over ${version}`, () => {
    afterEach(closeAll);

    it('are the same from clients of both versions', async () => {
      const upstream = await start();
      const gw = await grpcGateway(upstream.port, { spec });
      const url = `http://127.0.0.1:${gw.port}/a?b=c`;
      const first = await fetch(url, { method: 'POST', body: 'hello', headers: { 'X-Name': 'v' } });
      expect(await first.text()).to.equal('got hello');
      const client = await http2Client(gw.port);
      const second = await client.ask('/a?b=c', { method: 'POST', body: 'hello', headers: { 'x-name': 'v' } });
      client.close();
      expect(second).to.include({ status: 200, body: 'got hello' });
      expect(second.headers['x-version']).to.equal(upstreamVersion);
      expect(upstream.received.map(({ method, path, body }) => [method, path, body])).to.deep.equal([
        ['POST', '/a?b=c', 'hello'],
        ['POST', '/a?b=c', 'hello'],
      ]);
      for (const { headers } of upstream.received) expect(headers['x-name']).to.equal('v');
      expect(gw.stat('cluster.up_gw-system.upstream_cx_http2_total')).to.equal(version === 'HTTP/2' ? 1 : 0);
    });

    it('cannot be smuggled over HTTP/1.1', async () => {
      const upstream = await start();
      const gw = await grpcGateway(upstream.port, { spec });
      for (const [name, bytes, status] of FRAMING_CASES) {
        const text = await sendRaw(gw.port, bytes);
        expect(text, name).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      }
      expect(upstream.received).to.deep.equal([]);
    });

    it('cannot be smuggled by headers of HTTP/2', async () => {
      const upstream = await start();
      const gw = await grpcGateway(upstream.port, { spec });
      const heads: [string, Buffer][] = [
        ...Object.entries(INVALID).map(([name, more]): [string, Buffer] => [
          name,
          fields(...Object.entries(POST), ...more),
        ]),
        ...Object.entries(PSEUDO).map(([name, [method, path, authority]]): [string, Buffer] => [
          name,
          fields([':method', method], [':scheme', 'http'], [':path', path], [':authority', authority]),
        ]),
      ];
      for (const [name, block] of heads) {
        const client = await FrameClient.open(gw.port);
        client.send(
          frame(FRAME.headers, FLAG.endHeaders, 1, block),
          frame(FRAME.data, FLAG.endStream, 1, Buffer.from('hello')),
        );
        const end = await client.until(
          ({ type, stream }) =>
            ([FRAME.rstStream, FRAME.goaway] as number[]).includes(type) || (type === FRAME.headers && stream === 1),
        );
        // Node drops a header with an invalid value; everything else is rejected.
        if (end.type === FRAME.headers) expect(upstream.text(), name).not.to.match(/x-a|x-b|\r\nx:/i);
        client.close();
      }
      expect(upstream.received.filter(({ path, body }) => path !== '/' || body !== 'hello')).to.deep.equal([]);
      expect(upstream.text()).not.to.match(/smuggled/);
    });

    it('cannot be smuggled by trailers', async () => {
      const upstream = await start();
      const gw = await grpcGateway(upstream.port, { spec });
      for (const name of [
        'content-length',
        'transfer-encoding',
        'host',
        'connection',
        'te',
        ':path',
        'X-A',
        'x\r\na',
      ]) {
        const client = await FrameClient.open(gw.port);
        client.send(
          frame(FRAME.headers, FLAG.endHeaders, 1, fields(...Object.entries(POST))),
          frame(FRAME.data, 0, 1, Buffer.from('hello')),
          frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, fields([name, '5'])),
        );
        const end = await client.until(
          ({ type, stream }) =>
            ([FRAME.rstStream, FRAME.goaway] as number[]).includes(type) || (type === FRAME.headers && stream === 1),
        );
        if (end.type === FRAME.headers) expect(await client.status(1), name).to.equal(400);
        client.close();
      }
      await until(() => gw.stat('cluster.up_gw-system.upstream_rq_active') === 0, 'the end of the requests');
      expect(upstream.received.filter(({ isComplete }) => isComplete)).to.deep.equal([]);
    });

    it('never have another length than HTTP/2 clients declare', async () => {
      const upstream = await start();
      const gw = await grpcGateway(upstream.port, { spec });
      for (const length of ['4', '6', '0']) {
        const client = await FrameClient.open(gw.port);
        client.send(
          frame(FRAME.headers, FLAG.endHeaders, 1, fields(...Object.entries(POST), ['content-length', length])),
          frame(FRAME.data, FLAG.endStream, 1, Buffer.from('hello')),
        );
        const ends: readonly number[] = [FRAME.rstStream, FRAME.goaway];
        expect((await client.until(({ type }) => ends.includes(type))).type, length).to.be.oneOf(ends);
        client.close();
      }
      await until(() => gw.stat('cluster.up_gw-system.upstream_rq_active') === 0, 'the end of the requests');
      for (const { body } of upstream.received) expect(body).not.to.equal('hello');
    });
  });
}

describe('protocolSelection', () => {
  afterEach(closeAll);

  it('uses the version of the client with USE_DOWNSTREAM_PROTOCOL', async () => {
    const protocolSelection = 'USE_DOWNSTREAM_PROTOCOL' as const;
    const one = await over1();
    const first = await grpcGateway(one.port, { spec: { protocolSelection } });
    expect((await fetch(`http://127.0.0.1:${first.port}/`)).headers.get('x-version')).to.equal('1');
    const two = await over2();
    const second = await grpcGateway(two.port, { spec: { protocolSelection } });
    const client = await http2Client(second.port);
    expect((await client.ask('/')).headers['x-version']).to.equal('2');
    client.close();
  });
});
