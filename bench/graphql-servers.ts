import type { RequestListener } from 'node:http';
import { createContext } from '@edge-gateway/core';
import { graphqlApi } from '@edge-gateway/graphql';
import { createUpstreamCaller, createUpstreams } from '@edge-gateway/routing';
import { hiveGateway } from './hive-gateway.ts';
import { serveOne } from './serve-one.ts';

// One server of the GraphQL benchmark, in a process of its own: `node graphql-servers.ts NAME [BACKEND PORT]`.
const BOOKS = Array.from({ length: 10 }, (_, i) => ({
  id: String(i),
  title: `Title ${i}`,
  author: `Author ${i}`,
  pages: 100 + i,
  year: 1900 + i,
}));
const SCHEMA = `
  type Query { book(id: ID!): Book @resolve(name: "book") books: [Book!] @resolve(name: "books") }
  type Book {
    id: ID! title: String author: String pages: Int year: Int
    details: Details @resolve(name: "details") reviews: [Review!] @resolve(name: "reviews") ratings: [Rating!] @resolve(name: "ratings")
  }
  type Details { publisher: String language: String }
  type Review { reviewer: String text: String }
  type Rating { reviewer: String stars: Int }
`;
const PARTS: Readonly<Record<string, (id: string) => unknown>> = {
  details: (id) => ({ publisher: `Publisher ${id}`, language: 'English' }),
  reviews: (id) => [{ reviewer: 'A', text: `Review of ${id}` }],
  ratings: (id) => [{ reviewer: 'A', stars: Number(id) % 5 }],
};
/** Longer than a busy machine makes a call wait. */
const TIMEOUT_MS = 60_000;
const UPSTREAM = { name: 'bench', namespace: 'default' };

function callerTo(port: number) {
  const upstreams = createUpstreams(createContext());
  const endpoints = [{ address: '127.0.0.1', port, weight: 1 }];
  upstreams.apply([{ name: 'bench_default', ref: UPSTREAM, spec: {}, endpoints, tls: false }]);
  return createUpstreamCaller(upstreams);
}

const SERVERS: Readonly<Record<string, (port: number) => RequestListener | Promise<RequestListener>>> = {
  backend: () => (req, res) => {
    const [, kind, id] = req.url!.split('/');
    const value = PARTS[kind!]?.(id!) ?? (id ? BOOKS[Number(id)] : BOOKS);
    res.writeHead(200, ['content-type', 'application/json']).end(JSON.stringify(value));
  },

  /** What one would write by hand for the one question of the benchmark: the same call, the same answer. */
  handler: (port) => {
    const call = callerTo(port);
    return (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const { variables } = JSON.parse(Buffer.concat(chunks).toString()) as { variables: { id: string } };
        const path = `/books/${encodeURIComponent(variables.id)}`;
        void call(UPSTREAM, { method: 'GET', path, timeoutMs: TIMEOUT_MS, maxBodyBytes: 1_000_000 }).then(
          ({ body }) => {
            const { title, author, pages, year } = JSON.parse(body.toString()) as (typeof BOOKS)[number];
            const text = JSON.stringify({ data: { book: { title, author, pages, year } } });
            res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
            res.end(text);
          },
        );
      });
    };
  },

  /** By hand as well: ten books, and the parts of each. */
  nested: (port) => {
    const call = callerTo(port);
    const get = async (path: string): Promise<unknown> => {
      const { body } = await call(UPSTREAM, { method: 'GET', path, timeoutMs: TIMEOUT_MS, maxBodyBytes: 1_000_000 });
      return JSON.parse(body.toString());
    };
    const partsOf = async ({ id, ...book }: (typeof BOOKS)[number]) => {
      const [details, reviews, ratings] = await Promise.all(Object.keys(PARTS).map((part) => get(`/${part}/${id}`)));
      return { ...book, details, reviews, ratings };
    };
    return (req, res) => {
      req.resume().on('end', async () => {
        const books = await Promise.all(((await get('/books')) as typeof BOOKS).map(partsOf));
        const text = JSON.stringify({ data: { books } });
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
        res.end(text);
      });
    };
  },

  graphql: (port) => {
    const upstreamRef = UPSTREAM;
    const rest = (path: string) => ({
      restResolver: { upstreamRef, timeout: `${TIMEOUT_MS}ms`, request: { headers: { ':path': path } } },
    });
    const handler = graphqlApi(
      {
        schemaDefinition: SCHEMA,
        resolutions: {
          book: rest('/books/{$args.id}'),
          books: rest('/books'),
          details: rest('/details/{$parent.id}'),
          reviews: rest('/reviews/{$parent.id}'),
          ratings: rest('/ratings/{$parent.id}'),
        },
      },
      createContext({ callUpstream: callerTo(port) }),
    );
    return (req, res) => handler(req, res, (error) => res.writeHead(500).end(String(error)));
  },

  hive: hiveGateway,
};

const [, , name = '', port = '0'] = process.argv;
serveOne(await SERVERS[name]!(Number(port)));
