import { expect } from 'chai';
import { createContext, type Context } from '@edge-gateway/core';
import { createRouter, type Router } from '../../../src/router.ts';
import { recordOf, type RecordParts } from '../../records.ts';
import { directOf, hostOf, LISTENER, snapshotOf, start, stopAll } from '../../snapshots.ts';
import { startOtlp, type OtlpServer } from '../../tracing/otlp-server.ts';

describe('OpenTelemetry access log', () => {
  let collector: OtlpServer;
  let context: Context;

  beforeEach(async () => {
    collector = await startOtlp();
    context = createContext({ env: { REGION: 'eu' } });
  });
  afterEach(async () => {
    await collector.close();
    await stopAll();
  });

  async function logged(service: object, ...records: RecordParts[]): Promise<void> {
    const router: Router = createRouter({ context });
    const options = { accessLoggingService: { accessLog: [{ openTelemetryService: service }] } };
    router.apply(snapshotOf([hostOf([directOf('ok')])], [], { options } as never));
    for (const parts of records) router.logRefused(LISTENER, recordOf(parts));
    await router.close();
  }

  it('sends entries over gRPC, with headers, body, attributes and the trace', async () => {
    const trace = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', sampled: true };
    await logged(
      {
        logName: 'edge',
        collector: {
          endpoint: `127.0.0.1:${collector.port}`,
          insecure: true,
          headers: { 'X-Key': 'k' },
          authority: 'otel',
        },
        body: { stringValue: '%REQ(:METHOD)% %REQ(AUTHORIZATION)%' },
        attributes: {
          values: [
            { key: 'status', value: { stringValue: '%RESPONSE_CODE%' } },
            { key: 'region', value: { stringValue: '%ENVIRONMENT(REGION)%' } },
          ],
        },
      },
      { trace, headers: ['authorization', 'Bearer secret'] },
    );
    const [log] = collector.logs;
    expect(log!.body).to.deep.include({ string_value: 'GET [redacted]' });
    expect(log!.attributes).to.deep.equal({ status: '200', region: 'eu' });
    expect(log!.resource).to.include({ log_name: 'edge', cluster_name: 'gateway-proxy' });
    expect(log!.traceId).to.equal(trace.traceId);
    expect(collector.metadata).to.include({ 'x-key': 'k' });
    expect(collector.authority).to.equal('otel');
  });

  it('writes plain values too, and omits the labels', async () => {
    await logged(
      {
        logName: 'edge',
        collector: { endpoint: `127.0.0.1:${collector.port}`, insecure: true },
        body: { kvlistValue: { values: [{ key: 'a', value: { arrayValue: { values: [{ intValue: 1 }, true] } } }] } },
        attributes: { status: '%RESPONSE_CODE%', level: 3 },
        disableBuiltinLabels: true,
      },
      {},
    );
    const [log] = collector.logs;
    expect(log!.attributes).to.deep.equal({ status: '200', level: '3' });
    expect(log!.resource).to.deep.equal({});
    expect(JSON.stringify(log!.body)).to.contain('"key":"a"');
  });

  it('sends entries over HTTP', async () => {
    const calls: { path: string; type: string; bytes: number }[] = [];
    const { port } = await start((req, res) => {
      let bytes = 0;
      req.on('data', (chunk: Buffer) => (bytes += chunk.length));
      req.on('end', () => {
        calls.push({ path: req.url!, type: req.headers['content-type']!, bytes });
        res.end();
      });
    });
    await logged({ logName: 'edge', collector: { endpoint: `http://127.0.0.1:${port}` }, body: 'x' }, {});
    expect(calls).to.have.lengthOf(1);
    expect(calls[0]).to.include({ path: '/v1/logs', type: 'application/x-protobuf' });
    expect(calls[0]!.bytes).to.be.above(10);
  });

  it('counts entries that the collector rejects, or that cannot be sent', async () => {
    const { port } = await start((_req, res) => res.writeHead(503).end());
    const endpoints = [`http://127.0.0.1:${port}`, '127.0.0.1:1'];
    for (const endpoint of endpoints) {
      await logged({ collector: { endpoint, insecure: true, timeout: '0.5s' }, body: 'x' }, {});
      const path = `access_log.${endpoint.replaceAll(/[^A-Za-z0-9_-]+/g, '_')}.lines_dropped`;
      const dropped = context.metrics.counter({ path, metric: 'access_log_lines_dropped', labels: { path: endpoint } });
      expect(dropped.value, endpoint).to.equal(1);
    }
  });

  for (const [name, service] of [
    ['endpoint', { collector: { endpoint: 'not an address' } }],
    ['operator', { collector: { endpoint: '127.0.0.1:1' }, body: '%NOPE%' }],
  ] as const) {
    it(`writes nothing for an invalid ${name}`, async () => {
      await logged(service, {});
      expect(collector.logs).to.deep.equal([]);
    });
  }
});
