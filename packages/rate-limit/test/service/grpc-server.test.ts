import { gzipSync } from 'node:zlib';
import { connect } from 'node:http2';
import { once } from 'node:events';
import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { expect } from 'chai';
import { createLoggers, silentLoggers, type ListeningServer } from '@edge-gateway/core';
import { grpcStatus } from '../../../../test/parts/grpc-status.ts';
import {
  listenRateLimitGrpc,
  type RateLimitService,
  type Store,
  type WireRequest,
  type WireResponse,
} from '../../src/index.ts';
import { rateLimitService, SERVICE_NAME } from '../../src/protocol/messages.ts';
import { PER_USER, serve, tuple } from './service-harness.ts';

const { path, requestSerialize, responseDeserialize } = rateLimitService().service['ShouldRateLimit']!;
const raw = (bytes: Buffer): Buffer => bytes;
const alice: WireRequest = { domain: 'custom', descriptors: [tuple(['user', 'alice'])] };

describe('the rate limit server over gRPC', () => {
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });

  async function listen(service: RateLimitService, log = silentLoggers): Promise<ListeningServer> {
    const server = await listenRateLimitGrpc(service, { address: '127.0.0.1', port: 0, log: log.get('filter') });
    open.push(server);
    return server;
  }

  async function clientFor(service: RateLimitService, options = {}): Promise<Client> {
    const { port } = await listen(service);
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_send_message_length': -1,
      ...options,
    });
    open.push(client);
    return client;
  }

  function ask(client: Client, request: WireRequest, deadlineMs = 30_000): Promise<WireResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<WireResponse>();
    client.makeUnaryRequest(
      path,
      requestSerialize as never,
      responseDeserialize as never,
      request,
      new Metadata(),
      { deadline: Date.now() + deadlineMs },
      (error: ServiceError | null, response?: WireResponse) => (error ? reject(error) : resolve(response!)),
    );
    return promise;
  }

  /** Returns the code that a call with these bytes ends with; 0 if it succeeds. */
  function codeOf(client: Client, bytes: Buffer, method = path): Promise<number> {
    return new Promise((resolve) => {
      client.makeUnaryRequest(method, raw, raw, bytes, (error: ServiceError | null) => resolve(error?.code ?? 0));
    });
  }

  it('counts requests', async () => {
    const client = await clientFor((await serve(PER_USER)).service);
    expect(await ask(client, alice)).to.include({ overallCode: 1 });
    const over = await ask(client, alice);
    expect(over).to.include({ overallCode: 2 });
    expect(over.statuses).to.have.length(1);
    expect(over.statuses![0]).to.deep.include({
      code: 2,
      limitRemaining: 0,
      currentLimit: { requestsPerUnit: 1, unit: 2, name: 'custom.user' },
      durationUntilReset: { seconds: 30, nanos: 0 },
    });
  });

  it('survives garbage, messages of other types, and messages that are too large', async () => {
    const client = await clientFor((await serve(PER_USER)).service);
    expect(await codeOf(client, Buffer.from('\u00ff\u00fe garbage', 'latin1'))).to.equal(status.INTERNAL);
    expect(await codeOf(client, Buffer.alloc(2 << 20))).to.equal(status.RESOURCE_EXHAUSTED);
    expect(await codeOf(client, Buffer.alloc(0))).to.equal(status.INVALID_ARGUMENT);
    const random = Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 7919) % 251));
    for (let i = 0; i < 50; i++) await codeOf(client, random.subarray(i, i * 10));
    expect(await codeOf(client, Buffer.alloc(0), `/${SERVICE_NAME}/Other`)).to.equal(status.UNIMPLEMENTED);
    expect(await ask(client, alice)).to.include({ overallCode: 1 });
  });

  it('rejects 100,000 descriptors, unknown units and refunds as invalid', async () => {
    const client = await clientFor((await serve(PER_USER)).service);
    const bad = async (request: WireRequest): Promise<unknown> =>
      ask(client, request).catch(({ code }: ServiceError) => code);
    expect(await bad({ domain: 'custom', descriptors: Array.from({ length: 100_000 }, () => ({})) })).to.equal(
      status.INVALID_ARGUMENT,
    );
    const limit = { requestsPerUnit: 1, unit: 99 };
    expect(await bad({ domain: 'custom', descriptors: [{ ...tuple(['user', 'a']), limit }] })).to.equal(
      status.INVALID_ARGUMENT,
    );
    const isNegativeHits = true;
    expect(await bad({ domain: 'custom', descriptors: [{ ...tuple(['user', 'a']), isNegativeHits }] })).to.equal(
      status.INVALID_ARGUMENT,
    );
  });

  it('counts huge values, and reads a negative addend as the number on the wire', async () => {
    const client = await clientFor((await serve(PER_USER)).service);
    const huge = { domain: 'custom', descriptors: [tuple(['user', 'x'.repeat(900_000)])] };
    expect(await ask(client, huge)).to.include({ overallCode: 1 });
    expect(await ask(client, huge)).to.include({ overallCode: 2 });
    expect(await ask(client, { ...alice, hitsAddend: -1 })).to.include({ overallCode: 2 });
  });

  it('decompresses no more than the largest message', async () => {
    const { service } = await serve(PER_USER);
    const { port } = await listen(service);
    const bomb = gzipSync(Buffer.alloc(64 << 20));
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    open.push(session);
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      'grpc-encoding': 'gzip',
      te: 'trailers',
    });
    const head = Buffer.alloc(5);
    head[0] = 1;
    head.writeUInt32BE(bomb.length, 1);
    let code: unknown;
    stream.on('response', (headers) => (code ??= headers['grpc-status']));
    stream.on('trailers', (headers) => (code ??= headers['grpc-status']));
    stream.on('error', () => {});
    stream.resume().end(Buffer.concat([head, bomb]));
    const before = process.memoryUsage().rss;
    await once(stream, 'close');
    expect(code).to.equal(String(status.RESOURCE_EXHAUSTED));
    expect(process.memoryUsage().rss - before).to.be.below(48 << 20);
  });

  it('fails with UNAVAILABLE, without the reason, if the store does', async () => {
    const store: Store = { count: () => Promise.reject(new Error('redis://:secret@host is down')), close() {} };
    const client = await clientFor((await serve(PER_USER, { store })).service);
    const error = await ask(client, alice).catch((error: ServiceError) => error);
    expect(error).to.include({ code: status.UNAVAILABLE, details: 'the request cannot be counted' });
  });

  it('gives the store the time that is left for a call, and no longer than five seconds', async () => {
    const deadlines: number[] = [];
    const { promise } = Promise.withResolvers<never>();
    const store: Store = {
      count(_charges, deadlineMs) {
        deadlines.push(deadlineMs);
        return deadlines.length === 1 ? promise : Promise.reject(new Error('down'));
      },
      close() {},
    };
    const { service } = await serve(PER_USER, { store });
    const client = await clientFor(service);
    const error = await ask(client, alice, 150).catch((error: ServiceError) => error);
    expect(error).to.include({ code: status.DEADLINE_EXCEEDED });
    expect(await codeOf(client, requestSerialize(alice))).to.equal(status.UNAVAILABLE);
    expect(deadlines[0]).to.be.within(1, 150);
    expect(deadlines[1]).to.equal(5000);
  });

  /** Calls with a deadline as it is on the wire; returns the status. */
  async function statusOf({ port }: ListeningServer, timeout: string): Promise<string> {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    open.push(session);
    const message = requestSerialize(alice) as Buffer;
    return grpcStatus(session, { path, message, timeout });
  }

  it('rejects a call whose deadline has passed, and does not count it', async () => {
    const asked: number[] = [];
    const { service } = await serve(PER_USER);
    const counting = {
      ...service,
      check(request: WireRequest, deadlineMs: number) {
        asked.push(deadlineMs);
        return service.check(request, deadlineMs);
      },
    };
    const server = await listen(counting);
    expect(await statusOf(server, '0m')).to.equal(String(status.DEADLINE_EXCEEDED));
    expect(asked).to.deep.equal([]);
    expect(await statusOf(server, '1M')).to.equal(String(status.OK));
    expect(asked).to.deep.equal([5_000]);
  });

  it('logs rejected requests without their values', async () => {
    const lines: string[] = [];
    const log = createLoggers({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
    const { port } = await listen((await serve(PER_USER)).service, log);
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    open.push(client);
    const limit = { requestsPerUnit: 1, unit: 99 };
    await ask(client, { domain: 'custom', descriptors: [{ ...tuple(['api-key', 'secret-value']), limit }] }).catch(
      () => {},
    );
    expect(lines.join('')).to.include('invalid unit 99').and.not.include('secret-value');
  });

  it('reports its health', async () => {
    const client = await clientFor((await serve({})).service);
    const name = Buffer.from(SERVICE_NAME);
    const question = Buffer.concat([Buffer.from([10, name.length]), name]);
    expect(await codeOf(client, question, '/grpc.health.v1.Health/Check')).to.equal(0);
  });

  it('finishes calls in progress when it stops', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { service } = await serve(PER_USER, { store: { count: () => promise, close() {} } });
    const server = await listen(service);
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    open.push(client);
    const pending = ask(client, alice).catch(({ code }: ServiceError) => code);
    while (service.active === 0) await new Promise((resolve) => setImmediate(resolve));
    const drained = server.drain();
    reject(new Error('down'));
    expect(await pending).to.equal(status.UNAVAILABLE);
    await drained;
  });
});
