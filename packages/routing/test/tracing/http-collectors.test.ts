import { request as httpRequest, type IncomingMessage } from 'node:http';
import { decode } from '@msgpack/msgpack';
import { expect } from 'chai';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import { grpcService, message } from '@edge-gateway/core/grpc';
import { createRouter, type Router } from '../../src/router.ts';
import { echo, endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

interface Call {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface ZipkinSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId?: string;
  readonly kind: string;
  readonly name: string;
  readonly timestamp: number;
  readonly duration: number;
  readonly localEndpoint: { readonly serviceName: string };
  readonly tags: Readonly<Record<string, string>>;
  readonly shared?: boolean;
}

/** The messages of a Zipkin server, from its `zipkin.proto`. */
const ZIPKIN_PROTO = {
  Endpoint: message({ service_name: ['string', 1] }),
  Span: message({
    trace_id: ['bytes', 1],
    parent_id: ['bytes', 2],
    id: ['bytes', 3],
    kind: ['int32', 4],
    name: ['string', 5],
    timestamp: ['fixed64', 6],
    duration: ['uint64', 7],
    local_endpoint: ['Endpoint', 8],
    tags: ['string', 11, 'map'],
    shared: ['bool', 13],
  }),
  ListOfSpans: message({ spans: ['Span', 1, 'repeated'] }),
  Reader: { methods: { Read: { requestType: 'ListOfSpans', responseType: 'ListOfSpans' } } },
};

describe('HTTP collectors of spans', () => {
  const calls: Call[] = [];
  let collector: SnapshotUpstream;
  let router: Router | undefined;
  let status: number;

  beforeEach(async () => {
    calls.length = 0;
    status = 202;
    const { port } = await start((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        calls.push({ path: req.url!, headers: req.headers, body: Buffer.concat(chunks) });
        res.writeHead(status).end();
      });
    });
    collector = upstreamOf([endpointOf(port)], 'collector');
  });
  afterEach(async () => {
    await router?.close();
    router = undefined;
    await stopAll();
  });

  const context = createContext();

  /** The headers that the upstream received. */
  async function request(tracing: object, headers: Record<string, string> = {}): Promise<Record<string, string>> {
    const { port: backend } = await start(echo);
    router = createRouter({ context });
    const upstreams = [upstreamOf([endpointOf(backend)]), collector];
    const httpOptions = { httpConnectionManagerSettings: { tracing } };
    router.apply(snapshotOf([hostOf([routeOf()])], upstreams, { httpOptions } as never));
    const handler = router.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
    const body = await new Promise<string>((resolve, reject) => {
      const req = httpRequest({ port, host: '127.0.0.1', path: '/a', headers, agent: false }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve(text));
      });
      req.on('error', reject).end();
    });
    await router.close();
    router = undefined;
    return (JSON.parse(body) as { headers: Record<string, string> }).headers;
  }

  const zipkinSpans = (): ZipkinSpan[] => JSON.parse(String(calls[0]!.body)) as ZipkinSpan[];

  describe('zipkin', () => {
    const zipkin = (rest: object = {}): object => ({ zipkinConfig: { clusterName: 'collector_gw-system', ...rest } });

    it('sends JSON, with trace ids of 64 bits, and B3 to the upstream', async () => {
      const headers = await request(zipkin());
      expect(calls[0]).to.include({ path: '/api/v2/spans' });
      expect(calls[0]!.headers).to.include({ 'content-type': 'application/json', host: 'collector_gw-system' });
      const [span] = zipkinSpans();
      expect(span).to.include({ kind: 'SERVER', name: 'ingress' });
      expect(span!.traceId).to.match(/^[0-9a-f]{16}$/);
      expect(span!.localEndpoint).to.deep.equal({ serviceName: 'gateway-proxy' });
      expect(span!.tags).to.include({ 'http.method': 'GET', 'http.status_code': '200' });
      expect(Math.abs(span!.timestamp / 1_000 - Date.now())).to.be.below(10_000);
      expect(span!.duration).to.be.within(1, 10_000_000);
      expect(headers).to.include({ 'x-b3-traceid': span!.traceId, 'x-b3-spanid': span!.id, 'x-b3-sampled': '1' });
      expect(headers).not.to.have.any.keys('traceparent', 'b3');
    });

    it('creates trace ids of 128 bits, and calls another path', async () => {
      await request(zipkin({ traceId128bit: true, collectorEndpoint: '/spans' }));
      expect(calls[0]!.path).to.equal('/spans');
      expect(zipkinSpans()[0]!.traceId).to.match(/^[0-9a-f]{32}$/);
    });

    const b3 = { 'x-b3-traceid': '463ac35c9f6413ad', 'x-b3-spanid': 'a2fb4a1d1a96d312', 'x-b3-sampled': '1' };

    it('shares the span of the caller, or is its child', async () => {
      await request(zipkin(), { ...b3, 'x-b3-parentspanid': '0020000000000001' });
      await request(zipkin({ sharedSpanContext: false }), b3);
      const [shared] = zipkinSpans();
      expect(shared).to.include({ traceId: b3['x-b3-traceid'], id: b3['x-b3-spanid'], shared: true });
      expect(shared).to.include({ parentId: '0020000000000001' });
      const [child] = JSON.parse(String(calls[1]!.body)) as ZipkinSpan[];
      expect(child).to.include({ traceId: b3['x-b3-traceid'], parentId: b3['x-b3-spanid'] });
      expect(child!.id).not.to.equal(b3['x-b3-spanid']);
    });

    it('records nothing if the caller decided so without a trace', async () => {
      const headers = await request(zipkin(), { b3: '0' });
      expect(calls).to.deep.equal([]);
      expect(headers).to.include({ 'x-b3-sampled': '0' });
    });

    it('sends protobuf', async () => {
      await request(zipkin({ collectorEndpointVersion: 'HTTP_PROTO' }));
      expect(calls[0]!.headers).to.include({ 'content-type': 'application/x-protobuf' });
      const { requestDeserialize } = grpcService('z', 'Reader', ZIPKIN_PROTO).service['Read']!;
      const { spans } = requestDeserialize(calls[0]!.body) as unknown as { spans: Record<string, never>[] };
      expect(spans[0]).to.deep.include({ name: 'ingress', kind: 2, local_endpoint: { service_name: 'gateway-proxy' } });
      expect(spans[0]!['trace_id']).to.have.lengthOf(8);
      expect(spans[0]!['tags']).to.include({ 'http.status_code': '200' });
      expect(Math.abs(Number(spans[0]!['timestamp']) / 1_000 - Date.now())).to.be.below(10_000);
    });

    it('counts the spans that the server rejects', async () => {
      status = 500;
      const name = { path: 'tracing.collector_gw-system.spans_dropped', metric: 'tracing_spans_dropped' };
      const dropped = context.metrics.counter({ ...name, labels: { collector: 'collector_gw-system' } });
      const before = dropped.value;
      await request(zipkin());
      expect(dropped.value - before).to.equal(1);
    });
  });

  describe('datadog', () => {
    const datadog = (rest: object = {}): object => ({ datadogConfig: { clusterName: 'collector_gw-system', ...rest } });
    type DatadogSpan = Readonly<Record<string, unknown>> & { readonly meta: Readonly<Record<string, string>> };
    const traces = (): DatadogSpan[][] => decode(calls[0]!.body, { useBigInt64: true }) as DatadogSpan[][];

    it('sends MessagePack to the agent, and its headers upstream', async () => {
      const headers = await request(datadog({ serviceName: 'edge', collectorHostname: 'agent' }));
      expect(calls[0]).to.include({ path: '/v0.4/traces' });
      expect(calls[0]!.headers).to.include({
        'content-type': 'application/msgpack',
        'x-datadog-trace-count': '1',
        host: 'agent',
      });
      const [[span]] = traces() as [[DatadogSpan]];
      expect(span).to.include({
        service: 'edge',
        name: 'envoy.proxy',
        resource: 'ingress',
        type: 'web',
        parent_id: 0n,
      });
      expect(span.meta).to.include({ 'http.method': 'GET', 'http.status_code': '200', 'span.kind': 'server' });
      expect(span.meta['_dd.p.tid']).to.match(/^[0-9a-f]{16}$/);
      expect(span['metrics']).to.deep.equal({ _sampling_priority_v1: 1 });
      expect(headers).to.include({
        'x-datadog-trace-id': String(span['trace_id']),
        'x-datadog-parent-id': String(span['span_id']),
        'x-datadog-sampling-priority': '1',
      });
      const id = BigInt.asUintN(64, span['trace_id'] as bigint)
        .toString(16)
        .padStart(16, '0');
      expect(headers['traceparent']).to.contain(`-${span.meta['_dd.p.tid']}${id}-`);
    });

    it('continues a trace', async () => {
      const received = {
        'x-datadog-trace-id': '18446744073709551615',
        'x-datadog-parent-id': '42',
        'x-datadog-sampling-priority': '2',
        'x-datadog-origin': 'synthetics',
        'x-datadog-tags': '_dd.p.tid=640cfd8d00000000,_dd.p.dm=-4',
      };
      const headers = await request(datadog(), received);
      const [[span]] = traces() as [[DatadogSpan]];
      expect(span).to.include({ trace_id: 18446744073709551615n, parent_id: 42n });
      expect(span.meta).to.include({ '_dd.p.tid': '640cfd8d00000000', '_dd.origin': 'synthetics' });
      expect(headers).to.include({ 'x-datadog-trace-id': '18446744073709551615', 'x-datadog-origin': 'synthetics' });
    });

    for (const id of ['', '0', '-1', '18446744073709551616', 'a'.repeat(100)]) {
      it(`begins a new trace for the id ${JSON.stringify(id)}`, async () => {
        const headers = await request(datadog(), { 'x-datadog-trace-id': id, 'x-datadog-parent-id': '42' });
        const [[span]] = traces() as [[DatadogSpan]];
        expect(span['parent_id']).to.equal(0n);
        expect(headers['x-datadog-trace-id']).to.equal(String(span['trace_id']));
      });
    }
  });
});
