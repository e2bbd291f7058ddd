import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Server } from 'node:net';
import { expect } from 'chai';
import { decodeHealthResponse, encodeHealthRequest } from '../../../src/upstream/health/grpc-check.ts';
import { closeAll, httpUpstream, listen, whenDone } from '../../forward/harness.ts';
import { checkedUpstream } from './checked.ts';

const SERVING = [0, 0, 0, 0, 2, 8, 1];
const NOT_SERVING = [0, 0, 0, 0, 2, 8, 2];

interface GrpcAnswer {
  readonly message?: readonly number[];
  readonly grpcStatus?: string;
  readonly httpStatus?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A gRPC server that answers all calls alike. */
async function grpcUpstream({ message = SERVING, grpcStatus = '0', httpStatus = 200, headers: own }: GrpcAnswer = {}) {
  const seen: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const sessions = new Set<{ destroy(): void }>();
  let connections = 0;
  const server = createServer();
  server.on('session', (session) => {
    connections++;
    sessions.add(session);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      seen.push({ headers, body: Buffer.concat(chunks) });
      stream.respond({ ...own, ':status': httpStatus, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': grpcStatus }));
      stream.end(Buffer.from(message));
    });
  });
  const port = await listen(server as unknown as Server);
  whenDone(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { port, seen, connections: () => connections };
}

describe('gRPC health checks', () => {
  afterEach(closeAll);

  it('pass if the service is serving, and reuse the connection', async () => {
    const upstream = await grpcUpstream();
    const checked = checkedUpstream(upstream.port, {
      grpcHealthCheck: {
        serviceName: 'shop.Cart',
        authority: 'cart.example',
        initialMetadata: [{ header: { key: 'x-a', value: '1' } }],
      },
    });
    await checked.checks(4);
    expect(checked.flags()).to.equal('');
    expect(upstream.connections()).to.equal(1);
    const { headers, body } = upstream.seen[0]!;
    expect(headers).to.include({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      ':authority': 'cart.example',
      'content-type': 'application/grpc',
      te: 'trailers',
      'x-a': '1',
    });
    expect(body).to.deep.equal(Buffer.concat([Buffer.from([0, 0, 0, 0, 11, 0x0a, 9]), Buffer.from('shop.Cart')]));
  });

  it('send metadata as UTF-8', async () => {
    const upstream = await grpcUpstream();
    const initialMetadata = [{ header: { key: 'x-name', value: 'Mikołaj' } }];
    const checked = checkedUpstream(upstream.port, { grpcHealthCheck: { initialMetadata } });
    await checked.checks(1);
    expect(checked.flags()).to.equal('');
    expect(upstream.seen[0]!.headers['x-name']).to.equal(Buffer.from('Mikołaj').toString('latin1'));
  });

  for (const [title, answer] of [
    ['is not serving', { message: NOT_SERVING }],
    ['returns an error', { grpcStatus: '12', message: [] }],
    ['responds with another HTTP status', { httpStatus: 503 }],
    ['returns a malformed message', { message: [0, 0, 0, 0, 9, 8, 1] }],
  ] as readonly (readonly [string, GrpcAnswer])[]) {
    it(`fail at once if the service ${title}`, async () => {
      const upstream = await grpcUpstream(answer);
      const checked = checkedUpstream(upstream.port, { unhealthyThreshold: 100, grpcHealthCheck: {} });
      await checked.checks(1);
      expect(checked.flags()).to.equal('failed_active_hc');
      expect(checked.stat('health_check.network_failure')).to.equal(0);
      expect(upstream.seen[0]!.headers[':authority']).to.equal('echo_gw-system');
    });
  }

  it('send the addr of a static host as authority', async () => {
    const upstream = await grpcUpstream();
    const spec = { static: { hosts: [] }, healthChecks: [{ grpcHealthCheck: {} }] };
    await checkedUpstream(upstream.port, {}, { upstream: { spec } }).checks(1);
    expect(upstream.seen[0]!.headers[':authority']).to.equal('127.0.0.1');
  });

  it('find a service degraded that says so', async () => {
    const upstream = await grpcUpstream({ headers: { 'x-envoy-degraded': '' } });
    const checked = checkedUpstream(upstream.port, { grpcHealthCheck: {} });
    await checked.checks(1);
    expect(checked.flags()).to.equal('degraded_active_hc');
  });

  it('fail at a server without HTTP/2', async () => {
    const port = await httpUpstream((_req, res) => void res.end());
    const checked = checkedUpstream(port, { grpcHealthCheck: {} });
    await checked.checks(2);
    expect(checked.stat('health_check.network_failure')).to.be.at.least(2);
  });

  it('encode an empty request for the server as a whole', () => {
    expect(encodeHealthRequest('')).to.deep.equal(Buffer.alloc(5));
  });

  it('encode long names', () => {
    const name = 'x'.repeat(300);
    expect(encodeHealthRequest(name).subarray(5, 8)).to.deep.equal(Buffer.from([0x0a, 0xac, 0x02]));
  });

  for (const [title, bytes, expected] of [
    ['a status', SERVING, 1],
    ['no status', [0, 0, 0, 0, 0], 0],
    ['unknown fields', [0, 0, 0, 0, 6, 0x12, 2, 1, 1, 8, 1], 1],
    ['too few bytes', [0, 0, 0], undefined],
    ['a compressed message', [1, 0, 0, 0, 2, 8, 1], undefined],
    ['a field that ends too late', [0, 0, 0, 0, 2, 0x12, 9], undefined],
    ['an endless number', [0, 0, 0, 0, 7, 8, 255, 255, 255, 255, 255, 255], undefined],
  ] as readonly (readonly [string, readonly number[], number | undefined])[]) {
    it(`decode ${title}`, () => {
      expect(decodeHealthResponse(Buffer.from(bytes))).to.equal(expected);
    });
  }
});
