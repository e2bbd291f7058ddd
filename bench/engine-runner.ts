import { createContext, factsOf } from '@edge-gateway/core';
import { graphqlApi, type ApiResult, type Operation } from '@edge-gateway/graphql';
import { createUpstreamCaller, createUpstreams } from '@edge-gateway/routing';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { stitchSchemas } from '@graphql-tools/stitch';
import { execute, parse, validate, type DocumentNode, type GraphQLSchema } from 'graphql';
import { compileQuery } from 'graphql-jit';
import { createApi } from '../packages/graphql/src/create-api.ts';
import { createEngine } from '../packages/graphql/src/execute/engine.ts';
import { readProperty, standardResolver } from '../packages/graphql/src/execute/resolve.ts';
import { DEFAULT_LIMITS } from '../packages/graphql/src/document/limits.ts';
import { createApiCounts } from '../packages/graphql/src/observe/statistics.ts';
import { createStitchedApi } from '../packages/graphql/src/join/stitched-api.ts';
import {
  CASES,
  JOINED,
  PATHS,
  RESOLVERS,
  responseOf,
  schemaText,
  type CaseName,
  type EngineCase,
} from './engine-cases.ts';
import { serveOne } from './serve-one.ts';

// One engine of `engines.bench.ts`, in a process of its own: `node engine-runner.ts NAME [PORT OF THE SERVICE]`.
type Variables = Readonly<Record<string, unknown>>;
type Result = Pick<ApiResult, 'data' | 'errors'>;
/** Prepares a validated document, once. */
type Prepare = (document: DocumentNode) => (variables: Variables) => unknown;

const UPSTREAM = { name: 'bench', namespace: 'default' };
/** Longer than a busy machine makes a call wait. */
const TIMEOUT_MS = 60_000;
const IN_PARALLEL = 16;
const LIMITS = { ...DEFAULT_LIMITS, maxUpstreamCalls: 0, maxConcurrentCalls: 0 };
const memory = makeExecutableSchema({ typeDefs: schemaText(() => ''), resolvers: RESOLVERS });
const signal = new AbortController().signal;
const facts = factsOf({ headers: {}, url: '/' } as never);

function contextTo(port: number) {
  const upstreams = createUpstreams(createContext());
  const endpoints = [{ address: '127.0.0.1', port, weight: 1 }];
  upstreams.apply([{ name: 'bench_default', ref: UPSTREAM, spec: {}, endpoints, tls: false }]);
  return createContext({ callUpstream: createUpstreamCaller(upstreams) });
}

const restOptions = {
  schemaDefinition: schemaText((name) => `@resolve(name: "${name}")`),
  resolutions: Object.fromEntries(
    Object.entries(PATHS).map(([name, path]) => [
      name,
      { restResolver: { upstreamRef: UPSTREAM, timeout: `${TIMEOUT_MS}ms`, request: { headers: { ':path': path } } } },
    ]),
  ),
};

function operationOf(document: DocumentNode): Operation {
  return { document, definition: document.definitions[0] as Operation['definition'], text: '', name: undefined };
}

function request(operation: Operation, variables: Variables) {
  return { operation, variables, extensions: {}, facts, signal };
}

function ownEngine(schema: GraphQLSchema): Prepare {
  const engine = createEngine({
    schema,
    limits: LIMITS,
    maxDepth: 0,
    values: 'any',
    resolverOf: (_type, { resolve }) => (resolve ? standardResolver(resolve) : readProperty),
  });
  const options = { rootValue: undefined, context: {}, signal, requestId: '' };
  return (document) => {
    const operation = operationOf(document);
    return (variables) => engine.execute({ operation, variables }, options);
  };
}

function ownRest(port: number): Prepare {
  const context = contextTo(port);
  const { schemaDefinition, resolutions } = restOptions;
  const spec = { executableSchema: { schemaDefinition, executor: { local: { resolutions } } } };
  const ref = { name: 'bench', namespace: 'default' };
  const api = createApi({ ref, spec, limits: LIMITS, counts: createApiCounts(context.metrics, 'bench') }, context);
  return (document) => {
    const operation = operationOf(document);
    return (variables) => api.execute(request(operation, variables));
  };
}

