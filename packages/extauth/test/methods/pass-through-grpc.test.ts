import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import type { PassThroughAuth } from '@edge-gateway/core/schema';
import { authorization } from '../../src/grpc/protocol.ts';
import { fromStruct, toStruct } from '@edge-gateway/core/grpc';
import { startPausableProxy } from '../../../../test/parts/pausable-proxy.ts';
import { until } from '../../../../test/parts/until.ts';
import { guarded, only, stopAll } from '../harness.ts';

type Reply = (error: { code: number } | null, answer?: object) => void;
type Check = (call: { request: Question }, reply: Reply) => void;

interface Question {
  readonly attributes: {
    readonly request: {
      readonly http: { readonly method: string; readonly path: string; readonly headers: Record<string, string> };
    };
    readonly metadataContext: { readonly filterMetadata: Record<string, object> };
    readonly contextExtensions: Record<string, string>;
  };
}

const servers: Server[] = [];

async function authServer(check: Check): Promise<string> {
  const server = new Server();
  servers.push(server);
  server.addService(authorization().service, { Check: check as never });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return `127.0.0.1:${port}`;
}

const own = (address: string, grpc: PassThroughAuth['grpc'] = {}, more: Partial<PassThroughAuth> = {}) =>
  guarded(only({ passThroughAuth: { grpc: { address, ...grpc }, ...more } }), {
    settings: { requestTimeout: '3600s' },
  });
const header = (key: string, value: string) => ({ header: { key, value } });

