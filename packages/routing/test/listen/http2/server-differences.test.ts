import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { mistaken, randomOf } from '../../http2/mistaken-frames.ts';
import { closeAll, whenDone } from '../../forward/harness.ts';
import type { Http2Asked, Http2Answer } from './client.ts';
import { fields, FLAG, FRAME, frame, FrameClient, PREFACE, requestFrame, uint32 } from './frames.ts';
import { http2Gateway, type Http2Gateway } from './gateway.ts';

const CASES = 60;
const END = FLAG.endHeaders | FLAG.endStream;
/** Passes trailers on in both directions. */
const WITH_TRAILERS = {
  listener: { httpOptions: { httpConnectionManagerSettings: { enableTrailers: true } } },
  upstream: { spec: { connectionConfig: { http1ProtocolOptions: { enableTrailers: true } } } },
};

/** Responds as the seed in the path says, after the request or before its end. */
function respond(req: IncomingMessage, res: ServerResponse): void {
  const seed = Number(req.url!.slice(1));
  const random = randomOf(seed);
  let received = 0;
  req.on('data', (chunk: Buffer) => (received += chunk.length)).on('error', () => {});
  const answer = (): void => {
    const status = [200, 200, 200, 201, 204, 304, 404, 500][random(8)]!;
    const headers: Record<string, string | string[]> = { 'x-received': String(received) };
    for (let i = random(6); i > 0; i--) headers[`x-${random(4)}`] = 'é~ a0%'.repeat(random(60)).trim();
    if (random(3) === 0) headers['set-cookie'] = ['a=1', 'b=2'];
    const size = [0, 1, 100, 5_000, 16_384, 16_385, 300_000][random(7)]!;
    if (random(2) === 0) headers['content-length'] = String(size);
    else if (random(3) === 0 && status !== 204 && status !== 304 && req.method !== 'HEAD')
      headers['trailer'] = 'x-trailer';
    if (random(10) === 0) res.writeEarlyHints({ link: '</a>; rel=preload' });
    res.writeHead(status, headers);
    if (headers['trailer']) res.addTrailers({ 'x-trailer': String(seed) });
    res.end(Buffer.alloc(size, `${seed};`));
  };
  if (random(10) > 0) req.on('end', answer);
  else answer();
}

function requestOf(seed: number): Http2Asked {
  const random = randomOf(seed + 7);
  const method = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'][random(5)]!;
  const size = [0, 1, 1_000, 20_000, 200_000][random(5)]!;
  const hasBody = method === 'POST' || method === 'PUT';
  const headers: Record<string, string | string[]> = {};
  for (let i = random(5); i > 0; i--) headers[`x-${random(10)}`] = 'v'.repeat(random(300));
  if (random(3) === 0) headers['cookie'] = ['a=1', 'b=2'];
  if (hasBody && random(2) === 0) headers['content-length'] = String(size);
  const trailers = hasBody && random(4) === 0 ? { 'x-trailer': String(seed) } : undefined;
  return { method, headers, ...(hasBody && { body: Buffer.alloc(size, 'b') }), ...(trailers && { trailers }) };
}

/** What the upstream received completely, by the path of the request. */
type Seen = Map<string, string>;

interface Both {
  readonly node: Http2Gateway;
  readonly direct: Http2Gateway;
}

async function both(start: (server: 'node' | 'direct') => Promise<Http2Gateway>): Promise<Both> {
  const [node, direct] = await Promise.all([start('node'), start('direct')]);
  whenDone(() => Promise.all([node.close(), direct.close()]));
  return { node, direct };
}

function comparable({ headers, ...answer }: Http2Answer): object {
  const { date: _date, 'x-envoy-upstream-service-time': _time, ...others } = headers;
  // Without the prototypes and symbols of Node's objects.
  return JSON.parse(JSON.stringify({ ...answer, headers: others })) as object;
}

