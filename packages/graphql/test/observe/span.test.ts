import { createServer, type IncomingMessage } from 'node:http';
import { createContext, factsOf, type Handler, type RequestSpans, type UpstreamCall } from '@edge-gateway/core';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { graphqlApi } from '../../src/middleware.ts';
import { startGrpc, DESCRIPTORS } from '../resolvers/grpc/server.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const INCOMING = { traceparent: `00-${TRACE}-${PARENT}-01` };

const SCHEMA = `
  type Query {
    book(id: ID): Book @resolve(name: "book") named: Book @resolve(name: "named") gone: Book @resolve(name: "gone")
    user: User @resolve(name: "user")
  }
  type Book { id: ID author: Book @resolve(name: "author") }
  type User { username: String }
`;

describe('spans of resolver calls', () => {
  const exporter = new InMemorySpanExporter();
  const seen: IncomingMessage[] = [];
  const metadata: unknown[] = [];
  const closing: (() => unknown)[] = [];
  let handler: Handler;
  let backend: TestServer;
  let front: TestServer;

  before(async () => {
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    backend = await serveJson({}, (req, res) => {
      seen.push(req);
      if (req.url === '/gone') res.writeHead(410).end('secret');
      else res.end('{"id":"1","username":"sam"}');
    });
    const users = await startGrpc((call, callback) => {
      metadata.push(...call.metadata.get('traceparent'));
      callback(null, call.request);
    });
    const upstreamRef = { name: 'books' };
    const headers = { ':path': '/books/{$args.id}', traceparent: '{$headers.traceparent}' };
    handler = graphqlApi({
      schemaDefinition: SCHEMA,
      grpcDescriptorRegistry: { protoDescriptorBin: DESCRIPTORS },
      resolutions: {
        book: { restResolver: { upstreamRef, timeout: '30s', request: { headers, queryParams: { key: 's3cret' } } } },
        named: { restResolver: { upstreamRef, spanName: 'my books', request: { headers: { ':path': '/n' } } } },
        gone: { restResolver: { upstreamRef, timeout: '30s', request: { headers: { ':path': '/gone' } } } },
        author: {
          restResolver: { upstreamRef, timeout: '30s', request: { headers: { ':path': '/authors/{$parent.id}' } } },
        },
        user: {
          grpcResolver: {
            upstreamRef: { name: 'users' },
            spanName: 'get user',
            requestTransform: {
              serviceName: 'user.UserService',
              methodName: 'GetUser',
              outgoingMessageJson: { username: 'sam' },
            },
          },
        },
      },
      upstreams: { books: backend.url, users: `http://127.0.0.1:${users.port}` },
    });
    front = await serveHandler(handler);
    closing.push(users.close, backend.close, () => handler.close?.(), front.close);
  });
  after(async () => {
    for (const close of closing.toReversed()) await close();
    trace.disable();
    context.disable();
    propagation.disable();
  });
  beforeEach(() => {
    exporter.reset();
    seen.length = 0;
  });

  const spans = (): Record<string, ReadableSpan> =>
    Object.fromEntries(exporter.getFinishedSpans().map((span) => [span.name, span]));

  it('are named after the resolvers, and contain the target of each request without its query', async () => {
    const { body } = await ask(front.url, '{ book(id: "1") { id author { id } } named { id } }');
    expect(body.errors).to.equal(undefined);
    const { book, author } = spans();
    expect(Object.keys(spans())).to.have.members(['book', 'my books', 'author']);
    expect(book!.kind).to.equal(SpanKind.CLIENT);
    const port = Number(new URL(backend.url).port);
    expect(book!.attributes).to.deep.equal({
      'http.request.method': 'GET',
      'url.path': '/books/1',
      'server.address': '127.0.0.1',
      'server.port': port,
      'http.response.status_code': 200,
    });
    expect(author!.attributes['url.path']).to.equal('/authors/1');
    expect(JSON.stringify([book!.attributes, author!.attributes])).to.not.contain('s3cret');
  });

  it('continue the trace of the client, and propagate it to the upstream once', async () => {
    await ask(front.url, '{ book(id: "1") { id author { id } } }', undefined, INCOMING);
    const { book, author } = spans();
    for (const span of [book!, author!]) {
      expect(span.spanContext().traceId).to.equal(TRACE);
      expect(span.parentSpanContext?.spanId).to.equal(PARENT);
    }
    expect(seen.map(({ headers }) => headers['traceparent'])).to.deep.equal(
      [book!, author!].map((span) => `00-${TRACE}-${span.spanContext().spanId}-01`),
    );
  });

  it('are not also created by the tracing of the listener', async () => {
    const begun: string[] = [];
    const spans: RequestSpans = {
      begin(name) {
        begun.push(name);
        return { carried: [], tag: () => {}, fail: () => {}, end: () => {} };
      },
    };
    const traced = await serveHandler((req, res, next) => {
      factsOf(req).spans = spans;
      return handler(req, res, next);
    });
    closing.push(traced.close);
    await ask(traced.url, '{ named { id } }');
    expect(exporter.getFinishedSpans().map(({ name }) => name)).to.deep.equal(['my books']);
    expect(begun).to.deep.equal([]);
  });

  it('are one for equal requests', async () => {
    await ask(front.url, '{ a: book(id: "1") { id } b: book(id: "1") { id } }', undefined, INCOMING);
    expect(exporter.getFinishedSpans()).to.have.length(1);
  });

  it('record the kind of an error, but no message of the upstream', async () => {
    await ask(front.url, '{ gone { id } }');
    const { gone } = spans();
    expect(gone!.status).to.deep.equal({ code: SpanStatusCode.ERROR });
    expect(gone!.attributes['error.type']).to.equal('410');
    expect(gone!.attributes['http.response.status_code']).to.equal(410);
    expect(gone!.events).to.deep.equal([]);
  });

  it('contain the method of gRPC calls, and propagate the trace as metadata', async () => {
    const { body } = await ask(front.url, '{ user { username } }', undefined, INCOMING);
    expect(body).to.deep.equal({ data: { user: { username: 'sam' } } });
    const span = spans()['get user']!;
    expect(span.attributes).to.include({
      'rpc.system': 'grpc',
      'rpc.service': 'user.UserService',
      'rpc.method': 'GetUser',
      'rpc.grpc.status_code': 0,
      'server.address': '127.0.0.1',
    });
    expect(metadata).to.deep.equal([`00-${TRACE}-${span.spanContext().spanId}-01`]);
  });

  it('are part of the span that is active around the middleware', async () => {
    const tracer = trace.getTracer('test');
    const handler = graphqlApi({
      schemaDefinition: 'type Query { book: Book @resolve(name: "book") } type Book { id: ID }',
      resolutions: {
        book: {
          restResolver: { upstreamRef: { name: 'books' }, timeout: '30s', request: { headers: { ':path': '/1' } } },
        },
      },
      upstreams: { books: backend.url },
    });
    const server = createServer((req, res) =>
      tracer.startActiveSpan('server', (span) => {
        res.once('finish', () => span.end());
        handler(req, res, () => res.writeHead(500).end());
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await ask(`http://127.0.0.1:${port}`, '{ book { id } }', undefined, INCOMING);
    server.close();
    await handler.close?.();
    const { book, server: around } = spans();
    expect(book!.parentSpanContext?.spanId).to.equal(around!.spanContext().spanId);
  });

  it('suppress other instrumentations of HTTP clients', async () => {
    const inner: string[] = [];
    const call = async (_ref: unknown, { headers }: UpstreamCall) => {
      trace.getTracer('undici').startSpan('inner').end();
      inner.push(...(headers ?? []));
      return { status: 200, headers: {}, body: Buffer.from('{"id":1}') };
    };
    const handler = graphqlApi(
      {
        schemaDefinition: 'type Query { book: Book @resolve(name: "book") } type Book { id: ID }',
        resolutions: {
          book: {
            restResolver: { upstreamRef: { name: 'books' }, timeout: '30s', request: { headers: { ':path': '/1' } } },
          },
        },
      },
      createContext({ callUpstream: call }),
    );
    const own = await serveHandler(handler);
    await ask(own.url, '{ book { id } }');
    await own.close();
    expect(Object.keys(spans())).to.deep.equal(['book']);
    expect(spans()['book']!.attributes['server.address']).to.equal('books');
    expect(inner).to.contain('traceparent');
  });

  it('are created for forwarded operations, with their type and name', async () => {
    const remote = await serveJson({}, (req, res) => {
      seen.push(req);
      res.setHeader('content-type', 'application/json').end('{"data":{"a":1}}');
    });
    const handler = graphqlApi({
      schemaDefinition: 'type Query { a: Int }',
      remote: { upstreamRef: { name: 'todos' }, spanName: 'todos server' },
      upstreams: { todos: remote.url },
    });
    const own = await serveHandler(handler);
    const { body } = await ask(own.url, 'query mine { a }', undefined, INCOMING);
    await own.close();
    await handler.close?.();
    await remote.close();
    expect(body).to.deep.equal({ data: { a: 1 } });
    const span = spans()['todos server']!;
    expect(span.attributes).to.include({
      'http.request.method': 'POST',
      'url.path': '/graphql',
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'mine',
      'http.response.status_code': 200,
    });
    expect(seen[0]!.headers['traceparent']).to.equal(`00-${TRACE}-${span.spanContext().spanId}-01`);
  });
});
