import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createContext, factsOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { createAnswerer } from '../src/answer.ts';
import { createApi } from '../src/create-api.ts';
import { DEFAULT_LIMITS } from '../src/limits.ts';
import { createApiCounts } from '../src/statistics.ts';

const SCHEMA =
  'type Query { a(n: Int): A @resolve(name: "a") @cacheControl(maxAge: 3600) } type A { b: String c: String }';
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const QUERIES = Number(process.env['QUERIES'] ?? 100_000);

describe('memory', function () {
  this.timeout(600_000);

  it('stays flat over many queries of as many shapes', async () => {
    const context = createContext();
    const counts = createApiCounts(context.metrics, 'x');
    const local = { resolutions: { a: { mockResolver: { syncResponse: { b: 'b', c: 'c' } } } } };
    const spec = { executableSchema: { schemaDefinition: SCHEMA, executor: { local } } };
    const limits = DEFAULT_LIMITS;
    const api = createApi({ ref: { name: 'x', namespace: 'default' }, spec, limits, counts }, context);
    const options = { api, limits, counts, persisted: {}, log: context.log.get('graphql'), logSensitiveInfo: false };
    const answerer = createAnswerer({ ...options, now: context.now });
    const wanted = { type: 'application/json', lenient: false } as const;
    const { signal } = new AbortController();

    async function ask(from: number, to: number): Promise<number> {
      for (let i = from; i < to; i++) {
        const query = `query q${i} { x${i}: a(n: ${i}) { b ${i % 2 ? 'c' : ''} } }`;
        const facts = factsOf({ headers: {}, url: '/' } as never);
        const { status } = await answerer.answer({
          request: { query, variables: { i }, extensions: {} },
          wanted,
          facts,
          method: 'POST',
          signal,
        });
        expect(status).to.equal(200);
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    }

    // Twice what the largest cache holds, so that all of them are full before it counts.
    const full = await ask(0, 20_000);
    const after = await ask(20_000, 20_000 + QUERIES);
    expect(after - full).to.be.below(16 * 1024 * 1024);
  });
});
