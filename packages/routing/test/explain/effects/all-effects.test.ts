import { expect } from 'chai';
import { createContext, DEFAULT_SNAPSHOT_SETTINGS, type Snapshot } from '@edge-gateway/core';
import type { HttpListenerOptions, RouteOptions } from '@edge-gateway/core/schema';
import { createListeners, createRouter, explainRequest, type RequestToExplain } from '../../../src/index.ts';
import { exchange } from '../../listen/serving.ts';
import { directOf, endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../../snapshots.ts';

const CORS = { allowOrigin: ['https://shop.example'], allowMethods: ['PUT'] };
const share = (numerator: number) => ({ defaultValue: { numerator } });

interface Case {
  readonly name: string;
  readonly options?: RouteOptions;
  readonly http?: HttpListenerOptions;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly effects: readonly string[];
  /** Of a request that an option ends. */
  readonly status?: number;
}

const CASES: readonly Case[] = [
  { name: 'no option', effects: [] },
  {
    name: 'a gRPC-JSON transcoder',
    http: { grpcJsonTranscoder: { services: ['shop.Shop'], protoDescriptorBin: '' } },
    effects: ['grpcJsonTranscoder: becomes a gRPC call if an HTTP rule of shop.Shop matches'],
  },
  {
    name: 'an allowed origin',
    options: { cors: CORS },
    headers: { origin: 'https://shop.example' },
    effects: ['cors: the origin https://shop.example is allowed'],
  },
  {
    name: 'a foreign origin',
    options: { cors: CORS },
    headers: { origin: 'https://evil.example' },
    effects: ['cors: the origin https://evil.example is not allowed: browsers withhold the response from its pages'],
  },
  { name: 'no origin', options: { cors: CORS }, effects: [] },
  {
    name: 'CORS that is disabled',
    options: { cors: { disableForRoute: true } },
    headers: { origin: 'https://a' },
    effects: [],
  },
  {
    name: 'a preflight',
    options: { cors: CORS },
    method: 'OPTIONS',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'PUT' },
    effects: ['cors: the gateway responds to the preflight of the allowed origin https://shop.example'],
    status: 200,
  },
  {
    name: 'a foreign origin with CSRF checks',
    options: { csrf: { filterEnabled: share(100) } },
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    effects: ['csrf: the origin is not allowed'],
    status: 403,
  },
  {
    name: 'no origin with CSRF checks of the listener',
    http: { csrf: { filterEnabled: share(100) } },
    method: 'POST',
    effects: ['csrf: the origin is missing'],
    status: 403,
  },
  {
    name: 'the own origin with CSRF checks',
    options: { csrf: { filterEnabled: share(100) } },
    method: 'POST',
    headers: { origin: 'http://a' },
    effects: ['csrf: the origin is allowed'],
  },
  {
    name: 'CSRF checks of some requests',
    options: { csrf: { filterEnabled: share(25) } },
    method: 'POST',
    effects: ['csrf: the origin is missing: this rejects 25 % of the requests, at random'],
  },
  {
    name: 'CSRF checks that are counted',
    options: { csrf: { shadowEnabled: share(100) } },
    method: 'POST',
    effects: ['csrf: the origin is missing: this is counted, not rejected'],
  },
  { name: 'a method without CSRF checks', options: { csrf: { filterEnabled: share(100) } }, effects: [] },
  {
    name: 'faults',
    options: { faults: { abort: { percentage: 0.5, httpStatus: 503 }, delay: { percentage: 100, fixedDelay: '5s' } } },
    effects: ['faults: delays every request, by 5s; aborts 0.5 % of the requests, at random, with 503'],
  },
  {
    name: 'a fault of every request',
    options: { faults: { abort: { percentage: 100, httpStatus: 418 } }, cors: CORS },
    headers: { origin: 'https://shop.example' },
    effects: ['faults: aborts every request, with 418'],
    status: 418,
  },
  {
    name: 'a body over the limit of its route',
    options: { bufferPerRoute: { buffer: { maxRequestBytes: 8 } } },
    http: { buffer: { maxRequestBytes: 1024 } },
    method: 'POST',
    headers: { 'content-length': '9' },
    effects: ['bufferPerRoute: the body of 9 bytes exceeds the limit of 8'],
    status: 413,
  },
  {
    name: 'a body within the limit',
    http: { buffer: { maxRequestBytes: 1024 } },
    method: 'POST',
    headers: { 'content-length': '9' },
    effects: ['bufferPerRoute: the body of 9 bytes is within the limit of 1024'],
  },
  {
    name: 'a body of unknown length',
    http: { buffer: { maxRequestBytes: 8 } },
    method: 'POST',
    headers: { 'transfer-encoding': 'chunked' },
    effects: ['bufferPerRoute: a body of more than 8 bytes is rejected'],
  },
  {
    name: 'a limit that the route disables',
    options: { bufferPerRoute: { disabled: true } },
    http: { buffer: { maxRequestBytes: 8 } },
    method: 'POST',
    headers: { 'content-length': '9' },
    effects: [],
  },
  {
    name: 'a limit of a route whose listener does not buffer',
    options: { bufferPerRoute: { buffer: { maxRequestBytes: 8 } } },
    method: 'POST',
    headers: { 'content-length': '9' },
    effects: [],
  },
  {
    name: 'a compressed response',
    http: { gzip: {} },
    headers: { 'accept-encoding': 'gzip' },
    effects: ['gzip: the response is compressed with gzip, if its type, size and headers allow it'],
  },
  {
    name: 'a response that the client does not want compressed',
    http: { gzip: {} },
    effects: ['gzip: the response is not compressed: accept-encoding names no encoding for it'],
  },
  {
    name: 'masks',
    options: { dlp: { actions: [{ actionType: 'SSN' }], enabledFor: 'ALL' } },
    effects: ['dlp: masks values in the response and the access log'],
  },
  {
    name: 'masks of the listener for other paths',
    http: { dlp: { dlpRules: [{ matcher: { prefix: '/other' }, actions: [{ actionType: 'SSN' }] }] } },
    effects: [],
  },
];

