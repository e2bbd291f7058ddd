import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createContext, filterRequestBody, peekBody, type Handler, type SnapshotUpstream } from '@edge-gateway/core';
import { ReplayableBody } from '../../src/http1/replayable-body.ts';
import { RequestBody, type BodySink } from '../../src/http1/request-body.ts';
import { free } from '../../src/http1/spare-buffers.ts';
import { closeAll, until, whenDone } from '../forward/harness.ts';
import { endpointOf } from '../snapshots.ts';
import { certificates, secretsOf } from '../upstream/certificates.ts';
import { http2Upstream } from '../upstream/http2/servers.ts';
import { serve } from './serving.ts';
import { http2Client, type Http2Client } from './http2/client.ts';
import { http2Gateway, settings, type Http2GatewayParts } from './http2/gateway.ts';

const MB = 1024 * 1024;
const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Reads a body, and pauses again and again. */
function digestSlowly(body: NodeJS.ReadableStream, done: (digest: string) => void): void {
  const hash = createHash('sha256');
  body.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    body.pause();
    setImmediate(() => body.resume());
  });
  body.on('end', () => done(hash.digest('hex')));
}

/** Sends a body over HTTP/1.1; resolves with the body of the response. */
function postHttp1(port: number, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', method: 'POST', agent: false }, (res) => {
      let text = '';
      res.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve(text));
    });
    req.on('error', reject).end(body);
  });
}

/** Sends a body over HTTP/2; resolves with the body of the response. */
async function postHttp2(port: number, body: Buffer): Promise<string> {
  const { ask, close } = await http2Client(port);
  const response = await ask('/', { method: 'POST', body });
  close();
  return response.body;
}

