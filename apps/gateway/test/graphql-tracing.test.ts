import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startOtlp, type OtlpServer, type ReceivedSpan } from '../../../packages/routing/test/tracing/otlp-server.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

const resources = (collector: number, backend: number): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindAddress: 127.0.0.1
  bindPort: 0
  httpGateway:
    options:
      httpConnectionManagerSettings:
        tracing: { openTelemetryConfig: { collectorUpstreamRef: { name: collector, namespace: gw-system } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: api, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /unsampled }]
        options: { tracing: { tracePercentages: { randomSamplePercentage: 0 } } }
        graphqlApiRef: { name: books }
      - matchers: [{ prefix: /alone }]
        options: { tracing: { propagate: false } }
        graphqlApiRef: { name: books }
      - matchers: [{ prefix: / }]
        graphqlApiRef: { name: books }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: books, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query { book: Book @resolve(name: "book") gone: Book @resolve(name: "gone") }
      type Book { id: ID }
    executor:
      local:
        resolutions:
          book: { restResolver: { upstreamRef: { name: backend, namespace: gw-system }, spanName: one book, request: { headers: { ':path': '/books/1?key=s3cret' } } } }
          gone: { restResolver: { upstreamRef: { name: backend, namespace: gw-system }, request: { headers: { ':path': /gone } } } }
---
${upstream('collector', collector)}
---
${upstream('backend', backend)}
`;

function upstream(name: string, port: number): string {
  const hosts = [{ addr: '127.0.0.1', port }];
  const spec = { static: { hosts } };
  return JSON.stringify({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name, namespace: 'gw-system' },
    spec,
  });
}

describe('the spans of a GraphQLApi', () => {
  const gateway = new GatewayProcess();
  let collector: OtlpServer;
  let backend: Server;
  const seen: IncomingHttpHeaders[] = [];

  before(async () => {
    collector = await startOtlp();
    backend = createServer((req, res) => {
      seen.push(req.headers);
      if (req.url === '/gone') res.writeHead(410).end('secret');
      else res.end('{"id":"1"}');
    });
    await new Promise<void>((resolve) => void backend.listen(0, '127.0.0.1', resolve));
    gateway.write('resources.yaml', resources(collector.port, (backend.address() as AddressInfo).port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    await collector.close();
    backend.close();
  });
  beforeEach(() => {
    seen.length = 0;
    collector.spans.length = 0;
  });

  async function ask(path: string, query: string, headers: Record<string, string> = {}): Promise<any> {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    return await response.json();
  }

  async function received(count: number): Promise<Map<string, ReceivedSpan>> {
    await until(() => collector.spans.length >= count, `${count} spans`);
    return new Map(collector.spans.map((span) => [span.name, span]));
  }

  it('are children of the span of the request, and carry the trace to upstreams', async () => {
    const body = await ask('/', '{ book { id } }', { traceparent: `00-${TRACE}-${CALLER}-01` });
    expect(body).to.deep.equal({ data: { book: { id: '1' } } });
    const spans = await received(2);
    const [request, call] = [spans.get('ingress')!, spans.get('one book')!];
    expect(request).to.include({ traceId: TRACE, parentId: CALLER, kind: 2 });
    expect(call).to.include({ traceId: TRACE, parentId: request.spanId, kind: 3, status: 0 });
    expect(call.service).to.equal(request.service);
    expect(call.tags).to.include({
      'http.request.method': 'GET',
      'url.path': '/books/1',
      'server.address': '127.0.0.1',
      'http.response.status_code': '200',
    });
    expect(JSON.stringify(call)).not.to.include('s3cret');
    expect(seen.map(({ traceparent }) => traceparent)).to.deep.equal([`00-${TRACE}-${call.spanId}-01`]);
    expect(call.startMs).to.be.at.least(request.startMs);
    expect(call.endMs).to.be.at.most(request.endMs);
  });

  it('record the kind of an error, but no message of the upstream', async () => {
    await ask('/', '{ gone { id } }');
    const call = (await received(2)).get('gone')!;
    expect(call.status).to.equal(2);
    expect(call.tags).to.include({ 'error.type': '410', error: 'true', 'http.response.status_code': '410' });
    expect(JSON.stringify(call)).not.to.include('secret');
  });

  it('are not exported without sampling, which the context for the upstream states', async () => {
    await ask('/unsampled', '{ book { id } }');
    await ask('/', '{ book { id } }');
    const spans = await received(2);
    expect(collector.spans).to.have.length(2);
    expect(seen[0]!.traceparent).to.match(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
    expect(seen[1]!.traceparent).to.equal(`00-${spans.get('one book')!.traceId}-${spans.get('one book')!.spanId}-01`);
  });

  it('send no context upstream if the route propagates none', async () => {
    await ask('/alone', '{ book { id } }', { traceparent: `00-${TRACE}-${CALLER}-01` });
    const spans = await received(2);
    expect(spans.get('one book')!.parentId).to.equal(spans.get('ingress')!.spanId);
    expect(seen[0]!.traceparent).to.equal(undefined);
  });
});
