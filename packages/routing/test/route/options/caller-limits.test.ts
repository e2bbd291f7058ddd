import { createContext, type Route } from '@edge-gateway/core';
import { expect } from 'chai';
import { createServer } from 'node:http';
import { compileAttempts } from '../../../src/route/options/attempts.ts';
import { limitsForCaller } from '../../../src/route/options/caller-limits.ts';
import { createRouter } from '../../../src/router.ts';
import { closeAll, get, listen, rawUpstream, whenDone } from '../../forward/harness.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, upstreamOf } from '../../snapshots.ts';

const LOOPBACK = { cidrRanges: [{ addressPrefix: '127.0.0.0', prefixLen: 8 }] };

/** A router in front of an upstream that responds with the heads in turn, the last one for good; an empty one is no response. */
async function serving(heads: readonly string[], route: Route['options'] = {}, internalAddressConfig?: object) {
  const upstream = await rawUpstream((socket, _request, index) => {
    const head = heads[Math.min(index, heads.length - 1)]!;
    if (head !== '') socket.write(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`);
  });
  const router = createRouter({ context: createContext() });
  const httpOptions = { httpConnectionManagerSettings: { ...(internalAddressConfig && { internalAddressConfig }) } };
  const hosts = [hostOf([routeOf({ options: route })])];
  router.apply(snapshotOf(hosts, [upstreamOf([endpointOf(upstream.port)])], { httpOptions }));
  const handler = router.listener(LISTENER);
  const server = createServer((req, res) => handler(req, res, () => res.destroy()));
  const url = `http://127.0.0.1:${await listen(server)}`;
  whenDone(async () => {
    server.closeAllConnections();
    server.close();
    await router.close();
  });
  const send = async (headers: Record<string, string>): Promise<number> => (await get(url, { headers })).status;
  return { upstream, send };
}

describe('limits of internal callers', () => {
  afterEach(closeAll);

  const cases: readonly (readonly [string, Record<string, string>, string])[] = [
    ['x-envoy-retry-on', { 'x-envoy-retry-on': '5xx' }, '500 Bad'],
    ['x-envoy-retry-grpc-on', { 'x-envoy-retry-grpc-on': 'unavailable' }, '200 OK\r\ngrpc-status: 14'],
    [
      'x-envoy-retriable-status-codes',
      { 'x-envoy-retry-on': 'retriable-status-codes', 'x-envoy-retriable-status-codes': '418, 404' },
      '404 None',
    ],
    [
      'x-envoy-retriable-header-names',
      { 'x-envoy-retry-on': 'retriable-headers', 'x-envoy-retriable-header-names': 'X-Again' },
      '200 OK\r\nx-again: yes',
    ],
  ];
  for (const [name, headers, first] of cases) {
    it(`${name} retries`, async () => {
      const { upstream, send } = await serving([first, '204 Fine'], {}, LOOPBACK);
      expect(await send(headers)).to.equal(204);
      expect(upstream.requests).to.have.length(2);
      expect(upstream.requests.join('')).not.to.match(/x-envoy-(?:retr|max|upstream)/i);
    });

    it(`${name} is ignored from other callers`, async () => {
      const external = { cidrRanges: [{ addressPrefix: '10.0.0.0', prefixLen: 8 }] };
      for (const config of [undefined, external]) {
        const { upstream, send } = await serving([first, '204 Fine'], {}, config);
        expect(await send(headers)).to.equal(Number(first.slice(0, 3)));
        expect(upstream.requests.join('')).not.to.match(/x-envoy-(?:retr|max|upstream)/i);
      }
    });

    it(`${name} is ignored from a client behind an internal proxy`, async () => {
      const { send } = await serving([first, '204 Fine'], {}, LOOPBACK);
      expect(await send({ ...headers, 'x-forwarded-for': '203.0.113.7' })).to.equal(Number(first.slice(0, 3)));
    });
  }

  it('are ignored unless the gateway marked the caller as internal', () => {
    const policy = { ...compileAttempts([], 1000), timeoutHeader: '1000' };
    const headers = (mark: string) => ['x-envoy-internal', mark, 'x-envoy-upstream-rq-timeout-ms', '5'];
    expect(limitsForCaller(policy, headers('false'), true)).to.equal(policy);
    expect(limitsForCaller(policy, headers('true'), true)).to.include({ timeoutMs: 5, timeoutHeader: '5' });
  });

  it('x-envoy-max-retries replaces the number of the route', async () => {
    const retries = { retryOn: '5xx', retryBackOff: { baseInterval: '1ms' } };
    const more = await serving(['500 Bad', '500 Bad', '500 Bad', '204 Fine'], { retries }, LOOPBACK);
    expect(await more.send({ 'x-envoy-max-retries': '3', 'x-envoy-retry-on': 'reset' })).to.equal(204);
    const none = await serving(['500 Bad', '204 Fine'], { retries }, LOOPBACK);
    expect(await none.send({ 'x-envoy-max-retries': '0' })).to.equal(500);
  });

  it('x-envoy-upstream-rq-timeout-ms replaces the timeout of the route', async () => {
    const { upstream, send } = await serving([''], {}, LOOPBACK);
    expect(await send({ 'x-envoy-upstream-rq-timeout-ms': '50' })).to.equal(504);
    expect(upstream.requests[0]).to.contain('x-envoy-expected-rq-timeout-ms: 50\r\n');
  });

  it('x-envoy-upstream-rq-per-try-timeout-ms limits each attempt', async () => {
    const { upstream, send } = await serving(['', '204 Fine'], {}, LOOPBACK);
    const headers = { 'x-envoy-upstream-rq-per-try-timeout-ms': '50', 'x-envoy-retry-on': '5xx' };
    expect(await send(headers)).to.equal(204);
    expect(upstream.requests[0]).to.contain('x-envoy-expected-rq-timeout-ms: 50\r\n');
  });

  for (const value of ['', 'soon', '-1', '1.5', '9'.repeat(20), '0x10']) {
    it(`ignores the invalid number ${JSON.stringify(value)}`, async () => {
      const { upstream, send } = await serving(['204 Fine'], {}, LOOPBACK);
      const headers = {
        'x-envoy-upstream-rq-timeout-ms': value,
        'x-envoy-upstream-rq-per-try-timeout-ms': value,
        'x-envoy-max-retries': value,
        'x-envoy-retriable-status-codes': value,
      };
      expect(await send(headers)).to.equal(204);
      expect(upstream.requests[0]).to.contain('x-envoy-expected-rq-timeout-ms: 15000\r\n');
    });
  }
});
