import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { mistaken, randomOf } from '../../http2/mistaken-frames.ts';
import { closeAll, whenDone } from '../../forward/harness.ts';
import { fields, FLAG, FRAME, frame, FrameClient, PREFACE, requestFrame, uint32 } from './frames.ts';
import { serve } from '../serving.ts';

const CASES = 180;
const END = FLAG.endHeaders | FLAG.endStream;
/** What a server received completely, by the path of the request. */
type Seen = Map<string, string>;

/** Responds to a request that was received completely. */
function recording(seen: Seen) {
  return (req: IncomingMessage, res: ServerResponse): void => {
    let body = '';
    req.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    req.on('error', () => {});
    req.on('end', () => {
      const { method, url, rawTrailers } = req;
      seen.set(url!, JSON.stringify({ method, rawTrailers, body, custom: req.headers['x-a'] }));
      res.end('ok');
    });
  };
}

/** Starts a server of `node:http2` and returns its port. */
async function nodeServer(seen: Seen): Promise<number> {
  const handle = recording(seen);
  const server = createServer((req, res) => {
    handle(req as unknown as IncomingMessage, res as unknown as ServerResponse);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenDone(() => server.close());
  return (server.address() as AddressInfo).port;
}

describe('the HTTP/2 server and that of Node.js', () => {
  afterEach(closeAll);

  it('serve the same of the requests with random mistakes, except where ours is stricter', async () => {
    const seen: Record<'node' | 'own', Seen> = { node: new Map(), own: new Map() };
    const nodePort = await nodeServer(seen.node);
    const listener = await serve(recording(seen.own));
    whenDone(() => listener.close());
    let served = 0;
    for (let seed = 0; seed < CASES; seed++) {
      const request = mistakenRequest(seed);
      const [node, own] = await Promise.all([exchange(nodePort, request), exchange(listener.port, request)]);
      const received = [seen.node.get(`/${seed}`), seen.own.get(`/${seed}`)];
      const text = `seed ${seed}: ${JSON.stringify({ node, own, received })}`;
      // Frames that a client must not send: Node ignores some of them, and ours closes the connection.
      if (node.isServed && !own.isServed) expect([1, 5], text).to.include(own.goaway ?? own.reset);
      else expect(own.isServed, text).to.equal(node.isServed);
      if (!node.isServed || !own.isServed) continue;
      served++;
      expect(received[1], text).to.equal(received[0]);
    }
    expect(served).to.be.within(CASES / 6, CASES - CASES / 6);
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
