import { factsOf, protect, type Handler } from '@edge-gateway/core';
import { expect } from 'chai';
import { graphqlApi } from '../../src/index.ts';
import { serve, type TestServer } from '../servers.ts';
import { readyClient } from './parts.ts';

describe('a WebSocket that was opened with a token', () => {
  let server: TestServer | undefined;
  afterEach(() => server?.close());

  /** Serves an API to clients with a token that expires at these times, in seconds. */
  async function urlOf(identityExp: number | undefined, claimsExp?: number): Promise<string> {
    const guard: Handler = (req, _res, next) => {
      const facts = factsOf(req);
      if (identityExp !== undefined) facts.identity = { provider: 'me', claims: { exp: identityExp }, groups: [] };
      if (claimsExp !== undefined) facts.claims.set('me', { exp: claimsExp });
      next();
    };
    const chain = protect(
      guard,
      graphqlApi({
        schemaDefinition: 'type Query { n: Int @resolve(name: "n") }',
        resolutions: { n: { mockResolver: { syncResponse: 7 } } },
      }),
    );
    server = await serve((_req, res) => void res.writeHead(404).end());
    server.server.on('upgrade', chain.upgrade);
    return server.url;
  }
  const soon = (): number => Date.now() / 1000 + 3;

  for (const [name, times] of [
    ['of its identity', () => [soon()]],
    ['of any provider', () => [soon() + 600, soon()]],
  ] as const) {
    it(`is closed with 4403 when the token ${name} expires`, async () => {
      const [identity, claims] = times() as [number, number?];
      const client = await readyClient(await urlOf(identity, claims));
      client.send({ type: 'subscribe', id: '1', payload: { query: '{ n }' } });
      expect((await client.message('next')).payload).to.deep.equal({ data: { n: 7 } });
      expect(await client.closed).to.equal(4403);
    });
  }
});