/** The schema of a local API, for other engines. */
const restSchema = (port: number): GraphQLSchema =>
  graphqlApi({ ...restOptions, limits: LIMITS }, contextTo(port)).schema;

function graphqlJs(schema: GraphQLSchema): Prepare {
  return (document) => (variableValues) => execute({ schema, document, variableValues, contextValue: {} });
}

function graphqlJit(schema: GraphQLSchema): Prepare {
  return (document) => {
    const compiled = compileQuery(schema, document);
    if (!('query' in compiled)) throw new Error('the document cannot be compiled');
    return (variables) => compiled.query(undefined, {}, variables);
  };
}

/** APIs of which each is executed by GraphQL.js, whoever joins them. */
const subschemas = JOINED.map((each) => makeExecutableSchema(each));
const partNames = ['details', 'reviews', 'ratings'];

function ownJoined(): Prepare {
  const apis = subschemas.map((schema, index) => {
    const part = partNames[index - 1];
    const merge = { Book: { selectionSet: '{ id }', queryName: `${part}Of`, args: { id: 'id' } } };
    return {
      name: part ?? 'books',
      api: {
        schema,
        introspection: false,
        execute: ({ operation: { document }, variables }: ReturnType<typeof request>) =>
          execute({ schema, document, variableValues: variables }) as Result | Promise<Result>,
      },
      ...(part && { typeMerge: merge }),
    };
  });
  const api = createStitchedApi(apis, LIMITS);
  return (document) => {
    const operation = operationOf(document);
    return (variables) => api.execute(request(operation, variables));
  };
}

function toolsJoined(): GraphQLSchema {
  return stitchSchemas({
    subschemas: subschemas.map((schema, index) => {
      const part = partNames[index - 1];
      const args = ({ id }: { id: string }) => ({ id });
      const merge = { Book: { selectionSet: '{ id }', fieldName: `${part}Of`, args } };
      return { schema, batch: true, ...(part && { merge }) };
    }),
  });
}

type Engine = Readonly<Record<EngineCase['fields'], () => Prepare>>;

const ENGINES: Readonly<Record<string, (port: number) => Engine>> = {
  own: (port) => ({ memory: () => ownEngine(memory), rest: () => ownRest(port), joined: ownJoined }),
  jit: (port) => ({
    memory: () => graphqlJit(memory),
    rest: () => graphqlJit(restSchema(port)),
    joined: () => graphqlJit(toolsJoined()),
  }),
  js: (port) => ({
    memory: () => graphqlJs(memory),
    rest: () => graphqlJs(restSchema(port)),
    joined: () => graphqlJs(toolsJoined()),
  }),
};

function once(query: string): DocumentNode {
  const document = parse(query);
  const [problem] = validate(memory, document);
  if (problem) throw problem;
  return document;
}

/** Executes an operation of a case. */
function executor(given: EngineCase, engine: Engine): () => unknown {
  const prepare = engine[given.fields]();
  const variables = given.variables ?? {};
  if (!given.isNew) {
    const prepared = prepare(once(given.query));
    return () => prepared(variables);
  }
  let number = 0;
  return () => prepare(once(given.query.replace('{ book', `{ a${number++}: book`)))(variables);
}

/** CPU microseconds of an operation. */
async function measure(run: () => unknown, amount: number): Promise<number> {
  let left = amount;
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const result = run();
      if (result instanceof Promise) await result;
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: IN_PARALLEL }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / amount;
}

function runEngine(engine: Engine): void {
  const prepared = new Map<CaseName, () => unknown>();
  process.on('disconnect', () => process.exit());
  process.on('message', async ({ name, amount }: { name: CaseName; amount: number }) => {
    let run = prepared.get(name);
    if (!run) prepared.set(name, (run = executor(CASES[name], engine)));
    const microseconds = await measure(run, amount);
    process.send!({ microseconds, result: JSON.stringify(await run()) });
  });
  process.send!({});
}

const [, , name = '', port = '0'] = process.argv;
if (name === 'service') serveOne((req, res) => res.end(JSON.stringify(responseOf(req.url!))));
else runEngine(ENGINES[name]!(Number(port)));
