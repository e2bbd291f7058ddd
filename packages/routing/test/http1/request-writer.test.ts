import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { RequestBody } from '../../src/http1/request-body.ts';
import { RequestWriter, SMALL_BODY, writeBuffered } from '../../src/http1/request-writer.ts';

const HEAD = 'POST / HTTP/1.1\r\n\r\n';

interface Sent {
  /** What the upstream received until the end of the connection. */
  readonly text: string;
  readonly written: number;
  readonly error: string | undefined;
}

describe('the writer of requests', () => {
  let server: Server;
  let received: PromiseWithResolvers<string>;
  beforeEach(async () => {
    received = Promise.withResolvers();
    server = createServer(async (socket) => {
      let text = '';
      socket.setEncoding('latin1').on('data', (data: string) => (text += data));
      socket.on('error', () => {}).on('close', () => received.resolve(text));
      socket.on('end', () => socket.end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => server.close());

  const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1');

  async function send(
    headers: IncomingMessage['headers'],
    chunks: readonly Buffer[],
    trailers: string[] = [],
  ): Promise<Sent> {
    const socket = open();
    const message = { headers, httpVersionMajor: 1, rawTrailers: trailers, complete: true };
    const body = new RequestBody(Object.assign(Readable.from(chunks), message) as unknown as IncomingMessage, () => {});
    body.filterTrailers = (raw) => raw;
    let error: string | undefined;
    socket.on('error', ({ message: text }) => (error = text));
    await once(socket, 'connect');
    const writer = new RequestWriter(socket, HEAD, body);
    const closed = once(socket, 'close').catch(() => {});
    writer.start();
    // Before the end of the body is written.
    while (!body.ended && !socket.destroyed) await new Promise(setImmediate);
    if (!socket.destroyed) socket.end();
    socket.resume();
    await closed;
    return { text: await received.promise, written: writer.written, error };
  }
  const bytes = (count: number) => Buffer.alloc(count, 'x');

  for (const size of [1, 15, 16, 255, 256, SMALL_BODY, SMALL_BODY + 1])
    it(`sends a chunk of ${size} bytes with its size in hexadecimal, and counts each byte`, async () => {
      const { text, written, error } = await send({ 'transfer-encoding': 'chunked' }, [bytes(size), bytes(3)]);
      expect(error).to.equal(undefined);
      expect(text).to.equal(`${HEAD}${size.toString(16)}\r\n${'x'.repeat(size)}\r\n3\r\nxxx\r\n0\r\n\r\n`);
      expect(written).to.equal(text.length);
    });

  it('sends trailers with names in lower case', async () => {
    const { text, written } = await send({ 'transfer-encoding': 'chunked' }, [bytes(1)], ['X-Sum', 'A b']);
    expect(text).to.equal(`${HEAD}1\r\nx\r\n0\r\nx-sum: A b\r\n\r\n`);
    expect(written).to.equal(text.length);
  });

  it('sends a body of its declared length, and counts each byte', async () => {
    const { text, written, error } = await send({ 'content-length': '20000' }, [bytes(10), bytes(19_990)]);
    expect(error).to.equal(undefined);
    expect(text).to.equal(HEAD + 'x'.repeat(20_000));
    expect(written).to.equal(text.length);
  });

  it('aborts a body that is longer or shorter than its declared length, by one byte', async () => {
    const longer = await send({ 'content-length': '10' }, [bytes(9), bytes(2)]);
    expect(longer.error).to.equal('the body is longer than its content-length');
    expect(longer.text.length).to.be.at.most(HEAD.length + 9);
    received = Promise.withResolvers();
    const shorter = await send({ 'content-length': '10' }, [bytes(9)]);
    expect(shorter.error).to.equal('the body is shorter than its content-length');
  });

  for (const size of [0, 1, SMALL_BODY, SMALL_BODY + 1])
    it(`sends a buffered body of ${size} bytes`, async () => {
      const socket = open();
      await once(socket, 'connect');
      writeBuffered(socket, HEAD, size === 0 ? undefined : bytes(size));
      socket.end().resume();
      expect(await received.promise).to.equal(HEAD + 'x'.repeat(size));
    });
});
