import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { silentLoggers, type ListeningServer } from '@edge-gateway/core';
import { listenRateLimitHttp, type RateLimitService, type Store } from '../../src/index.ts';
import { PER_USER, serve } from './service-harness.ts';

describe('the rate limit server in JSON', () => {
  let server: ListeningServer | undefined;
  afterEach(() => server?.close());

  async function listen(service: RateLimitService): Promise<string> {
    server = await listenRateLimitHttp(service, { address: '127.0.0.1', port: 0, log: silentLoggers.get('filter') });
    return `http://127.0.0.1:${server.port}`;
  }
  const post = (url: string, body: string | Uint8Array, headers = {}) =>
    fetch(`${url}/json`, { method: 'POST', body: body as string, headers });
  const ALICE = '{"domain": "custom", "descriptors": [{"entries": [{"key": "user", "value": "alice"}]}]}';

  it('returns 200, and 429 over the limit, with the statuses', async () => {
    const url = await listen((await serve(PER_USER)).service);
    const first = await post(url, ALICE);
    expect(first.status).to.equal(200);
    expect(first.headers.get('content-type')).to.equal('application/json');
    const currentLimit = { requestsPerUnit: 1, unit: 'MINUTE', name: 'custom.user' };
    expect(await first.json()).to.deep.equal({
      overallCode: 'OK',
      statuses: [{ code: 'OK', currentLimit, durationUntilReset: '30s' }],
    });
    const second = await post(url, ALICE);
    expect(second.status).to.equal(429);
    expect(await second.json()).to.deep.equal({
      overallCode: 'OVER_LIMIT',
      statuses: [{ code: 'OVER_LIMIT', currentLimit, durationUntilReset: '30s' }],
    });
  });

  it('reads both spellings of names, and units and integers as texts', async () => {
    const url = await listen((await serve(PER_USER)).service);
    const entries = [{ key: 'user', value: 'bob' }];
    for (const [body, status] of [
      [{ domain: 'custom', hits_addend: '2', descriptors: [{ entries }] }, 429],
      [
        { domain: 'custom', hitsAddend: 1, descriptors: [{ entries, limit: { requestsPerUnit: 9, unit: 'MINUTE' } }] },
        200,
      ],
      [
        { domain: 'custom', descriptors: [{ entries, limit: { requests_per_unit: 9, unit: 2 }, hitsAddend: '7' }] },
        429,
      ],
      [{ domain: 'custom', hits_addend: null, descriptors: [{ entries: [{ key: 'plan' }], limit: null }] }, 200],
    ] as const) {
      expect((await post(url, JSON.stringify(body))).status).to.equal(status);
    }
  });

  it('rejects what is not a request, and names the field', async () => {
    const url = await listen((await serve(PER_USER)).service);
    const descriptor = (field: string) => `{"domain": "custom", "descriptors": [{${field}}]}`;
    for (const [body, reason] of [
      ['', 'the body is not JSON'],
      ['{"domain"', 'the body is not JSON'],
      ['[]', 'the body must be an object'],
      ['null', 'the body must be an object'],
      ['{}', 'domain must not be empty'],
      ['{"domain": 1}', 'domain must be a string'],
      ['{"domain": "custom", "descriptors": {}}', 'descriptors must be a list'],
      ['{"domain": "custom", "descriptors": [1]}', 'descriptors[0] must be an object'],
      ['{"domain": "custom", "hits_addend": -1}', 'hits_addend must be an integer from 0'],
      ['{"domain": "custom", "hits_addend": 1.5}', 'hits_addend must be an integer from 0'],
      ['{"domain": "custom", "hits_addend": "-1"}', 'hits_addend must be an integer from 0'],
      ['{"domain": "custom", "__proto__": {}}', 'unknown field "__proto__"'],
      ['{"domain": "custom", "extra": 1}', 'unknown field "extra"'],
      [descriptor('"entries": [{"key": 1}]'), 'entries[0].key must be a string'],
      [descriptor('"limit": {"unit": "FORTNIGHT"}'), 'limit.unit must be one of SECOND'],
      [descriptor('"limit": {"unit": "constructor"}'), 'limit.unit must be one of SECOND'],
      [descriptor('"limit": {"unit": 99}'), 'invalid unit 99'],
      [descriptor('"is_negative_hits": 1'), 'is_negative_hits must be a boolean'],
      [descriptor('"isNegativeHits": true'), 'refunds are not supported'],
      ['['.repeat(500_000), 'the body is not JSON'],
    ] as const) {
      const response = await post(url, body);
      expect(response.status, body.slice(0, 80)).to.equal(400);
      expect(await response.text()).to.include(reason);
    }
  });

  it('rejects bodies that are too long or compressed, other methods and other paths', async () => {
    const url = await listen((await serve(PER_USER)).service);
    expect((await post(url, ' '.repeat(2 << 20))).status).to.equal(413);
    expect((await post(url, gzipSync(ALICE), { 'content-encoding': 'gzip' })).status).to.equal(415);
    expect((await fetch(`${url}/json`)).status).to.equal(405);
    expect((await fetch(`${url}/healthcheck`, { method: 'POST' })).status).to.equal(405);
    expect((await fetch(`${url}/other`)).status).to.equal(404);
  });

  it('returns 500 without the reason if the store fails', async () => {
    const store: Store = { count: () => Promise.reject(new Error('redis://:secret@host is down')), close() {} };
    const url = await listen((await serve(PER_USER, { store })).service);
    const response = await post(url, ALICE);
    expect(response.status).to.equal(500);
    expect(await response.text()).to.equal('the request cannot be counted\n');
  });

  it('reports its health until it stops', async () => {
    const url = await listen((await serve({})).service);
    const response = await fetch(`${url}/healthcheck`);
    expect([response.status, await response.text()]).to.deep.equal([200, 'OK']);
    await server!.drain();
    expect(await fetch(`${url}/healthcheck`).catch(() => 'closed')).to.equal('closed');
  });
});
