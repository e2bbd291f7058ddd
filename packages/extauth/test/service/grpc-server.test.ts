import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { Client, credentials, Metadata, status, type ChannelCredentials, type ServiceError } from '@grpc/grpc-js';
import { expect } from 'chai';
import { silentLoggers, type ListeningServer, type ServerTls } from '@edge-gateway/core';
import { grpcStatus } from '../../../../test/parts/grpc-status.ts';
import { authorization, type CheckResponse } from '../../src/grpc/protocol.ts';
import { listenGrpc, type AuthService } from '../../src/index.ts';
import { KEYS, serve, told, TOLD } from './service-harness.ts';

const file = (name: string): string =>
  readFileSync(new URL(`../../../routing/test/upstream/certificates/${name}`, import.meta.url), 'utf8');
const raw = (bytes: Buffer): Buffer => bytes;

describe('checks over gRPC', () => {
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });

  async function listen(service: AuthService, tls?: ServerTls): Promise<ListeningServer> {
    const server = await listenGrpc(service, {
      address: '127.0.0.1',
      port: 0,
      log: silentLoggers.get('ext_authz'),
      tls,
    });
    open.push(server);
    return server;
  }

  function clientOf(
    { port }: ListeningServer,
    secure: ChannelCredentials = credentials.createInsecure(),
    options = {},
  ): Client {
    const client = new Client(`127.0.0.1:${port}`, secure, { 'grpc.use_local_subchannel_pool': 1, ...options });
    open.push(client);
    return client;
  }

  const { Check } = authorization().service;

  function check(client: Client, request: object, deadlineMs = 30_000): Promise<CheckResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<CheckResponse>();
    client.makeUnaryRequest(
      Check!.path,
      Check!.requestSerialize as never,
      Check!.responseDeserialize as never,
      request,
      new Metadata(),
      { deadline: Date.now() + deadlineMs },
      (error: ServiceError | null, response?: CheckResponse) => (error ? reject(error) : resolve(response!)),
    );
    return promise;
  }

  function send(client: Client, path: string, bytes: Buffer): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    client.makeUnaryRequest(path, raw, raw, bytes, (error, response?: Buffer) =>
      error ? reject(error) : resolve(response!),
    );
    return promise;
  }

  const question = (headers: object = {}, more: object = {}) => ({
    attributes: {
      request: { http: { method: 'GET', path: '/', host: 'a', headers, ...more } },
      contextExtensions: { config_id: 'n.keys' },
    },
  });
  const headersOf = ({ okResponse }: CheckResponse) =>
    Object.fromEntries(okResponse!.headers.map(({ header }) => [header!.key, header!.value]));

  it('allows and rejects', async () => {
    const client = clientOf(await listen(serve({ 'n/keys': KEYS }).service));
    const allowed = await check(client, question({ 'api-key': 'key-of-alice', 'x-user-id': 'root' }));
    expect(headersOf(allowed)).to.deep.equal({ 'x-user-id': 'alice', 'x-team': 'red' });
    const denied = await check(client, question({ 'x-user-id': 'root' }));
    expect(denied.status?.code).to.equal(16);
    expect(denied.deniedResponse?.status?.code).to.equal(401);
    expect(denied.deniedResponse?.headers[0]?.header?.key).to.equal('www-authenticate');
  });

  it('rejects checks without attributes, and of unknown AuthConfigs, by a response instead of an error', async () => {
    const client = clientOf(await listen(serve({ 'n/keys': KEYS }).service));
    const codeOf = async (request: object) => (await check(client, request)).deniedResponse?.status?.code;
    expect(await codeOf({})).to.equal(400);
    expect(await codeOf({ attributes: {} })).to.equal(400);
    expect(await codeOf(question({}, { path: 'private' }))).to.equal(400);
    expect(await codeOf({ attributes: { request: { http: { method: 'GET', path: '/' } } } })).to.equal(403);
  });

  /** Calls with a deadline as it is on the wire; returns the status. */
  async function statusOf({ port }: ListeningServer, timeout: string): Promise<string> {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    open.push(session);
    const message = Check!.requestSerialize(question({ 'api-key': 'key-of-alice' })) as Buffer;
    return grpcStatus(session, { path: Check!.path, message, timeout });
  }

  it('rejects a check whose deadline has passed, and runs no step', async () => {
    let checks = 0;
    const { service } = serve({ 'n/keys': KEYS });
    const counting: AuthService = {
      ...service,
      check(...parts) {
        checks++;
        return service.check(...parts);
      },
    };
    const server = await listen(counting);
    expect(await statusOf(server, '0m')).to.equal(String(status.DEADLINE_EXCEEDED));
    expect(checks).to.equal(0);
    expect(await statusOf(server, '1M')).to.equal(String(status.OK));
    expect(checks).to.equal(1);
  });

  it('survives garbage, messages of other types, deep nesting and messages that are too large', async () => {
    const client = clientOf(await listen(serve({ 'n/keys': KEYS }).service), undefined, {
      'grpc.max_send_message_length': -1,
    });
    const errorOf = async (bytes: Buffer) => {
      const error = await send(client, Check!.path, bytes).catch((error: ServiceError) => error);
      return error instanceof Error ? error.code : undefined;
    };
    expect(await errorOf(Buffer.from('\u00ff\u00fe garbage', 'latin1'))).to.equal(status.INTERNAL);
    expect(await errorOf(Buffer.alloc(5 << 20))).to.equal(status.RESOURCE_EXHAUSTED);
    expect(await errorOf(nested(100_000))).to.be.oneOf([status.INTERNAL, undefined]);
    const random = Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 7919) % 251));
    for (let i = 0; i < 50; i++) await errorOf(random.subarray(i, i * 10));
    const error = await send(client, '/envoy.service.auth.v3.Authorization/Other', Buffer.alloc(0)).catch(
      (error: ServiceError) => error,
    );
    expect(error).to.include({ code: status.UNIMPLEMENTED });
    expect((await check(client, question({ 'api-key': 'key-of-alice' }))).status?.code).to.equal(0);
  });

  it('decides about requests with huge headers and many of them', async () => {
    const client = clientOf(await listen(serve({ 'n/keys': KEYS }).service));
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`x-h${i}`, 'v']));
    const response = await check(
      client,
      question({ ...many, 'x-big': 'x'.repeat(1 << 20), 'api-key': 'key-of-alice' }),
    );
    expect(response.status?.code).to.equal(0);
  });

  it('ignores header names of object prototypes', async () => {
    const client = clientOf(await listen(serve({ 'n/keys': KEYS }).service));
    const headers = JSON.parse('{"__proto__": "a", "constructor": "b", "api-key": "key-of-alice"}') as object;
    expect((await check(client, question(headers))).status?.code).to.equal(0);
  });

  it('cancels a check at the deadline of its client', async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const slow = told(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            resolve();
            reject(new Error('aborted'));
          });
        }),
    );
    const { service } = serve({ 'n/keys': TOLD }, { methods: [slow] });
    const client = clientOf(await listen(service));
    const error = await check(client, question(), 100).catch((error: ServiceError) => error);
    expect(error).to.include({ code: status.DEADLINE_EXCEEDED });
    await cancelled;
    while (service.active > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('reports its health, also for the service by name, until it stops', async () => {
    const server = await listen(serve({}).service);
    const client = clientOf(server);
    const health = (name: string) =>
      send(client, '/grpc.health.v1.Health/Check', Buffer.concat([Buffer.from([10, name.length]), Buffer.from(name)]));
    expect([...(await health(''))]).to.deep.equal([8, 1]);
    expect([...(await health('envoy.service.auth.v3.Authorization'))]).to.deep.equal([8, 1]);
    const error = await health('other').catch((error: ServiceError) => error);
    expect(error).to.include({ code: status.NOT_FOUND });
  });

  it('finishes checks in progress when it stops', async () => {
    const { promise, resolve } = Promise.withResolvers<{ allowed: true }>();
    const { service } = serve({ 'n/keys': TOLD }, { methods: [told(() => promise)] });
    const server = await listen(service);
    const pending = check(clientOf(server), question());
    while (service.active === 0) await new Promise((resolve) => setImmediate(resolve));
    const drained = server.drain();
    resolve({ allowed: true });
    expect((await pending).status?.code).to.equal(0);
    await drained;
  });

  it('rejects clients without a certificate of its roots', async () => {
    const tls = { certificate: file('server.crt'), key: file('server.key'), clientCa: file('ca.crt') };
    const server = await listen(serve({ 'n/keys': KEYS }).service, tls);
    const roots = Buffer.from(file('ca.crt'));
    const named = { 'grpc.ssl_target_name_override': 'localhost' };
    const anonymous = clientOf(server, credentials.createSsl(roots), named);
    const error = await check(anonymous, question()).catch((error: ServiceError) => error);
    expect(error).to.include({ code: status.UNAVAILABLE });
    const known = credentials.createSsl(roots, Buffer.from(file('client.key')), Buffer.from(file('client.crt')));
    const response = await check(clientOf(server, known, named), question({ 'api-key': 'key-of-alice' }));
    expect(response.status?.code).to.equal(0);
  });

  it('rejects with the code of the socket if the port is in use', async () => {
    const { port } = await listen(serve({}).service);
    const error = await listenGrpc(serve({}).service, {
      address: '127.0.0.1',
      port,
      log: silentLoggers.get('ext_authz'),
    }).catch((error: Error) => error);
    expect(error).to.include({ code: 'EADDRINUSE' });
  });
});

/** A check whose metadata is a structure nested so many times. */
function nested(depth: number): Buffer {
  let bytes: Buffer = Buffer.alloc(0);
  const tagged = (tag: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([tag, ...varint(content.length)]), content]);
  for (let i = 0; i < 2000 && bytes.length < depth * 10; i++) {
    // Struct.fields: an entry with an empty key, whose value is a Value with a Struct.
    bytes = tagged(10, tagged(18, tagged(42, bytes)));
  }
  const entry = Buffer.concat([tagged(10, Buffer.from('n')), tagged(18, bytes)]);
  return tagged(10, tagged(90, tagged(10, entry)));
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
}
