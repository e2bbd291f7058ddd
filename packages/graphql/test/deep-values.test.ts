import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../src/middleware.ts';
import { ask, serveHandler, serveJson, type TestServer } from './servers.ts';

const DEEP = '['.repeat(200_000) + ']'.repeat(200_000);
const schemaDefinition = `
  scalar JSON
  type Query { any: JSON @resolve(name: "any") few: JSON @resolve(name: "few") text: String @resolve(name: "any") good: Int @resolve(name: "good") @cacheControl(maxAge: 60) }`;

describe('a response that is nested too deeply to be serialized', () => {
  let backend: TestServer;
  const open: TestServer[] = [];

  before(async () => {
    backend = await serveJson({ '/good': 7, '/few': { a: [[{ b: 1 }]] } }, (req, res) => {
      res.end(req.url === '/graphql' ? `{"data":{"any":${DEEP},"good":7}}` : DEEP);
    });
  });
  after(async () => {
    for (const each of [...open, backend]) await each.close();
  });

  async function start(options: GraphQLApiOptions, context = createContext()): Promise<string> {
    const upstreams = { backend: backend.url };
    const front = await serveHandler(graphqlApi({ schemaDefinition, upstreams, ...options }, context));
    open.push(front);
    return front.url;
  }
  const resolutions = Object.fromEntries(
    ['any', 'few', 'good'].map((name) => {
      const request = { headers: { ':path': `/${name}` } };
      return [name, { restResolver: { upstreamRef: { name: 'backend' }, timeout: '30s', request } }];
    }),
  );

  it('is an error of its field only', async () => {
    const { body } = await ask(await start({ resolutions }), '{ any few text good }');
    expect(body.data).to.deep.equal({ any: null, few: { a: [[{ b: 1 }]] }, text: null, good: 7 });
    expect(body.errors.map(({ path }: { path: unknown }) => path)).to.deep.equal([['any'], ['text']]);
    expect(body.errors[0].message).to.equal('The value is not of type JSON.');
  });

  it('is not a result of a remote server', async () => {
    const { body } = await ask(await start({ remote: { upstreamRef: { name: 'backend' } } }), '{ any good }');
    expect(body.data).to.equal(null);
    expect(body.errors[0].extensions.code).to.equal('ERR_GRAPHQL_UPSTREAM');
  });

  it('responds to internal errors after the body was read', async () => {
    let broken = false;
    const now = (): number => {
      if (broken) throw new Error('no clock');
      return 1;
    };
    const url = await start({ resolutions }, createContext({ now }));
    broken = true;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ good }"}' };
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
    expect(response.status).to.equal(500);
    await response.text();
  });
});
