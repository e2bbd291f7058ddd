import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import {
  asMiddleware,
  filterRequestBody,
  GatewayError,
  readWholeBody,
  replaceBody,
  type BodyStream,
  type Concern,
  type Stage,
} from '@edge-gateway/core';
import { createRouter, type Router } from '../../src/router.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

const routers: Router[] = [];

async function serve(concerns: readonly Concern[], handle = echoBody): Promise<number> {
  const router = createRouter({ concerns });
  routers.push(router);
  const { port } = await start((req, res) => void handle(req, res));
  router.apply(
    snapshotOf([hostOf([routeOf({ options: { filters: {} } as never })])], [upstreamOf([endpointOf(port)])]),
  );
  const handler = router.listener(LISTENER);
  return (await start((req, res) => handler(req, res, () => res.destroy()))).port;
}

async function echoBody(req: IncomingMessage, res: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of req.setEncoding('utf8')) body += chunk as string;
  res.end(`${req.headers['content-length'] ?? req.headers['transfer-encoding']}:${body}`);
}

/** Posts a body in parts; resolves with all received bytes. */
function send(port: number, head: string, ...parts: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const client = connect(port, '127.0.0.1');
    let received = '';
    client.on('data', (data: Buffer) => (received += data.toString()));
    client.on('error', reject).on('close', () => resolve(received));
    client.write(`POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${head}\r\n`);
    for (const part of parts) setImmediate(() => client.write(part));
  });
}

async function post(port: number, body: string): Promise<string> {
  const req = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent: false });
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  let received = '';
  for await (const chunk of res.setEncoding('utf8')) received += chunk as string;
  return received;
}

/** A concern that does this to each request. */
function doing(change: (req: IncomingMessage) => void | Promise<void>, stage: Stage = 'rbac'): Concern<object> {
  return {
    name: stage,
    option: 'filters',
    stage,
    compile: () =>
      async function changeBody(req, _res, next) {
        await change(req);
        next();
      },
  };
}

afterEach(async () => {
  await Promise.all(routers.splice(0).map((router) => router.close()));
  await stopAll();
});

describe('replaced request bodies', () => {
  const doubling = doing(async (req) => {
    const body = await readWholeBody(req, 1000);
    replaceBody(req, Buffer.concat([body, body, Buffer.from('!')]));
  });

  it('sends the new body with its length, whatever the framing was', async () => {
    const port = await serve([doubling]);
    expect(await send(port, 'content-length: 4\r\n', 'ab', 'cd')).to.match(/9:abcdabcd!/);
    expect(await send(port, 'transfer-encoding: chunked\r\n', '2\r\nab\r\n', '2\r\ncd\r\n0\r\n\r\n')).to.match(
      /9:abcdabcd!/,
    );
    expect(await send(port, 'transfer-encoding: chunked\r\n', '0\r\n\r\n')).to.match(/1:!/);
    expect(await send(port, '')).to.match(/1:!/);
  });

  it('rejects a body that is larger than the limit, whatever the framing is', async () => {
    const port = await serve([doubling]);
    const large = 'x'.repeat(2000);
    expect(await send(port, 'content-length: 2000\r\n', large)).to.match(/^HTTP\/1.1 413 [\s\S]*payload too large$/);
    const chunked = await send(port, 'transfer-encoding: chunked\r\n', `7d0\r\n${large}\r\n`);
    expect(chunked).to.match(/^HTTP\/1.1 413 [\s\S]*payload too large$/);
  });

  it('replaces the body in your own server, before and after a body parser', async () => {
    const double = asMiddleware(doubling)({});
    for (const isParsed of [false, true]) {
      const { port } = await start((req, res) => {
        const respond = (): void =>
          double(req, res, () => {
            if (isParsed) res.end((req as { rawBody?: Buffer }).rawBody);
            else echoBody(req, res).catch(() => res.destroy());
          });
        if (!isParsed) return respond();
        const chunks: Buffer[] = [];
        return void req
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            Object.assign(req, { rawBody: Buffer.concat(chunks) });
            respond();
          });
      });
      expect(await post(port, 'ab')).to.equal(isParsed ? 'abab!' : '5:abab!');
    }
  });
});

/** Appends a text to each chunk. */
const marking = (mark: string): BodyStream =>
  async function* markChunks(chunks) {
    for await (const chunk of chunks) yield Buffer.from(`${chunk.toString()}${mark}`);
  };

