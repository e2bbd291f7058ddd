import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, type CallUpstream } from '@edge-gateway/core';
import { graphqlApi } from '@edge-gateway/graphql';
import { createUpstreamCaller, createUpstreams } from '@edge-gateway/routing';
import { hiveFederated } from './hive-federated.ts';
import { serveOne } from './serve-one.ts';
import { answer, SUBGRAPHS } from './subgraphs.ts';

// One server of the federated benchmark, in a process of its own: `node federated-servers.ts NAME PORTS OF SUBGRAPHS…`.
/** Longer than a busy machine makes a call wait. */
const TIMEOUT_MS = 60_000;
const TYPE = { 'content-type': 'application/json' };
const PARTS = ['details', 'reviews', 'ratings'];

function callerTo(ports: readonly number[]): CallUpstream {
  const upstreams = createUpstreams(createContext());
  upstreams.apply(
    SUBGRAPHS.map(({ name }, i) => ({
      name: `${name}_default`,
      ref: { name, namespace: 'default' },
      spec: {},
      endpoints: [{ address: '127.0.0.1', port: ports[i]!, weight: 1 }],
      tls: false,
    })),
  );
  return createUpstreamCaller(upstreams);
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Each of the four a server on its own port; told are these ports, and later the requests up to now. */
async function serveSubgraphs(): Promise<void> {
  let requests = 0;
  const ports: number[] = [];
  for (const subgraph of SUBGRAPHS) {
    const server = createServer(async (req, res) => {
      requests++;
      const text = answer(subgraph, JSON.parse(await bodyOf(req)) as { query: string });
      res.writeHead(200, { ...TYPE, 'content-length': Buffer.byteLength(text) }).end(text);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  process.on('disconnect', () => process.exit());
  process.on('message', () => process.send!({ requests }));
  process.send!({ ports });
}

/** The subgraphs as remote APIs, joined by `typeMerge`. */
function stitched(ports: readonly number[]): RequestListener {
  const apis = SUBGRAPHS.map(({ name, typeDefs }) => {
    const schemaDefinition = typeDefs.replace(/extend schema .*/, '').replace(/@key\(.*?\)/, '');
    return [name, { executableSchema: { schemaDefinition, executor: { remote: { upstreamRef: { name } } } } }] as const;
  });
  const mergeOf = (part: string) => ({
    Book: { selectionSet: '{ id }', queryName: `${part}Of`, args: { id: 'id' } },
  });
  const subschemas = [{ name: 'products' }, ...PARTS.map((name) => ({ name, typeMerge: mergeOf(name) }))];
  const handler = graphqlApi(
    { stitchedSchema: { subschemas }, apis: Object.fromEntries(apis), limits: { operationTimeoutMs: TIMEOUT_MS } },
    createContext({ callUpstream: callerTo(ports) }),
  );
  return (req, res) => handler(req, res, (error) => res.writeHead(500).end(String(error)));
}

/** What one would write by hand for the one question of the benchmark: the same four requests, as entities. */
function byHand(ports: readonly number[]): RequestListener {
  const call = callerTo(ports);
  const inner: Readonly<Record<string, string>> = {
    details: 'publisher language',
    reviews: 'reviewer text',
    ratings: 'reviewer stars',
  };
  async function ask<T>(name: string, body: object): Promise<T> {
    const upstream = { name, namespace: 'default' };
    const { body: read } = await call(upstream, {
      method: 'POST',
      path: '/graphql',
      headers: ['content-type', 'application/json'],
      body: JSON.stringify(body),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: 1_000_000,
    });
    return (JSON.parse(read.toString()) as { readonly data: T }).data;
  }
  return async (req, res) => {
    await bodyOf(req);
    const first = '{ books { id title author pages year } }';
    const { books } = await ask<{ books: readonly Record<'id' | 'title' | 'author' | 'pages' | 'year', unknown>[] }>(
      'products',
      { query: first },
    );
    const representations = books.map(({ id }) => ({ __typename: 'Book', id }));
    const parts = await Promise.all(
      PARTS.map((part) => {
        const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Book { ${part} { ${inner[part]} } } } }`;
        return ask<{ _entities: readonly object[] }>(part, { query, variables: { representations } });
      }),
    );
    const joined = books.map(({ title, author, pages, year }, i) =>
      Object.assign({ title, author, pages, year }, ...parts.map((each) => each._entities[i])),
    );
    const text = JSON.stringify({ data: { books: joined } });
    res.writeHead(200, { ...TYPE, 'content-length': Buffer.byteLength(text) }).end(text);
  };
}

const SERVERS = { byHand, stitched, hive: hiveFederated };
const [, , name = '', ...given] = process.argv;
if (name === 'subgraphs') await serveSubgraphs();
else serveOne(await SERVERS[name as keyof typeof SERVERS](given.map(Number)));
