import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { graphqlApi } from '../src/middleware.ts';
import { MAX_REQUEST_DEPTH } from '../src/document/json.ts';
import { serveHandler, type TestServer } from './servers.ts';

const QUERY = 'query ($x: JSON) { any(x: $x) }';
/** Variables nested so deep. */
const nested = (depth: number): string => `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

describe('variables nested too deep', () => {
  const handler = graphqlApi({
    schemaDefinition: 'scalar JSON type Query { any(x: JSON): JSON @resolve(name: "any") @cacheControl(maxAge: 60) }',
    resolutions: { any: { mockResolver: { syncResponse: 1 } } },
  });
  let front: TestServer;
  let parsing: TestServer;

  before(async () => {
    front = await serveHandler(handler);
    parsing = await serveHandler((req, res, next) => {
      text(req).then((body) => {
        (req as IncomingMessage & { body: unknown }).body = JSON.parse(body);
        handler(req, res, next);
      }, next);
    });
  });
  after(async () => {
    await front.close();
    await parsing.close();
  });

  it('in a query string are rejected with 400', async () => {
    const get = (depth: number) => fetch(`${front.url}/?query=${encodeURIComponent(QUERY)}&variables=${nested(depth)}`);
    expect((await get(MAX_REQUEST_DEPTH)).status).to.equal(200);
    expect((await get(MAX_REQUEST_DEPTH + 1)).status).to.equal(400);
    expect((await get(6000)).status).to.equal(400);
  });

  it('in a body that earlier middleware has parsed are rejected with 400', async () => {
    const send = (depth: number) =>
      fetch(parsing.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"query":${JSON.stringify(QUERY)},"variables":${nested(depth)}}`,
      });
    expect((await send(MAX_REQUEST_DEPTH - 1)).status).to.equal(200);
    expect((await send(MAX_REQUEST_DEPTH)).status).to.equal(400);
    expect((await send(40_000)).status).to.equal(400);
  });
});