const FORWARDED: readonly Case[] = [
  {
    name: 'a rewritten path',
    options: { prefixRewrite: '/v1/' },
    effects: ['prefixRewrite: the path becomes /v1/pets'],
  },
  {
    name: 'a path that an expression rewrites',
    options: { regexRewrite: { pattern: { regex: 'pets' }, substitution: 'dogs' } },
    effects: ['regexRewrite: the path becomes /dogs'],
  },
  {
    name: 'a path that the expression does not match',
    options: { regexRewrite: { pattern: { regex: 'x' } } },
    effects: [],
  },
  {
    name: 'retries',
    options: { retries: { retryOn: '5xx,reset', numRetries: 3 } },
    effects: ['retries: at most 3 retries on 5xx, reset'],
  },
  {
    name: 'retries of a chunked body',
    options: { retries: { retryOn: '5xx' } },
    method: 'POST',
    headers: { 'transfer-encoding': 'chunked' },
    effects: ['retries: at most 1 retry on 5xx, unless the body exceeds 1048576 bytes'],
  },
  {
    name: 'retries of a large body',
    options: { retries: { retryOn: '5xx' } },
    method: 'POST',
    headers: { 'content-length': '2000000' },
    effects: ['retries: never retried: the body of 2000000 bytes exceeds the limit of 1048576'],
  },
  {
    name: 'copies to another upstream',
    options: { shadowing: { upstream: { name: 'next', namespace: 'gw-system' }, percentage: 10 } },
    effects: ['shadowing: copies 10 % of the requests, at random to upstream gw-system/next'],
  },
  {
    name: 'an external processor',
    effects: ['extProc: upstream gw-system/processor may change the request or respond (not called by this command)'],
    http: { extProc: { grpcService: { extProcServerRef: { name: 'processor', namespace: 'gw-system' } } } },
  },
  {
    name: 'an external processor that the route disables',
    options: { extProc: { disabled: true } },
    http: { extProc: { grpcService: { extProcServerRef: { name: 'processor', namespace: 'gw-system' } } } },
    effects: [],
  },
];

