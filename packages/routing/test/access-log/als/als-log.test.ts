import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { loadPackageDefinition, Server, ServerCredentials, type ServerReadableStream } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { expect } from 'chai';
import { createContext, type Context } from '@edge-gateway/core';
import type { AccessLoggingService } from '@edge-gateway/core/schema';
import { createRouter, type Router } from '../../../src/router.ts';
import { recordOf, type RecordParts } from '../../records.ts';
import { directOf, endpointOf, hostOf, LISTENER, snapshotOf, stopAll, upstreamOf } from '../../snapshots.ts';
import { until } from '../../tracing/otlp-server.ts';

const PUBLISHED = join(createRequire(import.meta.url).resolve('@grpc/grpc-js-xds/package.json'), '../deps');

interface Message {
  readonly identifier: {
    readonly log_name: string;
    readonly node: { readonly id: string; readonly cluster: string };
  } | null;
  readonly http_logs: { readonly log_entry: readonly Entry[] } | null;
  readonly tcp_logs: { readonly log_entry: readonly Entry[] } | null;
}
type Entry = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A server of the access log service as Envoy publishes it: nothing of ours is in it. */
async function startAls(port = 0) {
  const definition = loadSync('envoy/service/accesslog/v3/als.proto', {
    includeDirs: ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((folder) => join(PUBLISHED, folder)),
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const loaded = loadPackageDefinition(definition) as never as {
    envoy: { service: { accesslog: { v3: { AccessLogService: { service: never } } } } };
  };
  const server = new Server();
  const messages: Message[] = [];
  const streams: ServerReadableStream<Message, object>[] = [];
  server.addService(loaded.envoy.service.accesslog.v3.AccessLogService.service, {
    StreamAccessLogs(stream: ServerReadableStream<Message, object>, done: (error: null, response: object) => void) {
      streams.push(stream);
      stream.on('data', (message: Message) => messages.push(message));
      stream.on('end', () => done(null, {}));
      stream.on('error', () => {});
    },
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error ? reject(error) : resolve(at),
    );
  });
  return { port: bound, messages, streams, close: () => server.forceShutdown() };
}

describe('access log service', () => {
  let als: Awaited<ReturnType<typeof startAls>>;
  let router: Router | undefined;
  let context: Context;

  beforeEach(async () => {
    als = await startAls();
    context = createContext();
  });
  afterEach(async () => {
    await router?.close();
    router = undefined;
    als.close();
    await stopAll();
  });

  const service = (rest: object = {}, more: object = {}): AccessLoggingService => ({
    accessLog: [{ grpcService: { logName: 'log', staticClusterName: 'als_gw-system', ...rest }, ...more }],
  });

  function apply(options: object, upstreams = [upstreamOf([endpointOf(als.port)], 'als')]): Router {
    router ??= createRouter({ context });
    router.apply(snapshotOf([hostOf([directOf('ok')])], upstreams, { options } as never));
    return router;
  }

  /** The entries of these requests. */
  async function logged(options: object, ...records: RecordParts[]): Promise<Message[]> {
    const log = apply(options);
    for (const parts of records) log.logRefused(LISTENER, recordOf(parts));
    await log.close();
    router = undefined;
    return als.messages;
  }

  it('sends an entry of each request, with the name of the log once', async () => {
    const headers = ['user-agent', 'curl', 'referer', 'https://r.example/?code=secret', 'x-tenant', 'acme'];
    const [message, ...rest] = await logged(
      {
        accessLoggingService: service({
          additionalRequestHeadersToLog: ['X-Tenant', 'Authorization', 'x-absent'],
          additionalResponseHeadersToLog: ['Content-Type'],
          additionalResponseTrailersToLog: ['X-Sum', 'Set-Cookie', 'x-absent'],
        }),
      },
      {
        method: 'POST',
        status: 503,
        flags: 'UF,URX',
        details: 'refused',
        transportFailure: 'refused',
        attempts: 2,
        path: '/v1/a?access_token=secret',
        headers: [...headers, 'authorization', 'Bearer x'],
        responseHeaders: ['content-type', 'text/plain'],
        responseTrailers: ['x-sum', 'abc', 'set-cookie', 'secret'],
        metadata: new Map([['ns', { plan: { name: 'gold' }, password: 'secret' }]]),
        bytesReceived: 5,
      },
    );
    expect(rest).to.deep.equal([]);
    expect(message!.identifier).to.deep.include({ log_name: 'log' });
    expect(message!.identifier!.node).to.include({ id: 'gateway-proxy', cluster: 'gw-system' });
    const [entry] = message!.http_logs!.log_entry;
    expect(entry!['protocol_version']).to.equal('HTTP11');
    expect(entry!['request']).to.deep.include({
      request_method: 'POST',
      scheme: 'http',
      authority: 'a.example',
      path: '/v1/a?access_token=[redacted]',
      original_path: '/a?x=1',
      user_agent: 'curl',
      referer: 'https://r.example/?code=[redacted]',
      request_id: 'id-1',
      request_body_bytes: 5,
      request_headers: { 'x-tenant': 'acme', authorization: '[redacted]' },
    });
    expect(entry!['response']).to.deep.include({
      response_code: { value: 503 },
      response_body_bytes: 2,
      response_code_details: 'refused',
      response_headers: { 'content-type': 'text/plain' },
      response_trailers: { 'x-sum': 'abc', 'set-cookie': '[redacted]' },
    });
    const common = entry!['common_properties'] as Record<string, never>;
    expect(common).to.deep.include({
      upstream_cluster: 'up_gw-system',
      route_name: 'r',
      stream_id: 'id-1',
      upstream_transport_failure_reason: 'refused',
    });
    expect(common['start_time']).to.deep.equal({ seconds: 1767323045, nanos: 678000000 });
    expect(common['duration']).to.deep.equal({ seconds: 0, nanos: 12340000 });
    const times = {
      first_upstream_tx: 1_500_000,
      first_upstream_rx: 11_700_000,
      last_rx: 600_000,
      last_downstream_tx: 12_340_000,
    };
    for (const [name, nanos] of Object.entries(times))
      expect(common[`time_to_${name}_byte`], name).to.deep.equal({ seconds: 0, nanos });
    expect(common['upstream_local_address']).to.deep.nested.include({
      'socket_address.address': '10.0.0.5',
      'socket_address.port_value': 40_000,
    });
    expect(common['upstream_request_attempt_count']).to.equal(2);
    expect(common['upstream_remote_address']).to.deep.nested.include({
      'socket_address.address': '10.0.0.4',
      'socket_address.port_value': 80,
    });
    expect(common['response_flags']).to.include({
      upstream_connection_failure: true,
      upstream_retry_limit_exceeded: true,
      no_route_found: false,
    });
    const { ns } = (
      common['metadata'] as unknown as { filter_metadata: Record<string, { fields: Record<string, never> }> }
    ).filter_metadata;
    expect(ns!.fields['plan']).to.deep.nested.include({ 'structValue.fields.name.stringValue': 'gold' });
    expect(JSON.stringify(ns)).not.to.contain('secret');
  });

  it('sends denied requests as such, and entries in batches', async () => {
    const records = Array.from({ length: 600 }, (_, i): RecordParts => ({ status: 403, flags: 'UAEX', path: `/${i}` }));
    const messages = await logged({ accessLoggingService: service() }, ...records);
    const entries = messages.flatMap(({ http_logs: logs }) => logs!.log_entry);
    expect(entries).to.have.lengthOf(600);
    expect(messages.length).to.be.below(10);
    expect(messages.filter(({ identifier }) => identifier !== null)).to.have.lengthOf(1);
    const flags = (entries[0]!['common_properties'] as Record<string, Record<string, unknown>>)['response_flags'];
    expect(flags!['unauthorized_details']).to.deep.equal({ reason: 'EXTERNAL_SERVICE' });
  });

  it('keeps to the filter', async () => {
    const filter = { statusCodeFilter: { comparison: { op: 'GE', value: { defaultValue: 500 } } } };
    const messages = await logged({ accessLoggingService: service({}, { filter }) }, { status: 200 }, { status: 500 });
    expect(messages.flatMap(({ http_logs: logs }) => logs!.log_entry)).to.have.lengthOf(1);
  });

  it('sends an entry of each connection', async () => {
    const log = apply({ listenerAccessLoggingService: service() });
    const pem = readFileSync(join(import.meta.dirname, '../../route/options/certificates/client.crt'));
    const connection = { tls: true, tlsVersion: 'TLSv1.3', clientCertificate: new X509Certificate(pem) };
    const termination = 'client_certificate_rejected';
    log.logConnection(LISTENER, recordOf({ ...connection, termination, bytesReceived: 10, bytesSent: 20 }));
    log.logRefused(LISTENER, recordOf());
    await log.close();
    router = undefined;
    const [message] = als.messages;
    expect(als.messages).to.have.lengthOf(1);
    expect(message!.http_logs ?? null).to.equal(null);
    expect(message!.tcp_logs!.log_entry[0]!['connection_properties']).to.include({
      received_bytes: 10,
      sent_bytes: 20,
    });
    const common = message!.tcp_logs!.log_entry[0]!['common_properties']!;
    expect(common['connection_termination_details']).to.equal(termination);
    expect(common['tls_properties']).to.deep.include({
      tls_version: 'TLSv1_3',
      peer_certificate_properties: {
        issuer: '',
        subject: 'CN=alice,OU=Web \\"Team\\",O=Shop\\, Inc.,C=DE',
        subject_alt_name: [
          { san: 'uri', uri: 'spiffe://shop.example/sa/alice' },
          { san: 'uri', uri: 'https://shop.example/a?b=c;d' },
          { san: 'dns', dns: 'alice.shop.example' },
          { san: 'dns', dns: 'b.shop.example' },
        ],
      },
    });
  });

  const dropped = () =>
    context.metrics.counter({
      path: 'access_log.als_gw-system.lines_dropped',
      metric: 'access_log_lines_dropped',
      labels: { path: 'als_gw-system' },
    });

  it('counts the entries of a server that does not exist, and does not throw', async () => {
    const log = apply({ accessLoggingService: service() }, []);
    log.logRefused(LISTENER, recordOf());
    await log.close();
    router = undefined;
    expect(dropped().value).to.equal(1);
  });

  it('opens another stream after the server has ended one', async () => {
    const { port } = als;
    const log = apply({ accessLoggingService: service() });
    log.logRefused(LISTENER, recordOf());
    await until(() => als.messages.length === 1);
    als.close();
    als = await startAls(port);
    for (let i = 0; als.messages.length === 0; i++) {
      log.logRefused(LISTENER, recordOf({ path: `/${i}` }));
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (i > 150) throw new Error('no entries after the server returned');
    }
    expect(als.messages[0]!.identifier).to.deep.include({ log_name: 'log' });
  }).timeout(15_000);

  it('ends the stream of a log that a reload removes, after its entries', async () => {
    const log = apply({ accessLoggingService: service() });
    log.logRefused(LISTENER, recordOf());
    apply({});
    await until(() => als.messages.length === 1 && als.streams[0]!.readableEnded);
  });
});