describe('both servers of HTTP/2', () => {
  afterEach(closeAll);

  it('pass on the same messages in random exchanges', async () => {
    const { node, direct } = await both((http2Server) =>
      http2Gateway({ respond, ...WITH_TRAILERS, limits: { http2Server } }),
    );
    const [one, other] = [await node.client(), await direct.client()];
    for (let seed = 0; seed < CASES; seed++) {
      const asked = requestOf(seed);
      const answers = await Promise.all([one.ask(`/${seed}`, asked), other.ask(`/${seed}`, asked)]);
      expect(comparable(answers[1]), `seed ${seed}`).to.deep.equal(comparable(answers[0]));
    }
  });

  it('serve the same of the requests with random mistakes, except where one is stricter', async () => {
    const seen: Record<'node' | 'direct', Seen> = { node: new Map(), direct: new Map() };
    const { node, direct } = await both((http2Server) =>
      http2Gateway({
        respond: (req, res) => {
          let body = '';
          req.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
          req.on('error', () => {});
          req.on('end', () => {
            const { method, url, rawTrailers } = req;
            seen[http2Server].set(url!, JSON.stringify({ method, rawTrailers, body, custom: req.headers['x-a'] }));
            res.end('ok');
          });
        },
        ...WITH_TRAILERS,
        limits: { http2Server },
      }),
    );
    let served = 0;
    for (let seed = 0; seed < 3 * CASES; seed++) {
      const request = mistakenRequest(seed);
      const [one, other] = await Promise.all([exchange(node.port, request), exchange(direct.port, request)]);
      const received = [seen.node.get(`/${seed}`), seen.direct.get(`/${seed}`)];
      const text = `seed ${seed}: ${JSON.stringify({ one, other, received })}`;
      // Frames that a client must not send: Node ignores some of them, and the other server closes the connection.
      if (one.isServed && !other.isServed) expect([1, 5], text).to.include(other.goaway ?? other.reset);
      else expect(other.isServed, text).to.equal(one.isServed);
      if (!one.isServed || !other.isServed) continue;
      served++;
      expect(received[1], text).to.equal(received[0]);
    }
    expect(served).to.be.within(CASES / 2, 3 * CASES - CASES / 2);
  });
});

interface Outcome {
  readonly isServed: boolean;
  readonly goaway: number | undefined;
  readonly reset: number | undefined;
}

/**
 * Later requests of a connection: when the last one is over, so is the first one, unless something of it is
 * missing. Their numbers are larger than any that a mistake makes.
 */
const LATER = [0x7fffff07, 0x7fffff09, 0x7fffff0b];
/** What a frame with a wrong length may contain of what follows it. */
const FILLER = ['x-filler', 'a'.repeat(6_000)] as const;

/** Sends a request on its own connection, and others when it is not over before. */
async function exchange(port: number, request: Buffer): Promise<Outcome> {
  const client = new FrameClient(port);
  const fillers = [0x7fffff01, 0x7fffff03, 0x7fffff05].map((id) => requestFrame(id, '/filler', FILLER));
  client.send(PREFACE, frame(FRAME.settings, 0, 0), request, ...fillers);
  const { frames } = client;
  const isOver = (id: number): boolean =>
    frames.some(
      ({ type, flags, stream }) =>
        type === FRAME.goaway ||
        (stream === id && (type === FRAME.rstStream || (type <= FRAME.headers && (flags & FLAG.endStream) !== 0))),
    );
  for (const id of LATER) {
    client.send(requestFrame(id, '/later'));
    await client.until(() => isOver(1) || isOver(id)).catch(() => {});
    if (isOver(1)) break;
  }
  client.close();
  const head = frames.find(({ type, stream }) => type === FRAME.headers && stream === 1);
  return {
    isServed: head?.fields?.some(([name, value]) => name === ':status' && value === '200') === true,
    goaway: frames.find(({ type }) => type === FRAME.goaway)?.payload.readUInt32BE(4),
    reset: frames.find(({ type, stream }) => type === FRAME.rstStream && stream === 1)?.payload.readUInt32BE(0),
  };
}

/** A request of which a frame may be missing, repeated, changed or out of order. */
function mistakenRequest(seed: number): Buffer {
  const random = randomOf(seed);
  const pseudo = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', `/${seed}`],
    [':authority', 'a'],
  ] as const;
  const length = random(2) === 0 ? [['content-length', '6'] as const] : [];
  const data = (flags: number, body: string): Buffer => frame(FRAME.data, flags, 1, Buffer.from(body));
  const frames = [
    frame(FRAME.headers, FLAG.endHeaders, 1, fields(...pseudo, ['x-a', '1'], ...length)),
    data(0, 'abc'),
    ...(random(2) === 0
      ? [data(FLAG.endStream, 'def')]
      : [data(0, 'def'), frame(FRAME.headers, END, 1, fields(['x-t', '1']))]),
  ];
  const others = [
    frame(FRAME.rstStream, 0, 1, uint32(random(14))),
    frame(FRAME.ping, 0, 0, Buffer.from('12345678')),
    frame(FRAME.priority, 0, 1, Buffer.alloc(5)),
    frame(FRAME.windowUpdate, 0, 1, uint32(random(2))),
    frame(0xee, 0, 1, Buffer.from('unknown')),
    frame(FRAME.headers, FLAG.endHeaders, 1, fields(['x-b', '2'])),
    data(0, ''),
    frame(FRAME.continuation, FLAG.endHeaders, 1, fields(['x-b', '2'])),
  ];
  return mistaken(frames, others, random);
}
