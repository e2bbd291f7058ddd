import { createRequire } from 'node:module';
import { join } from 'node:path';
import { loadPackageDefinition, Server, ServerCredentials, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { AuthStep } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import express from 'express';
import { extauth } from '../../src/index.ts';
import { toStruct } from '@edge-gateway/core/grpc';
import { basic, call, guarded, only, start, stopAll, type GuardedParts } from '../harness.ts';

const PUBLISHED = join(createRequire(import.meta.url).resolve('@grpc/grpc-js-xds/package.json'), '../deps');

/** The service as Envoy publishes it: nothing of ours is in it. */
function published(): ServiceClientConstructor {
  const definition = loadSync('envoy/service/auth/v3/external_auth.proto', {
    includeDirs: ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((folder) => join(PUBLISHED, folder)),
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    envoy: { service: { auth: { v3: { Authorization: ServiceClientConstructor } } } };
  };
  return loaded.envoy.service.auth.v3.Authorization;
}

interface Peer {
  readonly address: { readonly socketAddress: { readonly address: string; readonly portValue: number } };
}

interface Question {
  readonly attributes: {
    readonly source: Peer;
    readonly destination: Peer;
    readonly request: { readonly http: Readonly<Record<string, unknown>> };
    readonly contextExtensions: Readonly<Record<string, string>>;
    readonly metadataContext: { readonly filterMetadata: Readonly<Record<string, object>> };
  };
}

const servers: Server[] = [];
let service: ServiceClientConstructor['service'];

/** A server that gives one answer and notes what it was asked. */
async function peer(answer: object) {
  const asked: Question[] = [];
  const server = new Server();
  servers.push(server);
  server.addService(service, {
    Check({ request }: { request: Question }, reply: (error: null, answer: object) => void) {
      asked.push(request);
      reply(null, answer);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const step: AuthStep = { name: 'own', passThroughAuth: { grpc: { address: `127.0.0.1:${port}` } } };
  return { asked, step };
}

const settings = { requestTimeout: '30s' };
const asking = async (answer: object, parts: GuardedParts = {}) => {
  const { asked, step } = await peer(answer);
  return { asked, ...(await guarded(only(step), { settings, ...parts })) };
};
const header = (key: string, value: string, more: object = {}) => ({ header: { key, value }, ...more });
const OK = { status: { code: 0 } };

describe('passThroughAuth.grpc towards a server made of the published protocol', () => {
  before(() => {
    service = published().service;
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) server.forceShutdown();
    await stopAll();
  });

  it('sends the request line, headers, client, step and configuration', async () => {
    const { asked, step } = await peer(OK);
    const passThroughAuth = { ...step.passThroughAuth, config: { team: 'a', list: [1, null, { deep: true }] } };
    const { ask } = await guarded(only({ name: 'own', passThroughAuth }), { settings });
    const headers = { 'X-A': '1', cookie: ['a=1', 'b=2'], 'x-list': ['1', '2'] };
    expect((await ask('/p%20q?r=1', { method: 'POST', headers, body: 'b' })).status).to.equal(200);
    const { source, destination, request, contextExtensions, metadataContext } = asked[0]!.attributes;
    expect(source.address.socketAddress.address).to.equal('127.0.0.1');
    expect(source.address.socketAddress.portValue).to.be.greaterThan(0);
    const [, port] = String(request.http['host']).split(':');
    expect(destination.address.socketAddress).to.include({ address: '127.0.0.1', portValue: Number(port) });
    const { headers: told, ...http } = request.http as { headers: Record<string, string> };
    expect(http).to.include({ method: 'POST', path: '/p%20q?r=1', scheme: 'http', protocol: 'HTTP/1.1', body: '' });
    expect(told).to.include({
      'x-a': '1',
      cookie: 'a=1; b=2',
      'x-list': '1,2',
      ':method': 'POST',
      ':path': '/p%20q?r=1',
    });
    expect(contextExtensions).to.deep.equal({ config_id: 'config/own' });
    expect(metadataContext.filterMetadata['vendor.auth.passthrough.config']).to.deep.equal({
      fields: toStructWithKinds({ team: 'a', list: [1, null, { deep: true }] }),
    });
  });

  for (const trusted of [true, false]) {
    it(`sends the client address that Express computes, ${trusted ? 'with' : 'without'} trusted proxies`, async () => {
      const { asked, step } = await peer(OK);
      const app = express().set('trust proxy', trusted);
      app.use(extauth({ config: only(step), settings }));
      app.use((_req, res) => void res.end());
      const url = await start(app as unknown as Parameters<typeof start>[0]);
      const forged = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https', 'x-forwarded-port': '443' };
      expect((await call(url, { headers: forged })).status).to.equal(200);
      const { source, destination, request } = asked[0]!.attributes;
      const { address, portValue } = source.address.socketAddress;
      const localPort = Number(new URL(url).port);
      expect(destination.address.socketAddress.portValue).to.equal(localPort);
      const { scheme, headers } = request.http as { scheme: string; headers: Record<string, string> };
      if (trusted) {
        expect([address, portValue, scheme]).to.deep.equal(['203.0.113.7', 0, 'https']);
        expect(headers).to.include(forged);
      } else {
        expect([address, portValue > 0, scheme]).to.deep.equal(['127.0.0.1', true, 'http']);
        expect(headers).to.include({
          'x-forwarded-for': '127.0.0.1',
          'x-forwarded-proto': 'http',
          'x-forwarded-port': String(localPort),
        });
      }
    });
  }

  it('sends the body as text, or as bytes with packAsBytes', async () => {
    const body = Buffer.from('grüße\u0000', 'utf8');
    const text = await asking(OK, { settings: { ...settings, requestBody: {} } });
    expect((await text.ask('/', { method: 'POST', body: body.toString() })).status).to.equal(200);
    expect(text.asked[0]!.attributes.request.http).to.deep.include({ body: 'grüße\u0000', size: body.length });
    expect(text.asked[0]!.attributes.request.http['rawBody']).to.deep.equal(Buffer.alloc(0));
    const bytes = await asking(OK, { settings: { ...settings, requestBody: { packAsBytes: true } } });
    expect((await bytes.ask('/', { method: 'POST', body: body.toString() })).status).to.equal(200);
    expect(bytes.asked[0]!.attributes.request.http).to.include({ body: '' });
    expect(bytes.asked[0]!.attributes.request.http['rawBody']).to.deep.equal(body);
  });

  it('sets, adds and removes request headers, and sets response headers', async () => {
    const { ask } = await asking({
      ...OK,
      okResponse: {
        headers: [
          header('X-Set', 'new'),
          header('x-added', 'two', { append: { value: true } }),
          header('x-added', 'three', { append: { value: true } }),
          header('x-replaced', 'new', { append: { value: false } }),
          header('x-absent', 'no', { appendAction: 'ADD_IF_ABSENT' }),
          header('x-fresh', 'yes', { appendAction: 'ADD_IF_ABSENT' }),
          header('x-over', 'yes', { appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' }),
          header('x-never', 'no', { appendAction: 'OVERWRITE_IF_EXISTS' }),
          header('Content-Length', '0'),
          header(':path', '/other'),
          { header: { key: 'x-raw', rawValue: Buffer.from('raw') } },
        ],
        headersToRemove: ['X-Gone', 'authorization', 'Host', ':path'],
        responseHeadersToAdd: [header('x-seen', '1'), header('set-cookie', 'a=1'), header('set-cookie', 'b=2')],
      },
    });
    const sent = {
      'x-set': 'old',
      'x-added': 'one',
      X_Added: 'one',
      X_Set: 'old',
      'x-replaced': 'old',
      'x-absent': 'mine',
      'x-over': 'old',
      'x-gone': '1',
      authorization: basic('a', 'b'),
    };
    const answer = await ask('/', { headers: sent });
    const seen = JSON.parse(answer.body) as Record<string, string>;
    expect(seen).to.include({
      'x-set': 'new',
      'x-added': 'two, three',
      'x-replaced': 'new',
      'x-absent': 'mine',
      'x-fresh': 'yes',
      'x-over': 'yes',
      'x-raw': 'raw',
    });
    expect(seen).to.have.property('host').that.is.a('string');
    expect(seen).not.to.have.property('content-length');
    expect(seen).not.to.have.any.keys('x-gone', 'authorization', 'x-never', 'x_added', 'x_set');
    expect(answer.headers).to.deep.include({ 'x-seen': '1', 'set-cookie': ['a=1', 'b=2'] });
  });

  it('sets and removes query parameters, for later steps too', async () => {
    const first = await peer({
      ...OK,
      okResponse: {
        queryParametersToSet: [
          { key: 'tenant', value: 'a b&admin=1' },
          { key: 'twice', value: '1' },
        ],
        queryParametersToRemove: ['debug', 'twice'],
      },
    });
    const second = await peer(OK);
    const { ask } = await guarded({ configs: [{ ...first.step, name: 'first' }, second.step] }, { settings });
    const expected = '/p?tenant=a%20b%26admin=1&x=%7e';
    const answer = await ask('/p?tenant=other&d%65bug=1&x=%7e&twice');
    expect(answer).to.have.nested.property('headers.x-target', expected);
    expect(second.asked[0]!.attributes.request.http).to.include({ path: expected });
    expect((await ask('/p')).headers['x-target']).to.equal('/p?tenant=a%20b%26admin=1');
  });

  it('relays status, headers and body of a denial', async () => {
    const { ask } = await asking({
      status: { code: 7, message: 'no' },
      deniedResponse: {
        status: { code: 'TooManyRequests' },
        headers: [
          header('Retry-After', '5'),
          header('content-length', '3'),
          header('transfer-encoding', 'chunked'),
          header('set-cookie', 'a=1'),
          header('set-cookie', 'b=2'),
        ],
        body: '{"later":true}',
      },
    });
    const answer = await ask();
    expect(answer).to.include({ status: 429, body: '{"later":true}' });
    expect(answer.headers).to.deep.include({ 'retry-after': '5', 'set-cookie': ['a=1', 'b=2'] });
  });

  it('treats a response without status as allowed, unless it contains a denial', async () => {
    expect((await (await asking({})).ask()).status).to.equal(200);
    expect((await (await asking({ okResponse: {} })).ask()).status).to.equal(200);
    expect(await (await asking({ deniedResponse: {} })).ask()).to.include({ status: 403, body: '' });
    const unset = { status: { code: 16 }, deniedResponse: { headers: [header('www-authenticate', 'Own')] } };
    const answer = await (await asking(unset)).ask();
    expect(answer).to.include({ status: 403, body: '' });
    expect(answer.headers['www-authenticate']).to.equal('Own');
    expect((await (await asking({ status: { code: 16 } })).ask()).status).to.equal(403);
  });

  it('reads state from dynamic metadata, and passes both to the next server', async () => {
    const first = await peer({
      ...OK,
      dynamicMetadata: toStruct({ 'vendor.auth.passthrough': { user: { id: 7, tags: ['a'] } }, other: 'kept' }),
    });
    const second = await peer(OK);
    const { ask } = await guarded(
      {
        configs: [
          { ...first.step, name: 'first' },
          { ...second.step, name: 'second' },
        ],
      },
      { settings },
    );
    expect((await ask()).status).to.equal(200);
    const { filterMetadata } = second.asked[0]!.attributes.metadataContext;
    expect(filterMetadata['vendor.auth.passthrough']).to.deep.equal({
      fields: toStructWithKinds({ user: { id: 7, tags: ['a'] } }),
    });
    const old = await peer({
      ...OK,
      okResponse: { dynamicMetadata: toStruct({ 'vendor.auth.passthrough': { old: 1 } }) },
      dynamicMetadata: toStruct({ 'vendor.auth.passthrough': { old: 2 } }),
    });
    const third = await peer(OK);
    const steps = [old.step, third.step].map((step, i) => ({ ...step, name: `step-${i}` }));
    expect((await (await guarded({ configs: steps }, { settings })).ask()).status).to.equal(200);
    expect(third.asked[0]!.attributes.metadataContext.filterMetadata['vendor.auth.passthrough']).to.deep.equal({
      fields: toStructWithKinds({ old: 1 }),
    });
    expect(first.asked[0]!.attributes.metadataContext.filterMetadata).to.deep.equal({});
  });

  it('denies the request when a response header contains a line break', async () => {
    const { ask } = await asking({ ...OK, okResponse: { headers: [header('x-a', 'a\r\nx-admin: 1')] } });
    expect(await ask()).to.include({ status: 403, body: '' });
    const denied = { status: { code: 7 }, deniedResponse: { headers: [header('x-a', 'a\r\nx-b: 1')], body: 'no' } };
    expect((await (await asking(denied)).ask()).status).to.equal(403);
  });
});

/** A struct as the published types read it: each value names its kind. */
function toStructWithKinds(value: object): object {
  const marked = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(marked);
    if (typeof each !== 'object' || each === null) return each;
    const parts = Object.fromEntries(Object.entries(each).map(([key, part]) => [key, marked(part)]));
    const kind = Object.keys(each).find((key) => key.endsWith('Value'));
    if (kind === undefined) return parts;
    return { kind, ...(kind === 'nullValue' ? { nullValue: 'NULL_VALUE' } : parts) };
  };
  return marked(toStruct(value).fields) as object;
}
