import { createContext, type Route, type VirtualHost } from '@edge-gateway/core';
import { expect } from 'chai';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { compileAttempts, expectedTimeoutMs } from '../../../src/route/options/attempts.ts';
import { createRouter } from '../../../src/router.ts';
import { closeAll, get, listen, rawUpstream, until, whenDone } from '../../forward/harness.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, upstreamOf } from '../../snapshots.ts';

interface Setup {
  readonly route?: Route['options'];
  readonly host?: VirtualHost['options'];
  readonly spec?: object;
  readonly listener?: object;
  readonly ports?: readonly number[];
}

const NOW = { baseInterval: '1ms' } as const;

/** A router in front of an upstream that responds with the statuses in turn, the last one for good; 0 is no response. */
async function serving(statuses: readonly number[], { route = {}, host = {}, spec = {}, listener = {}, ports }: Setup) {
  const upstream = await rawUpstream((socket, _request, index) => {
    const status = statuses[Math.min(index, statuses.length - 1)]!;
    if (status > 0) socket.write(`HTTP/1.1 ${status} Status\r\ncontent-length: 0\r\n\r\n`);
  });
  const context = createContext();
  const router = createRouter({ context });
  const endpoints = (ports ?? [upstream.port]).map((port) => endpointOf(port));
  const declared = { ...upstreamOf(endpoints), spec };
  router.apply(snapshotOf([hostOf([routeOf({ options: route })], { options: host })], [declared], listener));
  const handler = router.listener(LISTENER);
  const server = createServer((req, res) => handler(req, res, () => res.destroy()));
  const port = await listen(server);
  whenDone(async () => {
    server.closeAllConnections();
    server.close();
    await router.close();
  });
  const header = (name: string): (string | undefined)[] =>
    upstream.requests.map((head) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(head)?.[1]);
  const stat = (name: string): number => {
    const found = context.metrics.list().find((each) => each.name.path === `cluster.up_gw-system.${name}`);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };
  return { url: `http://127.0.0.1:${port}`, port, upstream, header, stat };
}

