import { createServer } from 'node:net';
import {
  compileRetries,
  createContext,
  GatewayError,
  type SnapshotUpstream,
  type UpstreamCall,
} from '@edge-gateway/core';
import { expect } from 'chai';
import { fakeTime } from '../../../../test/parts/fake-time.ts';
import { createUpstreamCaller } from '../../src/upstream/call.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import { closeAll, httpUpstream, listen, rawUpstream, snapshotOf, until, whenDone } from '../forward/harness.ts';

const ECHO = { name: 'echo', namespace: 'gw-system' };

function callerOf(upstream: SnapshotUpstream) {
  const context = createContext();
  const upstreams = createUpstreams(context);
  upstreams.apply([upstream]);
  whenDone(() => upstreams.close());
  const retries = (): number => {
    const found = context.metrics.list().find(({ name }) => name.path === 'cluster.echo_gw-system.upstream_rq_retry');
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };
  return { call: createUpstreamCaller(upstreams), retries };
}

function get(policy: object, parts: Partial<UpstreamCall> & { repeatable?: boolean } = {}): UpstreamCall {
  const { repeatable = true, ...rest } = parts;
  const retry = { policy: compileRetries(policy), repeatable };
  return { method: 'GET', path: '/', timeoutMs: 20_000, maxBodyBytes: 1000, retry, ...rest };
}

/** Answers with the statuses in turn, the last one for good. */
async function answering(...statuses: number[]) {
  let requests = 0;
  const port = await httpUpstream((_req, res) => {
    const status = statuses[Math.min(requests++, statuses.length - 1)]!;
    res.writeHead(status, status === 429 ? { 'x-envoy-ratelimited': 'true' } : {}).end();
  });
  return { upstream: snapshotOf(port), requests: () => requests };
}

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function codeOf(made: Promise<unknown>): Promise<string> {
  const error = await made.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(GatewayError);
  return (error as GatewayError).code;
}

