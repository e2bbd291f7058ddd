import { factsOf } from '@edge-gateway/core';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { expect } from 'chai';
import { graphqlApi } from '../../src/index.ts';
import { serve } from '../servers.ts';

/** Sends one result, then none until the client leaves. */
async function* ticks(signal: AbortSignal): AsyncGenerator<{ n: number }> {
  yield { n: 1 };
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

describe('an event stream that was requested with a token', () => {
  it('ends without `complete` when the token expires', async () => {
    const schema = makeExecutableSchema({
      typeDefs: 'type Query { a: Int } type Subscription { n: Int }',
      resolvers: { Subscription: { n: { subscribe: (_root, _args, { signal }) => ticks(signal) } } },
    });
    const handler = graphqlApi({ schema });
    const server = await serve((req, res) => {
      // Verification tolerates clocks that differ.
      factsOf(req).claims.set('me', { exp: Date.now() / 1000 - 1 });
      handler(req, res, () => void res.writeHead(500).end());
    });
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const body = JSON.stringify({ query: 'subscription { n }' });
    const response = await fetch(server.url, { method: 'POST', headers, body });
    expect(response.status).to.equal(200);
    expect(await response.text()).not.to.include('event: complete');
    await server.close();
  });
});
