import { createContext, type ActionExchange, type Scope } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { graphqlAction, graphqlApi, type ResultStore } from '../src/index.ts';
import { ask, serve, serveHandler, type TestServer } from './servers.ts';

const localOf = (value: number): GraphQLApiSpec => ({
  executableSchema: {
    schemaDefinition: 'type Query { n: Int @resolve(name: "n") @cacheControl(maxAge: 60) }',
    executor: { local: { resolutions: { n: { mockResolver: { syncResponse: value } } } } },
  },
});
const JOINED: GraphQLApiSpec = { stitchedSchema: { subschemas: [{ name: 'part' }] } };
const refOf = (name: string) => ({ name, namespace: 'gw-system' });
const KEY = 'a key of more than thirty-two characters';

describe('graphqlAction', () => {
  const open: TestServer[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  function store(): ResultStore & { readonly kept: Map<string, string> } {
    const kept = new Map<string, string>();
    return { kept, get: async (key) => kept.get(key), set: async (key, value) => void kept.set(key, value) };
  }

  /** A route to an API that is joined from one that gives a number. */
  async function route(value: number, cache: ResultStore): Promise<string> {
    const part = { ref: refOf('part'), spec: localOf(value), subschemas: [] };
    const api = { ref: refOf('all'), spec: JOINED, subschemas: [part] };
    const scope = { virtualHost: { options: {}, graphqlApis: [api] }, route: { options: {} } } as unknown as Scope;
    const secret = { type: 'Opaque', data: { 'signing-key': Buffer.from(KEY).toString('base64') } };
    const context = createContext({ secrets: { get: () => secret } });
    const responder = graphqlAction({ cache }).compile({ type: 'graphql', api: api.ref } as never, context, scope);
    const server = await serve((req, res) => {
      const writeHead: ActionExchange['writeHead'] = (status, headers) => void res.writeHead(status, [...headers]);
      responder({ req, res, writeHead }, () => res.destroy());
    });
    open.push(server);
    return server.url;
  }

  it('shares kept results between gateways with the same API', async () => {
    const cache = store();
    const [one, other] = [await route(1, cache), await route(1, cache)];
    expect((await ask(one, '{ n }')).body).to.deep.equal({ data: { n: 1 } });
    expect((await ask(other, '{ n }')).body).to.deep.equal({ data: { n: 1 } });
    expect(cache.kept.size).to.equal(1);
  });

  it('does not return results of other joined APIs', async () => {
    const cache = store();
    const [one, other] = [await route(1, cache), await route(2, cache)];
    expect((await ask(one, '{ n }')).body).to.deep.equal({ data: { n: 1 } });
    expect((await ask(other, '{ n }')).body).to.deep.equal({ data: { n: 2 } });
    expect(cache.kept.size).to.equal(2);
  });

  it('does not return results of other APIs joined by graphqlApi', async () => {
    const cache = store();
    for (const value of [1, 2]) {
      const apis = { part: localOf(value) };
      const front = await serveHandler(
        graphqlApi({ stitchedSchema: JOINED.stitchedSchema, apis, cache, cacheKey: KEY }),
      );
      open.push(front);
      expect((await ask(front.url, '{ n }')).body).to.deep.equal({ data: { n: value } });
    }
  });

  it('responds with 500 for an unknown API', () => {
    const scope = { virtualHost: { options: {}, graphqlApis: [] } } as unknown as Scope;
    const compile = () =>
      graphqlAction().compile({ type: 'graphql', api: refOf('none') } as never, createContext(), scope);
    expect(compile).to.throw('gw-system.none').with.property('code', 'ERR_GRAPHQL_API');
  });
});
