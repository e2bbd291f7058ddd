import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createContext, factsOf } from '@edge-gateway/core';
import { createAnswerer, type Answerer } from '../src/http/answer.ts';
import { createApi } from '../src/create-api.ts';
import { DEFAULT_LIMITS } from '../src/document/limits.ts';
import { createApiCounts } from '../src/observe/statistics.ts';

const SCHEMA =
  'type Query { a(n: Int): A @resolve(name: "a") @cacheControl(maxAge: 3600) } type A { b: String c: String }';
const WANTED = { type: 'application/json', lenient: false } as const;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What answers an API with one mocked resolver. */
export function mockedAnswerer(): Answerer {
  const context = createContext();
  const counts = createApiCounts(context.metrics, 'x');
  const local = { resolutions: { a: { mockResolver: { syncResponse: { b: 'b', c: 'c' } } } } };
  const spec = { executableSchema: { schemaDefinition: SCHEMA, executor: { local } } };
  const limits = DEFAULT_LIMITS;
  const api = createApi({ ref: { name: 'x', namespace: 'default' }, spec, limits, counts }, context);
  return createAnswerer({ api, limits, counts, spec: {} }, context);
}

/** Queries one after the other, by their numbers. */
export interface Queries {
  readonly from: number;
  readonly to: number;
  /** How many different ones there are. They come in turn, which no cache of recent ones likes. */
  readonly shapes: number;
}

/** Asks queries and gives the bytes of the heap that are in use after them. Throws where one is not answered with 200. */
export async function heapAfter(answerer: Answerer, { from, to, shapes }: Queries): Promise<number> {
  const { signal } = new AbortController();
  for (let i = from; i < to; i++) {
    const shape = i % shapes;
    const query = `query q${shape} { x${shape}: a(n: ${shape}) { b ${shape % 2 ? 'c' : ''} } }`;
    const facts = factsOf({ headers: {}, url: '/' } as never);
    const request = { query, variables: { i }, extensions: {} };
    const { status, body } = await answerer.answer({ request, wanted: WANTED, facts, method: 'POST', signal });
    if (status !== 200) throw new Error(`${status} ${body}`);
  }
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
