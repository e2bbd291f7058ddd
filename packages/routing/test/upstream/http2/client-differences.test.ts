import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { expect } from 'chai';
import { mistaken, randomOf } from '../../http2/mistaken-frames.ts';
import { closeAll, startWith } from '../../forward/harness.ts';
import { FLAG, FRAME } from '../../listen/http2/frames.ts';
import { data, fields, frame, frameUpstream, head, lastData, lastHead, reset } from './frames.ts';
import { http2Gateway, http2Upstream } from './servers.ts';

const CASES = 150;
const NAMES = ['x-a', 'x-b', 'content-type', 'set-cookie', 'server', 'etag', 'x-long', 'constructor', 'vary'];

/** What a client received. */
interface Received {
  readonly status: number | undefined;
  readonly headers: readonly string[];
  readonly body: string;
  readonly complete: boolean;
  readonly trailers: readonly string[];
}

interface Sent {
  readonly method: string;
  readonly body: Buffer | undefined;
  readonly isChunked: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

function send(url: string, { method, body, isChunked, headers }: Sent): Promise<Received> {
  return new Promise((resolve) => {
    const length = body && !isChunked ? { 'content-length': String(body.length) } : {};
    const req = request(url, { method, headers: { ...headers, ...length }, agent: false });
    req.on('error', () => resolve({ status: undefined, headers: [], body: '', complete: false, trailers: [] }));
    req.on('response', (res: IncomingMessage) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
      res.on('close', () => {
        const text = Buffer.concat(chunks).toString('latin1');
        const raw = withoutDate(res.rawHeaders);
        resolve({
          status: res.statusCode,
          headers: raw,
          body: res.statusCode === 200 ? text : '',
          complete: res.complete,
          trailers: res.rawTrailers,
        });
      });
    });
    if (body) for (let at = 0; at < body.length; at += 50_000) req.write(body.subarray(at, at + 50_000));
    req.end();
  });
}

const withoutDate = (raw: readonly string[]): string[] =>
  raw.filter((_, i) => raw[i - (i % 2)]!.toLowerCase() !== 'date');

function requestOf(seed: number): Sent {
  const random = randomOf(seed + 7);
  const method = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'][random(5)]!;
  const size = [0, 1, 1000, 20_000, 200_000][random(5)]!;
  const hasBody = method === 'POST' || method === 'PUT';
  const headers: Record<string, string> = { 'x-seed': String(seed) };
  for (let i = random(5); i > 0; i--) headers[`x-${random(10)}`] = 'v'.repeat(random(300));
  return { method, body: hasBody ? Buffer.alloc(size, 'b') : undefined, isChunked: random(2) === 0, headers };
}

/** Responds as the seed says, after the request or before its end. */
async function respond(stream: ServerHttp2Stream, seed: number, method: string): Promise<void> {
  const random = randomOf(seed);
  let received = 0;
  stream.on('data', (chunk: Buffer) => (received += chunk.length));
  if (random(10) > 0) await once(stream, 'end');
  const status = [200, 200, 200, 201, 204, 304, 404, 500][random(8)]!;
  const headers: OutgoingHttpHeaders = { ':status': status, 'x-received': String(random(10) > 0 ? received : 0) };
  for (let i = random(12); i > 0; i--) {
    const name = NAMES[random(NAMES.length)]!;
    const value = 'é~ a0%'.repeat(random(name === 'x-long' ? 500 : 8)).trim();
    headers[name] = name === 'set-cookie' ? [value, `${value}2`] : value;
  }
  const size = [0, 1, 100, 5000, 16_384, 16_385, 300_000][random(7)]!;
  const isBodiless = method === 'HEAD' || status === 204 || status === 304;
  if (random(2) === 0 && !isBodiless) headers['content-length'] = String(size);
  if (random(10) === 0) stream.additionalHeaders({ ':status': 103, link: 'a' });
  if (isBodiless) return stream.respond(headers, { endStream: true });
  const end = random(12);
  const waitForTrailers = random(4) === 0;
  stream.respond(headers, { waitForTrailers, endStream: size === 0 && !waitForTrailers });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-trailer': String(seed) }));
  const body = Buffer.alloc(size, `${seed};`);
  for (let at = 0; at < size;) {
    const length = 1 + random(60_000);
    stream.write(body.subarray(at, at + length));
    at += length;
    // Reset within the body: both clients see it at the same place only if it comes first.
    if (end === 0 && at === length) return stream.close(2);
  }
  stream.end();
}

/** The addresses of two gateways for the same server. */
async function urlsFor(port: number): Promise<readonly [node: string, direct: string]> {
  const node = await startWith('node', () => http2Gateway(port));
  const direct = await startWith('direct', () => http2Gateway(port));
  return [node.url, direct.url];
}

describe('both clients of HTTP/2', () => {
  afterEach(closeAll);

  it('pass on the same for random exchanges', async () => {
    const upstream = await http2Upstream((stream, headers) => {
      void respond(stream, Number(headers['x-seed']), headers[':method']!).catch(() => {});
    });
    const [node, direct] = await urlsFor(upstream.port);
    for (let seed = 0; seed < CASES; seed++) {
      const sent = requestOf(seed);
      const [one, other] = await Promise.all([send(node, sent), send(direct, sent)]);
      // A response that breaks off may do so before its head is passed on.
      if (!one.complete || !other.complete) expect(isFailure(one) && isFailure(other), `seed ${seed}`).to.equal(true);
      else expect(other, `seed ${seed}`).to.deep.equal(one);
    }
  });

  it('complete the same responses of those with random mistakes', async () => {
    let seed = 0;
    const upstream = await frameUpstream((socket, id) => {
      socket.write(mistakenResponse(seed, id));
      socket.end();
    });
    const [node, direct] = await urlsFor(upstream.port);
    const sent: Sent = { method: 'GET', body: undefined, isChunked: false, headers: {} };
    let complete = 0;
    for (; seed < 2 * CASES; seed++) {
      const one = await send(node, sent);
      const other = await send(direct, sent);
      expect(isOk(other), `seed ${seed}: ${JSON.stringify([one, other])}`).to.equal(isOk(one));
      if (!isOk(one)) continue;
      complete++;
      expect(other.body, `seed ${seed}`).to.equal(one.body);
    }
    expect(complete).to.be.within(CASES / 5, 2 * CASES - CASES / 5);
  });
});

const isFailure = ({ status = 0, complete }: Received): boolean => !complete || status >= 502;

const isOk = ({ status, complete }: Received): boolean => status === 200 && complete;

/** A response of which a frame may be missing, repeated, changed or out of order. */
function mistakenResponse(seed: number, id: number): Buffer {
  const random = randomOf(seed);
  const frames = [
    head(id, ':status', '200', 'x-a', '1', ...(random(2) === 0 ? ['content-length', '6'] : [])),
    data(id, 'abc'),
    ...(random(2) === 0 ? [lastData(id, 'def')] : [data(id, 'def'), lastHead(id, 'x-t', '1')]),
  ];
  const others = [
    head(id, ':status', '103'),
    reset(id, random(14)),
    frame(FRAME.ping, 0, 0, '12345678'),
    frame(FRAME.priority, 0, id, Buffer.alloc(5)),
    frame(FRAME.windowUpdate, 0, id, Buffer.of(0, 0, 0, random(2))),
    frame(0xee, 0, id, 'unknown'),
    frame(FRAME.headers, FLAG.endHeaders, id, fields(['x-b', '2'])),
    data(id, ''),
    frame(FRAME.continuation, FLAG.endHeaders, id, fields(['x-b', '2'])),
  ];
  return mistaken(frames, others, random);
}
