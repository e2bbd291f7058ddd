import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { graphqlApi } from '../../src/index.ts';
import { ask, serve, serveHandler, type TestServer } from '../servers.ts';

const SCHEMA = 'type Query { name: String @resolve(name: "name") }';

describe('an upstream that always compresses', () => {
  const opened: TestServer[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

  async function answer(json: string, options: object): Promise<{ body: unknown; accepted: unknown[] }> {
    const accepted: unknown[] = [];
    const backend = await serve((req, res) => {
      accepted.push(req.headers['accept-encoding']);
      res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(json));
    });
    const front = await serveHandler(
      graphqlApi({ schemaDefinition: SCHEMA, upstreams: { a: backend.url }, ...options }),
    );
    opened.push(backend, front);
    const { body } = await ask(front.url, '{ name }');
    return { body, accepted };
  }
  const upstreamRef = { name: 'a' };
  const data = { data: { name: 'x' } };

  it('serves REST resolvers', async () => {
    const resolutions = { name: { restResolver: { upstreamRef, timeout: '30s', response: { resultRoot: 'name' } } } };
    expect(await answer('{"name":"x"}', { resolutions })).to.deep.equal({ body: data, accepted: ['identity'] });
  });

  it('serves remote APIs', async () => {
    const remote = { remote: { upstreamRef }, schemaDefinition: 'type Query { name: String }' };
    expect(await answer(JSON.stringify(data), remote)).to.deep.equal({ body: data, accepted: ['identity'] });
  });

  it('must not send more than allowed', async () => {
    const remote = { remote: { upstreamRef }, limits: { maxResponseBytes: 1000 } };
    const large = { schemaDefinition: 'type Query { name: String }', ...remote };
    const { body } = await answer(JSON.stringify({ data: { name: 'x'.repeat(2000) } }), large);
    expect(body).to.have.nested.property('errors[0].extensions.code', 'ERR_GRAPHQL_UPSTREAM');
  });
});
