import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { filterRequestBody, type BodyChange, type Concern, type ResponseFilter } from '@edge-gateway/core';
import { createRouter, type Router } from '../../src/router.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

type Chunks = AsyncIterable<Buffer>;

async function* upper(chunks: Chunks): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk.toString('latin1').toUpperCase(), 'latin1');
}

/** Passes bodies through a filter in both directions. */
const filtering = (change: BodyChange | undefined, rest: Partial<ResponseFilter> = {}): Concern => ({
  name: 'filtering',
  option: 'filtering',
  stage: 'destination',
  compile() {
    const handler = Object.assign(
      function filtering(req: IncomingMessage, _res: unknown, next: () => void) {
        filterRequestBody(req, upper);
        next();
      },
      { filterResponse: () => ({ onHead: () => change, ...rest }) },
    );
    return handler;
  },
});

describe('trailers of filtered bodies', () => {
  let router: Router | undefined;
  afterEach(async () => {
    await router?.close();
    await stopAll();
  });

  /** Sends `hello` with a trailer to an upstream that responds with what it got, and with a trailer. */
  async function exchangeThrough(change: BodyChange | undefined, rest: Partial<ResponseFilter> = {}) {
    const upstream = await start((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
      req.on('end', () => {
        res.writeHead(200, { trailer: 'x-response' });
        res.write(`${body} ${req.trailers['x-request']} `);
        res.addTrailers({ 'x-response': 'r1' });
        res.end('world');
      });
    });
    const served = upstreamOf([endpointOf(upstream.port)]);
    const connectionConfig = { http1ProtocolOptions: { enableTrailers: true } };
    const route = routeOf({ options: { filtering: {} } as object });
    const httpOptions = { httpConnectionManagerSettings: { enableTrailers: true } };
    router = createRouter({ concerns: [filtering(change, rest)], accessLog: 'none' });
    router.apply(
      snapshotOf([hostOf([route])], [{ ...served, spec: { ...served.spec, connectionConfig } }], { httpOptions }),
    );
    const handler = router.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
    return await new Promise<{ body: string; trailers: NodeJS.Dict<string>; length: string | undefined }>(
      (resolve, reject) => {
        const req = request({ port, host: '127.0.0.1', method: 'POST', agent: false }, (res) => {
          let body = '';
          res.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
          res.on('end', () => resolve({ body, trailers: res.trailers, length: res.headers['content-length'] }));
          res.on('error', reject);
        });
        req.setHeader('transfer-encoding', 'chunked');
        req.addTrailers({ 'x-request': 'q1' });
        req.on('error', reject).end('hello');
      },
    );
  }

  it('follow streamed bodies in both directions', async () => {
    const { body, trailers } = await exchangeThrough({ stream: upper });
    expect(body).to.equal('HELLO Q1 WORLD');
    expect(trailers).to.deep.equal({ 'x-response': 'r1' });
  });

  it('are those that a filter returns, asynchronously too', async () => {
    const onTrailers = async (flat: readonly string[]) => [...flat, 'x-more', 'a', 'x-more', 'b'];
    const { body, trailers } = await exchangeThrough({ stream: upper }, { onTrailers });
    expect(body).to.equal('HELLO Q1 WORLD');
    expect(trailers).to.deep.equal({ 'x-response': 'r1', 'x-more': 'a, b' });
  });

  it('are filtered if the body passes unchanged', async () => {
    const { body, trailers } = await exchangeThrough(undefined, { onTrailers: () => ['x-only', '1'] });
    expect(body).to.equal('HELLO q1 world');
    expect(trailers).to.deep.equal({ 'x-only': '1' });
  });

  it('abort the connection if their filter fails', async () => {
    const onTrailers = (): string[] => {
      throw new Error('failed');
    };
    expect(await exchangeThrough(undefined, { onTrailers }).catch(() => 'aborted')).to.equal('aborted');
  });

  it('are dropped with a response that is sent as a whole', async () => {
    const { body, trailers, length } = await exchangeThrough({
      maxBytes: 100,
      transform: (bytes) => bytes.subarray(0, 5),
    });
    expect([body, length]).to.deep.equal(['HELLO', '5']);
    expect(trailers).to.deep.equal({});
  });
});