describe('filtered request bodies', () => {
  const filtered = (stream: BodyStream, stage?: Stage) => doing((req) => filterRequestBody(req, stream), stage);
  const upper: BodyStream = async function* toUpper(chunks) {
    for await (const chunk of chunks) yield Buffer.from(chunk.toString().toUpperCase());
  };

  it('streams the body in chunks, whatever the framing was', async () => {
    const port = await serve([filtered(upper)]);
    expect(await send(port, 'content-length: 4\r\n', 'ab', 'cd')).to.match(/chunked:ABCD/);
    expect(await send(port, 'transfer-encoding: chunked\r\n', '2\r\nab\r\n', '2\r\ncd\r\n0\r\n\r\n')).to.match(
      /chunked:ABCD/,
    );
    expect(await send(port, 'transfer-encoding: chunked\r\n', '0\r\n\r\n')).to.match(/\r\nchunked:/);
    expect(await send(port, '')).to.match(/\r\n0:/);
    expect(await post(port, 'received at once')).to.equal('chunked:RECEIVED AT ONCE');
  });

  it('applies filters in the order of requests, before and after the body is read', async () => {
    const order = [
      filtered(marking('1'), 'extAuth'),
      filtered(marking('2')),
      filtered(marking('3'), 'regularTransformation'),
    ];
    expect(await post(await serve(order), 'a')).to.equal('chunked:a123');
    const seen: string[] = [];
    const reading = doing(async (req) => void seen.push((await readWholeBody(req, 100)).toString()), 'jwt');
    expect(await post(await serve([order[0]!, reading, order[1]!]), 'a')).to.equal('chunked:a12');
    expect(seen).to.deep.equal(['a1']);
  });

  it('sends the body to the next handler of your own server', async () => {
    const middleware = asMiddleware(filtered(upper))({});
    const { port } = await start((req, res) => middleware(req, res, () => void echoBody(req, res)));
    expect(await post(port, 'abc')).to.equal('chunked:ABC');
    expect(await send(port, 'content-length: 4\r\nexpect: 100-continue\r\n', 'abcd')).to.match(
      /100 Continue[\s\S]*ABCD/,
    );
  });

  it('responds with the error of a filter', async () => {
    const failing = filtered(async function* fail(chunks) {
      for await (const chunk of chunks) {
        yield chunk;
        const reply = { body: 'payload too large' };
        throw new GatewayError('too large', { code: 'ERR_TEST', status: 413, reply });
      }
    });
    const port = await serve([failing]);
    for (const parts of [['abcd'], ['ab', 'cd']]) {
      const received = await send(port, 'content-length: 4\r\n', ...parts);
      expect(received).to.match(/^HTTP\/1.1 413 [\s\S]*payload too large$/);
    }
  });

  it('stops when the client disconnects', async () => {
    const ended = Promise.withResolvers<void>();
    const received = Promise.withResolvers<void>();
    const watching = filtered(async function* watch(chunks) {
      try {
        for await (const chunk of chunks) {
          received.resolve();
          yield chunk;
        }
      } finally {
        ended.resolve();
      }
    });
    const port = await serve([watching]);
    const client = connect(port, '127.0.0.1', () =>
      client.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc'),
    );
    await received.promise;
    client.destroy();
    await ended.promise;
  });

  it('takes no more from the client than a slow upstream reads', async () => {
    const reached = Promise.withResolvers<IncomingMessage>();
    const hold = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
      reached.resolve(req.pause());
      await once(req, 'end');
      res.end('done');
    };
    const port = await serve([filtered(marking(''))], hold);
    const client = connect(port, '127.0.0.1');
    await once(client, 'connect');
    const total = 64 * 1024 * 1024;
    client.write(`POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${total}\r\n\r\n`);
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 64; i++) client.write(chunk);
    const paused = await reached.promise;
    let before = -1;
    while (before !== client.bytesWritten - client.writableLength) {
      before = client.bytesWritten - client.writableLength;
      for (let i = 0; i < 200; i++) await turn();
    }
    expect(before).to.be.lessThan(total / 2);
    let received = '';
    client.on('data', (data: Buffer) => (received += data.toString()));
    paused.resume();
    await once(client, 'close');
    expect(received).to.include('done');
  });
});