describe('large bodies', () => {
  afterEach(closeAll);

  const { server } = certificates();
  const tlsListener: Http2GatewayParts = {
    context: createContext({ secrets: secretsOf({ one: { 'tls.crt': server.cert, 'tls.key': server.key } }) }),
    listener: {
      ssl: true,
      sslConfigurations: [{ sniDomains: [], sslConfig: { secretRef: { name: 'one', namespace: 'gw-system' } } }],
    },
  };

  async function http2Endpoint(): Promise<Partial<SnapshotUpstream>> {
    const { port } = await http2Upstream((stream) => digestSlowly(stream, (digest) => stream.end(digest)));
    return { endpoints: [endpointOf(port)], spec: { useHttp2: true } };
  }

  const bodies = [4 * MB, 3 * MB + 17, 100_000, 2 * MB].map((size) => randomBytes(size));

  for (const tls of [false, true]) {
    for (const version of ['HTTP/1.1', 'HTTP/2']) {
      it(`arrive unchanged over ${version} when HTTP/2 clients send them ${tls ? 'over TLS' : 'without TLS'} at the same time`, async () => {
        const gateway = await http2Gateway({
          ...(tls && tlsListener),
          ...(version === 'HTTP/2' && { upstream: await http2Endpoint() }),
          respond: (req, res) => digestSlowly(req, (digest) => res.end(digest)),
        });
        whenDone(() => gateway.close());
        const clients = await Promise.all([gateway.client({ tls }), gateway.client({ tls })]);
        const responses = await Promise.all(
          clients.flatMap(({ ask }) => bodies.map((body) => ask('/', { method: 'POST', body }))),
        );
        const expected = bodies.map(digestOf);
        expect(responses.map(({ body }) => body)).to.deep.equal([...expected, ...expected]);
      });
    }
  }

  /** Opens a connection over TLS to a handler. */
  async function secureClient(handler: Handler, window: number): Promise<Http2Client> {
    const { port, close } = await serve(handler, {
      context: tlsListener.context!,
      listener: tlsListener.listener!,
      limits: { initialStreamWindowBytes: window, initialConnectionWindowBytes: window },
    });
    whenDone(close);
    const client = await http2Client(port, { tls: true });
    whenDone(client.close);
    return client;
  }

  it('are passed on over TLS part by part, when the client waits for a response to each', async () => {
    const echo: Handler = (req, res) => void req.pipe(res);
    const { open } = await secureClient(echo, MB);
    const stream = open('/', { ':method': 'POST' });
    const received: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => received.push(chunk));
    const body = randomBytes(30_000);
    for (let at = 0; at < body.length; at += 6000) {
      stream.write(body.subarray(at, at + 6000));
      await until(() => Buffer.concat(received).length === at + 6000);
    }
    expect(Buffer.concat(received).equals(body)).to.equal(true);
  });

  it('leave the window over TLS to later ones, if their request is destroyed while they wait', async () => {
    const { open, ask } = await secureClient((req, res) => {
      if (req.url === '/') req.destroy();
      else digestSlowly(req, (digest) => res.end(digest));
    }, 65_535);
    for (let i = 0; i < 20; i++) {
      const stream = open('/', { ':method': 'POST' });
      stream.resume().write(Buffer.alloc(15_000));
      await once(stream, 'close');
    }
    const body = randomBytes(60_000);
    expect((await ask('/last', { method: 'POST', body })).body).to.equal(digestOf(body));
  });

  for (const version of ['HTTP/1.1', 'HTTP/2']) {
    it(`arrive unchanged over ${version} when HTTP/1.1 clients send them at the same time`, async () => {
      const gateway = await http2Gateway({
        ...(version === 'HTTP/2' && { upstream: await http2Endpoint() }),
        respond: (req, res) => digestSlowly(req, (digest) => res.end(digest)),
      });
      whenDone(() => gateway.close());
      const received = await Promise.all([...bodies, ...bodies].map((body) => postHttp1(gateway.port, body)));
      const expected = bodies.map(digestOf);
      expect(received).to.deep.equal([...expected, ...expected]);
    });
  }

  for (const maxFrameSize of [16_384, MB]) {
    it(`reach HTTP/2 clients unchanged over TLS, in frames of up to ${maxFrameSize} bytes`, async () => {
      const { context, listener } = tlsListener;
      const handler: Handler = (req, res) => {
        const body = bodies[Number(req.url!.slice(1)) % bodies.length]!;
        // Short and long parts: the frames of several streams are written together.
        let at = 0;
        for (const size of [1, 5000, 16_384, 70_000, 4096, 300_000]) {
          if (at < body.length) res.write(body.subarray(at, at + size));
          at += size;
        }
        res.end(body.subarray(at));
      };
      const { port, close } = await serve(handler, {
        context: context!,
        listener: listener!,
      });
      whenDone(close);
      const { ask, close: leave } = await http2Client(port, { tls: true, settings: { maxFrameSize } } as never);
      const responses = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(`/${i}`)));
      leave();
      const expected = bodies.map(digestOf);
      const received = responses.map(({ body }) => digestOf(Buffer.from(body, 'latin1')));
      expect(received).to.deep.equal([...expected, ...expected]);
    });
  }

  /** A destination that overwrites each chunk whose buffer may be reused. */
  class Overwriting implements BodySink {
    reused = 0;
    readonly #chunks: Buffer[] = [];
    readonly #body: RequestBody;
    readonly #onEnd: (digest: string) => void;

    constructor(body: RequestBody, onEnd: (digest: string) => void) {
      this.#body = body;
      this.#onEnd = onEnd;
    }

    onChunk(chunk: Buffer, isOwned?: boolean): void {
      this.#chunks.push(Buffer.from(chunk));
      if (isOwned) {
        this.reused++;
        chunk.fill('!');
        free(chunk);
      }
      this.#body.pause();
      setImmediate(() => this.#body.resume());
    }

    onBodyEnd(): void {
      this.#onEnd(digestOf(Buffer.concat(this.#chunks)));
    }

    onBodyError(error: Error): void {
      throw error;
    }
  }

  interface Uploaded {
    readonly sent: string;
    readonly received: string;
    readonly reused: number;
    /** What another reader has kept. */
    readonly kept: Buffer;
    readonly body: Buffer;
  }

  async function upload(
    post: typeof postHttp1,
    read: (req: IncomingMessage, keep: (chunk: Buffer) => void) => void | Promise<unknown>,
    bodyOf = (req: IncomingMessage) => new RequestBody(req, () => {}),
  ): Promise<Uploaded> {
    const kept: Buffer[] = [];
    let sink: Overwriting | undefined;
    const handler: Handler = async (req, res) => {
      await read(req, (chunk) => kept.push(chunk));
      const body = bodyOf(req);
      sink = new Overwriting(body, (digest) => res.end(digest));
      body.start(sink);
    };
    const { port, close } = await serve(handler, {});
    whenDone(close);
    const body = randomBytes(2 * MB);
    const received = await post(port, body);
    const { reused } = sink!;
    return { sent: digestOf(body), received, reused, kept: Buffer.concat(kept), body };
  }

  for (const [version, post] of [
    ['HTTP/1.1', postHttp1],
    ['HTTP/2', postHttp2],
  ] as const) {
    describe(`that are sent over ${version}`, () => {
      it('leave their buffers to a destination that is the only reader', async () => {
        const { sent, received, reused } = await upload(post, () => {});
        expect(received).to.equal(sent);
        expect(reused).to.be.greaterThan(10);
      });

      for (const [name, read] of Object.entries<Parameters<typeof upload>[1]>({
        'an earlier reader': (req, keep) => void req.prependListener('data', keep),
        'a later reader': (req, keep) => void req.once('resume', () => req.on('data', keep)),
        'a filter': (req, keep) =>
          filterRequestBody(req, async function* (chunks) {
            for await (const chunk of chunks) {
              keep(chunk);
              yield chunk;
            }
          }),
      })) {
        it(`stay unchanged for ${name}`, async () => {
          const { sent, received, reused, kept } = await upload(post, read);
          expect(received).to.equal(sent);
          expect(reused).to.equal(0);
          expect(digestOf(kept)).to.equal(sent);
        });
      }

      it('stay unchanged for a reader of one chunk', async () => {
        const { sent, received, kept, body } = await upload(post, (req, keep) => void req.once('data', keep).pause());
        expect(received).to.equal(sent);
        expect(kept.length).to.be.greaterThan(0);
        expect(kept.equals(body.subarray(0, kept.length))).to.equal(true);
      });

      it('stay unchanged for a reader that puts back what it has read', async () => {
        const { sent, received, kept, body } = await upload(post, async (req, keep) =>
          keep((await peekBody(req, 100_000)).bytes),
        );
        expect(received).to.equal(sent);
        expect(kept.equals(body.subarray(0, 100_000))).to.equal(true);
      });

      it('stay unchanged as long as they may be sent again', async () => {
        let body: ReplayableBody | undefined;
        const { sent, received, reused } = await upload(
          post,
          () => {},
          (req) => (body = new ReplayableBody(req, () => {}, 4 * MB)),
        );
        expect(received).to.equal(sent);
        expect(reused).to.equal(0);
        const again = Promise.withResolvers<string>();
        body!.start(new Overwriting(body!, again.resolve));
        expect(await again.promise).to.equal(sent);
      });

      it('leave their buffers when they can no longer be sent again', async () => {
        const { sent, received, reused } = await upload(
          post,
          () => {},
          (req) => new ReplayableBody(req, () => {}, MB),
        );
        expect(received).to.equal(sent);
        expect(reused).to.be.greaterThan(5);
      });
    });
  }

  for (const size of [65_535, 2 * MB]) {
    it(`wait for a slow reader within a window of ${size} bytes`, async () => {
      const gateway = await http2Gateway({
        respond: (req, res) => digestSlowly(req, (digest) => res.end(digest)),
        listener: settings({
          http2ProtocolOptions: { initialStreamWindowSize: size, initialConnectionWindowSize: size },
        }),
      });
      whenDone(() => gateway.close());
      const { ask } = await gateway.client();
      const body = randomBytes(3 * MB);
      expect((await ask('/', { method: 'POST', body })).body).to.equal(digestOf(body));
    });
  }
});