function explained(snapshot: Snapshot, { method = 'GET', headers = {} }: Case, more: Partial<RequestToExplain> = {}) {
  return explainRequest(snapshot, { method, url: 'http://a/pets', headers, ...more });
}

const textOf = ({ effects }: ReturnType<typeof explained>): string[] =>
  effects.map(({ option, effect }) => `${option}: ${effect}`);

describe('effects of options in explanations', () => {
  for (const each of CASES) {
    const { name, options = {}, http = {}, method = 'GET', headers = {}, effects, status } = each;
    it(`names that of ${name}${status === undefined ? '' : ', with the status that is served'}`, async () => {
      const snapshot = snapshotOf([hostOf([directOf('served', { options })])], [], { httpOptions: http });
      const explanation = explained(snapshot, each);
      expect(textOf(explanation)).to.deep.equal(effects);
      expect(explanation.outcome).to.include({ type: 'reply', status: status ?? 200 });
      if (status === undefined) return;
      const context = createContext();
      const router = createRouter({ context, accessLog: 'none' });
      router.apply(snapshot);
      const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
      try {
        const [bound] = await listeners.apply(snapshot);
        const lines = Object.entries({ host: 'a', connection: 'close', ...headers }).map(
          ([key, value]) => `${key}: ${value}\r\n`,
        );
        const { statuses } = await exchange(bound!.port!, `${method} /pets HTTP/1.1\r\n${lines.join('')}\r\n`);
        expect(statuses).to.deep.equal([status]);
      } finally {
        await listeners.close();
        await router.close();
      }
    });
  }

  for (const each of FORWARDED) {
    it(`names that of ${each.name}`, () => {
      const { options = {}, http = {}, effects } = each;
      const upstreams = [upstreamOf([endpointOf(9)])];
      const snapshot = snapshotOf([hostOf([routeOf({ options })])], upstreams, { httpOptions: http });
      expect(textOf(explained(snapshot, each))).to.deep.equal(effects);
    });
  }

  it('names the function that a destination calls', () => {
    const rest = { functionName: 'findPetById', template: {} };
    const destinations = [{ upstream: 'up_gw-system', weight: 1, options: {}, rest }];
    const routes = [routeOf({ action: { type: 'forward', destinations } })];
    const snapshot = snapshotOf([hostOf(routes)], [upstreamOf([endpointOf(9)])]);
    expect(textOf(explained(snapshot, { name: '', effects: [] }))).to.deep.equal([
      'destinationSpec: the template of the function findPetById renders the request',
    ]);
  });

  it('names the processor of the settings', () => {
    const grpcService = { extProcServerRef: { name: 'processor', namespace: '' } };
    const settings = { ...DEFAULT_SNAPSHOT_SETTINGS, extProcEarly: { grpcService } };
    const snapshot = { ...snapshotOf([hostOf([directOf('served')])]), settings };
    expect(textOf(explained(snapshot, { name: '', effects: [] }))).to.have.lengthOf(1);
    expect(textOf(explained(snapshot, { name: '', effects: [] }))[0]).to.include(
      'extProcEarly: upstream gw-system/processor',
    );
  });

  it('names only the effects before a rejection', () => {
    const options = { cors: CORS, prefixRewrite: '/v1/', csrf: { filterEnabled: share(100) } };
    const snapshot = snapshotOf([hostOf([routeOf({ options })])], [upstreamOf([endpointOf(9)])]);
    const headers = { origin: 'https://shop.example' };
    const denied = { status: 403, body: '', reason: 'denied' };
    const explanation = explained(
      snapshot,
      { name: '', method: 'POST', headers, effects: [] },
      { admit: () => denied },
    );
    expect(textOf(explanation)).to.deep.equal(['cors: the origin https://shop.example is allowed']);
    expect(explanation.outcome).to.include(denied);
  });
});