describe('retries of a route', () => {
  afterEach(closeAll);

  it('are those of the route, else those of the virtual host', async () => {
    const host = { retries: { retryOn: '5xx', numRetries: 5, retryBackOff: NOW } };
    const inherited = await serving([503, 503, 200], { host });
    expect((await get(inherited.url)).status).to.equal(200);
    const own = await serving([503, 503, 200], { host, route: { retries: { retryOn: '5xx', retryBackOff: NOW } } });
    expect((await get(own.url)).status).to.equal(503);
    expect(own.upstream.requests).to.have.length(2);
    const none = await serving([503, 200], { host, route: { retries: {} } });
    expect((await get(none.url)).status).to.equal(503);
  });

  it('keep a body up to perConnectionBufferLimitBytes of the listener', async () => {
    const setup = {
      route: { retries: { retryOn: '5xx', retryBackOff: NOW } },
      listener: { options: { perConnectionBufferLimitBytes: 10 } },
    };
    const { url } = await serving([503, 200, 503, 200], setup);
    expect((await get(url, { method: 'POST', body: '0123456789' })).status).to.equal(200);
    expect((await get(url, { method: 'POST', body: '0123456789+' })).status).to.equal(503);
  });

  it('send the number of the attempt if configured', async () => {
    const host = { includeRequestAttemptCount: true, includeAttemptCountInResponse: true };
    const route = { retries: { retryOn: '5xx', numRetries: 2, retryBackOff: NOW } };
    const { url, header } = await serving([503, 503, 200, 200], { host, route });
    expect((await get(url)).headers['x-envoy-attempt-count']).to.equal('3');
    expect((await get(url)).headers['x-envoy-attempt-count']).to.equal('1');
    expect(header('x-envoy-attempt-count')).to.deep.equal(['1', '2', '3', '1']);
  });

  it('send no number otherwise, nor that of the client', async () => {
    const { url, header } = await serving([200], {});
    const answer = await get(url, { headers: { 'x-envoy-attempt-count': '7' } });
    expect(answer.headers['x-envoy-attempt-count']).to.equal(undefined);
    expect(header('x-envoy-attempt-count')).to.deep.equal([undefined]);
  });

  it('send the number of attempts with a response of the gateway', async () => {
    const host = { includeAttemptCountInResponse: true };
    const route = { retries: { retryOn: 'connect-failure', retryBackOff: NOW } };
    const { url } = await serving([200], { host, route, ports: [1] });
    const answer = await get(url);
    expect(answer).to.deep.include({
      status: 503,
      body: 'upstream connect error or disconnect/reset before headers. retried and the latest reset reason: remote connection failure',
    });
    expect(answer.headers['x-envoy-attempt-count']).to.equal('2');
  });

  it('send the remaining time upstream', async () => {
    const route = { timeout: '5s', retries: { retryOn: '5xx', retryBackOff: { baseInterval: '40ms' }, numRetries: 4 } };
    const { url, header } = await serving([503, 503, 503, 503, 200], { route });
    expect((await get(url)).status).to.equal(200);
    const told = header('x-envoy-expected-rq-timeout-ms').map(Number);
    expect(told[0]).to.equal(5000);
    expect(told).to.deep.equal(told.toSorted((a, b) => b - a));
    expect(told.at(-1)).to.be.within(1, 4999);
  });

  it('never tell the upstream that there is no limit because it is over', () => {
    const attempts = compileAttempts([{}], 1000);
    expect([0, 400.5, 999.9, 1000, 2000].map((elapsedMs) => expectedTimeoutMs(attempts, elapsedMs))).to.deep.equal([
      1000, 599, 1, 1, 1,
    ]);
    expect(expectedTimeoutMs(compileAttempts([{}], 0), 5)).to.equal(0);
  });

  it('send the limit of one attempt upstream if it is shorter', async () => {
    const route = { timeout: '5s', retries: { retryOn: '5xx', perTryTimeout: '1s', retryBackOff: NOW } };
    const { url, header } = await serving([503, 200], { route });
    await get(url);
    expect(header('x-envoy-expected-rq-timeout-ms')).to.deep.equal(['1000', '1000']);
    const unlimited = await serving([200], { route: { ...route, timeout: '0s' } });
    await get(unlimited.url);
    expect(unlimited.header('x-envoy-expected-rq-timeout-ms')).to.deep.equal(['1000']);
  });
});

describe('maxRequests of an upstream', () => {
  afterEach(closeAll);

  it('rejects requests above it with 503 and x-envoy-overloaded', async () => {
    const circuitBreakers = { maxRequests: 1, trackRemaining: true };
    const { url, port, stat } = await serving([0], { spec: { circuitBreakers } });
    expect(stat('circuit_breakers.default.rq_open')).to.equal(0);
    const first = connect(port, '127.0.0.1');
    first.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await until(() => stat('circuit_breakers.default.rq_open') === 1, 'the first request');
    expect(stat('circuit_breakers.default.remaining_rq')).to.equal(0);
    const answer = await get(url);
    expect(answer).to.include({
      status: 503,
      body: 'upstream connect error or disconnect/reset before headers. reset reason: overflow',
    });
    expect(answer.headers['x-envoy-overloaded']).to.equal('true');
    first.destroy();
    await until(() => stat('circuit_breakers.default.remaining_rq') === 1, 'its end');
  });

  it('tells what remains of it only with trackRemaining', async () => {
    const { stat } = await serving([200], { spec: { circuitBreakers: { maxRequests: 1 } } });
    // With it, there would be 1.
    expect(stat('circuit_breakers.default.remaining_rq')).to.equal(0);
  });

  it('hides the header where the headers of the proxy are suppressed', async () => {
    const listener = { httpOptions: { router: { suppressEnvoyHeaders: true } } };
    const { url } = await serving([200], { spec: { circuitBreakers: { maxRequests: 0 } }, listener });
    const answer = await get(url);
    expect(answer.status).to.equal(503);
    expect(answer.headers['x-envoy-overloaded']).to.equal(undefined);
  });
});