describe('a call with a retry policy', () => {
  afterEach(closeAll);

  const cases: readonly (readonly [string, object, number, number])[] = [
    ['5xx', { retryOn: '5xx' }, 500, 2],
    ['gateway-error', { retryOn: 'gateway-error' }, 503, 2],
    ['gateway-error, for which 500 is none', { retryOn: 'gateway-error' }, 500, 1],
    ['retriable-4xx', { retryOn: 'retriable-4xx' }, 409, 2],
    ['retriable-4xx, for which 404 is none', { retryOn: 'retriable-4xx' }, 404, 1],
    ['retriable-status-codes', { retryOn: 'retriable-status-codes', retriableStatusCodes: [404] }, 404, 2],
    ['statuses without their word', { retriableStatusCodes: [404] }, 404, 1],
    ['envoy-ratelimited', { retryOn: 'envoy-ratelimited' }, 429, 2],
    ['spaces between words', { retryOn: ' reset , 5xx ' }, 500, 2],
    ['a word that does not fit', { retryOn: 'connect-failure,reset,unavailable' }, 500, 1],
    ['nothing', {}, 500, 1],
  ];
  for (const [name, policy, status, requests] of cases) {
    it(`makes ${requests} requests on ${name} if the first response is ${status}`, async () => {
      const server = await answering(status, 200);
      const { call, retries } = callerOf(server.upstream);
      expect((await call(ECHO, get(policy))).status).to.equal(requests === 2 ? 200 : status);
      expect(server.requests()).to.equal(requests);
      expect(retries()).to.equal(requests - 1);
    });
  }

  it('returns the last response after its number of retries', async () => {
    const server = await answering(503);
    const { call } = callerOf(server.upstream);
    expect((await call(ECHO, get({ retryOn: '5xx', numRetries: 4 }))).status).to.equal(503);
    expect(server.requests()).to.equal(5);
  });

  it('uses the next endpoint if one accepts no connections', async () => {
    const server = await answering(200);
    const bad = { address: '127.0.0.1', port: await closedPort(), weight: 1 };
    const { call } = callerOf({ ...server.upstream, endpoints: [bad, ...server.upstream.endpoints] });
    const post = { method: 'POST', body: '{}', repeatable: false };
    for (let i = 0; i < 6; i++)
      expect((await call(ECHO, get({ retryOn: 'connect-failure' }, post))).status).to.equal(200);
    expect(server.requests()).to.equal(6);
    expect(await codeOf(call(ECHO, get({})))).to.equal('ERR_ROUTING_UPSTREAM_CONNECT');
  });

  it('retries unsafe methods only if the request cannot have arrived, or the status is listed', async () => {
    const post = { method: 'POST', body: '{}', repeatable: false };
    const failing = await answering(503, 200);
    const broken = await rawUpstream((socket) => socket.destroy());
    const first = callerOf(failing.upstream);
    expect((await first.call(ECHO, get({ retryOn: '5xx,gateway-error' }, post))).status).to.equal(503);
    expect(failing.requests()).to.equal(1);
    const second = callerOf(snapshotOf(broken.port));
    expect(await codeOf(second.call(ECHO, get({ retryOn: '5xx,reset' }, post)))).to.equal('ERR_ROUTING_UPSTREAM_RESET');
    expect(broken.requests).to.have.length(1);
    const named = await answering(503, 200);
    const words = { retryOn: 'retriable-status-codes', retriableStatusCodes: [503] };
    expect((await callerOf(named.upstream).call(ECHO, get(words, post))).status).to.equal(200);
  });

  it('retries safe methods on a reset', async () => {
    const broken = await rawUpstream((socket, _request, index) => {
      if (index === 0) socket.destroy();
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    const { call } = callerOf(snapshotOf(broken.port));
    expect((await call(ECHO, get({ retryOn: 'reset' }))).status).to.equal(200);
    expect(broken.requests).to.have.length(2);
  });

  it('limits each attempt, and the whole call', async () => {
    let requests = 0;
    const port = await httpUpstream((_req, res) => void (requests++ > 0 && res.end()));
    const { call } = callerOf(snapshotOf(port));
    const silent = callerOf(snapshotOf(await httpUpstream(() => {})));
    const time = fakeTime();
    try {
      const made = call(ECHO, get({ retryOn: 'reset', perTryTimeout: '2s' }));
      await time.reached(() => requests === 1);
      await time.pass(2000);
      // The retry begins after a random delay.
      await time.until(() => requests === 2, 1000);
      expect((await made).status).to.equal(200);
      const policy = { retryOn: 'reset', perTryTimeout: '0.2s', numRetries: 1000 };
      let code: string | undefined;
      void codeOf(silent.call(ECHO, get(policy, { timeoutMs: 3000 }))).then((found) => (code = found));
      await time.until(() => code !== undefined);
      expect(code).to.equal('ERR_ROUTING_UPSTREAM_TIMEOUT');
      expect(silent.retries()).to.be.within(1, 15);
    } finally {
      time.restore();
    }
  });

  it('makes no more retries at a time than the circuit breaker of the upstream allows', async () => {
    const held: (() => void)[] = [];
    const known = new Set<unknown>();
    const port = await httpUpstream((req, res) => {
      if (known.has(req.headers['x-id'])) held.push(() => res.end());
      else res.writeHead(503).end();
      known.add(req.headers['x-id']);
    });
    const { call } = callerOf(snapshotOf(port, { spec: { circuitBreakers: { maxRetries: 2 } } }));
    const statuses: number[] = [];
    const made = Array.from({ length: 10 }, async (_, id) => {
      statuses.push((await call(ECHO, get({ retryOn: '5xx' }, { headers: ['x-id', String(id)] }))).status);
    });
    await until(() => statuses.length === 8 && held.length === 2);
    for (const release of held) release();
    await Promise.all(made);
    expect(statuses.filter((status) => status === 200)).to.have.length(2);
  });

  it('ends when its caller leaves, without another attempt', async () => {
    const server = await answering(503);
    const { call } = callerOf(server.upstream);
    const over = new AbortController();
    const policy = { retryOn: '5xx', numRetries: 100, retryBackOff: { baseInterval: '10s' } };
    const made = call(ECHO, get(policy, { signal: over.signal }));
    await until(() => server.requests() > 0);
    over.abort();
    const error = await made.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.name).to.equal('AbortError');
    expect(server.requests()).to.be.below(3);
  });
});
