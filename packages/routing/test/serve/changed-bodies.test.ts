import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { filterRequestBody, readWholeBody, replaceBody, type Concern, type ResponseFilter } from '@edge-gateway/core';
import { served, type Served } from '../served.ts';
import { endpointOf, start, upstreamOf } from '../snapshots.ts';

const DIGESTS = { 'content-digest': 'sha-256=:x:', 'repr-digest': 'sha-256=:x:', digest: 'x', 'content-md5': 'x' };
const OF_RESPONSE = { ...DIGESTS, etag: '"1"', 'accept-ranges': 'bytes', 'content-range': 'bytes 0-3/9' };
const NAMES = Object.keys(OF_RESPONSE);

/** Changes each request, or each response, in this way. */
const changing = (change: Partial<Record<'request', (req: IncomingMessage) => unknown> & ResponseFilter>): Concern => ({
  name: 'changing',
  option: 'changing',
  stage: 'rbac',
  compile: () =>
    Object.assign(
      async function changing(req: IncomingMessage, _res: unknown, next: () => void) {
        await change.request?.(req);
        next();
      },
      change.onHead && { filterResponse: () => change as ResponseFilter },
    ),
});

async function* upperCase(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk.toString().toUpperCase());
}

const staged = (side: 'request' | 'response', transformationTemplate: object): object => ({
  stagedTransformations: {
    regular: { [`${side}Transforms`]: [{ [`${side}Transformation`]: { transformationTemplate } }] },
  },
});
const OPTIONS = { changing: {} };

describe('changed bodies', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  async function ask(options: object, concerns: readonly Concern[] = [], etag = '"1"') {
    const { port } = await start((_req: IncomingMessage, res: ServerResponse) =>
      res.writeHead(206, { ...OF_RESPONSE, etag, 'content-type': 'text/plain' }).end('body'),
    );
    gateway = await served({ options: options as never, concerns, upstreams: [upstreamOf([endpointOf(port)])] });
    return gateway.ask('/');
  }

  const streamed = changing({ onHead: () => ({ stream: upperCase }) });
  const whole = (transform: (body: Buffer) => Buffer) => changing({ onHead: () => ({ maxBytes: 99, transform }) });
  const replaced = staged('response', { parseBodyBehavior: 'DontParse', body: { text: 'new' } });

  for (const [name, options, concerns, body] of [
    ['a transformation', replaced, [], 'new'],
    ['a filter that reads all of it', OPTIONS, [whole(() => Buffer.from('new'))], 'new'],
    ['a filter that streams it', OPTIONS, [streamed], 'BODY'],
  ] as const)
    it(`loses what described its bytes when ${name} changes a response`, async () => {
      const answer = await ask(options, concerns);
      expect(answer.body).to.equal(body);
      expect(answer.headers).to.not.have.any.keys(...NAMES);
    });

  it('keeps a weak etag', async () => {
    expect((await ask(replaced, [], 'W/"1"')).headers).to.include({ etag: 'W/"1"' });
  });

  it('keeps an etag that the transformation sets', async () => {
    const headers = { etag: { text: '"2"' } };
    const answer = await ask(staged('response', { parseBodyBehavior: 'DontParse', body: { text: 'new' }, headers }));
    expect(answer.headers).to.include({ etag: '"2"' }).and.not.have.any.keys('content-digest', 'content-range');
  });

  for (const [name, options, concerns] of [
    [
      'a transformation changes only headers',
      staged('response', { passthrough: {}, headers: { 'x-a': { text: 'b' } } }),
      [],
    ],
    ['a filter only reads the body', OPTIONS, [whole((body) => body)]],
  ] as const)
    it(`keeps the headers of a response if ${name}`, async () => {
      const { headers, body } = await ask(options, concerns);
      expect(body).to.equal('body');
      expect(headers).to.include(OF_RESPONSE);
    });

  async function seen(options: object, concerns: readonly Concern[] = []) {
    gateway = await served({ options: options as never, concerns });
    return (await gateway.seen('/', { method: 'POST', body: 'body', headers: DIGESTS })).headers;
  }

  const replacing = async (req: IncomingMessage): Promise<void> => {
    const body = await readWholeBody(req, 99);
    replaceBody(req, Buffer.concat([body, body]));
  };

  for (const [name, options, concerns] of [
    ['a transformation', staged('request', { parseBodyBehavior: 'DontParse', body: { text: 'new' } }), []],
    ['a handler', OPTIONS, [changing({ request: replacing })]],
    ['a stream', OPTIONS, [changing({ request: (req) => filterRequestBody(req, upperCase) })]],
  ] as const)
    it(`loses its digests when ${name} changes a request`, async () => {
      expect(await seen(options, concerns)).to.not.have.any.keys(...Object.keys(DIGESTS));
    });

  it('keeps a digest that the transformation of a request sets', async () => {
    const template = { parseBodyBehavior: 'DontParse', body: { text: 'new' }, headers: { digest: { text: 'new' } } };
    expect(await seen(staged('request', template)))
      .to.include({ digest: 'new' })
      .and.not.have.property('content-md5');
  });

  for (const [name, options, concerns] of [
    ['is only read', OPTIONS, [changing({ request: (req) => readWholeBody(req, 99) })]],
    ['is buffered', { bufferPerRoute: { buffer: { maxRequestBytes: 100 } } }, []],
    ['passes unchanged', OPTIONS, [changing({ request: (req) => filterRequestBody(req, (chunks) => chunks, true) })]],
  ] as const)
    it(`keeps its digests if the body of a request ${name}`, async () => {
      expect(await seen(options, concerns)).to.include(DIGESTS);
    });
});
