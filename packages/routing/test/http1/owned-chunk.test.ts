import { createServer, IncomingMessage, type ServerResponse } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { ownsChunk, replacePush } from '../../src/http1/owned-chunk.ts';
import { BodyRequest } from '../../src/listen/http1/body-request.ts';

const LARGE = Buffer.alloc(32 * 1024, 'a');
/** Returns a chunk that is the only view of its memory. */
const chunkOf = (data: Buffer): Buffer => Buffer.from(new Uint8Array(data).buffer);

const prepareNothing = (_req: IncomingMessage): void => {};

describe('a chunk of a body', () => {
  const sockets: Socket[] = [];

  /** Pushes a chunk, and returns whether its first listener owns it. */
  async function isOwned(
    prepare: (req: IncomingMessage) => void,
    chunk = chunkOf(LARGE),
    before = prepareNothing,
  ): Promise<boolean> {
    const socket = new Socket();
    sockets.push(socket);
    const req = new BodyRequest(socket);
    const received = Promise.withResolvers<boolean>();
    before(req);
    const listener = (data: Buffer): void => received.resolve(ownsChunk(req, data, listener));
    req.on('data', listener);
    prepare(req);
    req.push(chunk);
    return received.promise;
  }

  afterEach(() => sockets.splice(0).forEach((each) => each.destroy()));

  it('is owned by its only listener', async () => {
    expect(await isOwned(() => {})).to.equal(true);
  });

  it('is owned only while it is received', async () => {
    const req = new BodyRequest(new Socket());
    sockets.push(req.socket);
    const chunks: Buffer[] = [];
    const listener = (chunk: Buffer): void => void chunks.push(chunk);
    req.on('data', listener);
    await new Promise(setImmediate);
    req.push(chunkOf(LARGE));
    expect(chunks).to.have.length(1);
    expect(ownsChunk(req, chunks[0]!, listener)).to.equal(false);
  });

  it('is owned after it has waited for its listener, also if others wait behind it', async () => {
    const req = new BodyRequest(new Socket());
    sockets.push(req.socket);
    for (let i = 0; i < 3; i++) req.push(chunkOf(LARGE));
    const owned: boolean[] = [];
    const received = Promise.withResolvers<void>();
    const listener = (chunk: Buffer): void => {
      if (owned.push(ownsChunk(req, chunk, listener)) === 3) received.resolve();
    };
    req.on('data', listener);
    await received.promise;
    expect(owned[0]).to.equal(true);
  });

  it('is not owned if it is short or shares its memory', async () => {
    expect(await isOwned(() => {}, Buffer.from('short'))).to.equal(false);
    expect(await isOwned(() => {}, chunkOf(LARGE).subarray(1))).to.equal(false);
  });

  it('is owned if code that keeps no chunk has replaced push', async () => {
    expect(await isOwned((req) => replacePush(req, req.push.bind(req)))).to.equal(true);
    const prepare = (req: IncomingMessage): void => {
      replacePush(req, req.push.bind(req));
      req.push = req.push.bind(req);
    };
    expect(await isOwned(prepare)).to.equal(false);
  });

  const others: readonly (readonly [string, (req: IncomingMessage) => void])[] = [
    ['another listener', (req) => void req.on('data', () => {})],
    ['a listener that is called once', (req) => void req.once('data', () => {})],
    ['a reader', (req) => void req.prependListener('readable', () => {})],
    ['a replaced emit', (req) => void (req.emit = req.emit.bind(req))],
    ['a replaced push', (req) => void (req.push = req.push.bind(req))],
    ['a replaced read', (req) => void (req.read = req.read.bind(req))],
  ];
  for (const [what, prepare] of others)
    it(`is not owned if ${what} receives it too`, async () => {
      expect(await isOwned(prepare)).to.equal(false);
    });

  for (const name of ['on', 'addListener'] as const)
    it(`is not owned if a replaced ${name} registers another listener in its place`, async () => {
      const observe = (req: IncomingMessage): void => {
        req.on = req.addListener = ((event: string, listener: (chunk: Buffer) => void) =>
          IncomingMessage.prototype[name].call(req, event, (chunk: Buffer) => listener(chunk))) as typeof req.on;
      };
      expect(await isOwned(() => {}, chunkOf(LARGE), observe)).to.equal(false);
    });

  for (const name of ['push', 'read'] as const)
    it(`is not owned if ${name} of all streams is replaced`, async () => {
      const original = Readable.prototype[name];
      Readable.prototype[name] = function (this: Readable, ...parts: never[]): never {
        return (original as (...all: never[]) => never).apply(this, parts);
      };
      try {
        expect(await isOwned(() => {})).to.equal(false);
      } finally {
        Readable.prototype[name] = original as never;
      }
    });

  it('is not owned by a reader that does not let the body flow', async () => {
    const socket = new Socket();
    sockets.push(socket);
    const req = new BodyRequest(socket);
    req.push(chunkOf(LARGE));
    const chunk = req.read() as Buffer;
    expect([chunk.length, ownsChunk(req, chunk, () => {})]).to.deep.equal([LARGE.length, false]);
  });

  it('is not owned by a listener if a reader takes it from a paused body', async () => {
    const req = new BodyRequest(new Socket());
    sockets.push(req.socket);
    const owned: boolean[] = [];
    const listener = (chunk: Buffer): void => void owned.push(ownsChunk(req, chunk, listener));
    req.on('data', listener);
    req.pause();
    req.push(chunkOf(LARGE));
    expect((req.read() as Buffer).length).to.equal(LARGE.length);
    expect(owned).to.deep.equal([false]);
  });

  it('is owned as it is received by a server', async () => {
    const owned: boolean[] = [];
    const server = createServer({ IncomingMessage: BodyRequest }, (req: IncomingMessage, res: ServerResponse) => {
      const listener = (chunk: Buffer): void =>
        void owned.push(chunk.length < 8 * 1024 || ownsChunk(req, chunk, listener));
      req.on('data', listener);
      req.on('end', () => res.end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: Buffer.alloc(1024 * 1024) });
    server.close();
    server.closeAllConnections();
    expect(owned).to.not.include(false);
    expect(owned.length).to.be.greaterThan(1);
  });
});