describe('passThroughAuth.grpc', () => {
  afterEach(async () => {
    for (const server of servers.splice(0)) server.forceShutdown();
    await stopAll();
  });

  it('sends the whole request, and applies the headers of the response', async () => {
    const asked: Question[] = [];
    const address = await authServer(({ request }, reply) => {
      asked.push(request);
      reply(null, {
        status: { code: 0 },
        okResponse: {
          headers: [header('X-User', 'alice')],
          headersToRemove: ['x-secret'],
          responseHeadersToAdd: [header('x-seen', '1')],
        },
      });
    });
    const { ask } = await own(address, {}, { config: { team: 'a', n: 1, deep: [true, null] } });
    const answer = await ask('/a?b=1', { headers: { 'x-secret': 's', 'x-user': 'forged', cookie: 'c=1' } });
    expect(JSON.parse(answer.body)).to.include({ 'x-user': 'alice' });
    expect(JSON.parse(answer.body)).not.to.have.property('x-secret');
    expect(answer.headers['x-seen']).to.equal('1');
    const { request, metadataContext, contextExtensions } = asked[0]!.attributes;
    expect(request.http).to.include({ method: 'GET', path: '/a?b=1' });
    expect(request.http.headers).to.include({ cookie: 'c=1', ':method': 'GET', ':path': '/a?b=1' });
    expect(contextExtensions).to.have.property('config_id');
    const config = fromStruct(metadataContext.filterMetadata['vendor.auth.passthrough.config']!);
    expect(config).to.deep.equal({ team: 'a', n: 1, deep: [true, null] });
  });

  it('relays the denial of the server; an empty 403 by default', async () => {
    const says = await authServer((_call, reply) =>
      reply(null, {
        status: { code: status.PERMISSION_DENIED },
        deniedResponse: { status: { code: 401 }, headers: [header('www-authenticate', 'Own')], body: 'who?' },
      }),
    );
    const answer = await (await own(says)).ask();
    expect(answer).to.include({ status: 401, body: 'who?' });
    expect(answer.headers['www-authenticate']).to.equal('Own');
    const silent = await authServer((_call, reply) => reply(null, { status: { code: status.PERMISSION_DENIED } }));
    expect(await (await own(silent)).ask()).to.include({ status: 403, body: '' });
    const success = await authServer((_call, reply) =>
      reply(null, { status: { code: 7 }, deniedResponse: { status: { code: 200 } } }),
    );
    expect((await (await own(success)).ask()).status).to.equal(403);
  });

  it('passes state to the next step', async () => {
    const states: unknown[] = [];
    const address = await authServer(({ request }, reply) => {
      const state = request.attributes.metadataContext.filterMetadata['vendor.auth.passthrough'];
      states.push(state && fromStruct(state));
      reply(null, { dynamicMetadata: toStruct({ 'vendor.auth.passthrough': { a: 1 } }) });
    });
    const step = { passThroughAuth: { grpc: { address } } };
    const { ask } = await guarded({ configs: [step, step] }, { settings: { requestTimeout: '3600s' } });
    expect((await ask()).status).to.equal(200);
    expect(states).to.deep.equal([undefined, { a: 1 }]);
  });

  it('denies the request when the server is down, slow or fails, unless failureModeAllow is set', async () => {
    const slow = await authServer(() => {});
    const failing = await authServer((_call, reply) => reply({ code: status.INTERNAL }));
    for (const address of ['127.0.0.1:1', slow, failing]) {
      const grpc = { connectionTimeout: '60ms' };
      expect(await (await own(address, grpc)).ask(), address).to.include({ status: 403, body: '' });
      expect((await (await own(address, grpc, { failureModeAllow: true })).ask()).status, address).to.equal(200);
    }
  });

  it('retries as often as the policy allows', async () => {
    let asked = 0;
    const address = await authServer((_call, reply) =>
      ++asked < 3 ? reply({ code: status.UNAVAILABLE }) : reply(null, { status: { code: 0 } }),
    );
    const retryPolicy = { numRetries: 2, retryBackOff: { baseInterval: '1ms' } };
    expect((await (await own(address)).ask()).status).to.equal(403);
    asked = 0;
    expect((await (await own(address, { retryPolicy })).ask()).status).to.equal(200);
    expect(asked).to.equal(3);
  });

  it('applies the backoff of the policy, and stops at the timeout', async () => {
    let asked = 0;
    const address = await authServer((_call, reply) =>
      ++asked % 3 === 0 ? reply(null, { status: { code: 0 } }) : reply({ code: status.UNAVAILABLE }),
    );
    const statusWith = async (retryBackOff: object) =>
      (await (await own(address, { retryPolicy: { numRetries: 2, retryBackOff } })).ask()).status;
    expect(await statusWith({ baseInterval: '10s', maxInterval: '1ms' })).to.equal(200);
    asked = 0;
    expect(await statusWith({ baseInterval: '10s' })).to.equal(403);
    expect(asked).to.equal(1);
    asked = 0;
    const once = await own(address, { retryPolicy: { retryBackOff: { baseInterval: '1ms' } } });
    expect((await once.ask()).status).to.equal(403);
    expect(asked).to.equal(2);
  });

  it('does not retry before the first connection', async () => {
    // A second attempt would be made after ten minutes.
    const retryPolicy = { numRetries: 1000, retryBackOff: { baseInterval: '600s' } };
    const grpc = { connectionTimeout: '3000s', retryPolicy };
    expect((await (await own('127.0.0.1:1', grpc)).ask()).status).to.equal(403);
  });

  it('uses a new connection after one to a silent server: calls time out until then', async () => {
    const address = await authServer((_call, reply) => reply(null, { status: { code: 0 } }));
    const proxy = await startPausableProxy(Number(address.split(':')[1]));
    try {
      const { ask } = await own(`127.0.0.1:${proxy.port}`, { connectionTimeout: '500ms' });
      await until(async () => (await ask()).status === 200);
      proxy.silence();
      expect((await ask()).status).to.equal(403);
      await until(async () => (await ask()).status === 200);
    } finally {
      proxy.close();
    }
  });

  it('uses TLS if configured, and rejects untrusted servers', async () => {
    const address = await authServer((_call, reply) => reply(null, { status: { code: 0 } }));
    expect((await (await own(address, { tlsConfig: {}, connectionTimeout: '80ms' })).ask()).status).to.equal(403);
  });

  it('throws without an address', async () => {
    for (const address of ['', 'host', 'http://host:1']) {
      expect(await own(address).catch((error: unknown) => error)).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
    }
  });
});
