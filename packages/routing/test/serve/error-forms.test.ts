import { expect } from 'chai';
import {
  createContext,
  DEFAULT_SNAPSHOT_SETTINGS,
  GatewayError,
  type Concern,
  type GatewayErrorOptions,
  type Route,
} from '@edge-gateway/core';
import { createListeners, createRouter } from '../../src/index.ts';
import { http2Client } from '../listen/http2/client.ts';
import { ask, type Answer, type Asked } from '../served.ts';
import { directOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

/** Rejects the requests of a route with the error in its options. */
const denying: Concern<GatewayErrorOptions> = {
  name: 'denying',
  option: 'denying',
  stage: 'rbac',
  compile: (options) => (_req, _res, next) => next(new GatewayError('for the log', options)),
};

const denied = (path: string, denying: GatewayErrorOptions): Route =>
  directOf('never', { name: path, matchers: [{ exact: path }], options: { denying } as Route['options'] });

const ROUTES: readonly Route[] = [
  denied('/401', { code: 'ERR_TEST_TOKEN', status: 401, reply: { body: 'Jwt is missing' } }),
  denied('/403', { code: 'ERR_TEST_DENIED', status: 403, reply: { body: 'RBAC: access denied' } }),
  denied('/403-empty', { code: 'ERR_TEST_DENIED', status: 403, reply: { body: '', isFinal: true } }),
  denied('/403-final', { code: 'ERR_TEST_DENIED', status: 403, reply: { body: 'theirs', isFinal: true } }),
  denied('/413', { code: 'ERR_TEST_LARGE', status: 413 }),
  denied('/429', { code: 'ERR_TEST_LIMITED', status: 429, reply: { body: '' } }),
  denied('/500', { code: 'ERR_TEST_BROKEN' }),
  routeOf({ name: 'idle', matchers: [{ exact: '/503' }], to: 'idle_gw-system' }),
  routeOf({ name: 'gone', matchers: [{ exact: '/503-empty' }], to: 'gone_gw-system' }),
  directOf('mine', { name: 'direct', matchers: [{ exact: '/direct' }] }),
];

const MANY = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x-${i}`, '1']));

/** What clients receive by default: a text, an empty one, or JSON. `message` is that of JSON if the text is another. */
const ERRORS: readonly (readonly [
  path: string,
  status: number,
  code: string,
  text: string | undefined,
  asked?: Asked,
])[] = [
  ['/400\\', 400, 'ERR_ROUTING_BACKSLASH', undefined],
  ['/401', 401, 'ERR_TEST_TOKEN', 'Jwt is missing'],
  ['/403', 403, 'ERR_TEST_DENIED', 'RBAC: access denied'],
  ['/403-empty', 403, 'ERR_TEST_DENIED', ''],
  ['/404', 404, 'ERR_ROUTING_NO_ROUTE', ''],
  ['/413', 413, 'ERR_TEST_LARGE', undefined],
  ['/429', 429, 'ERR_TEST_LIMITED', ''],
  ['/431', 431, 'ERR_ROUTING_TOO_MANY_HEADERS', undefined, { headers: MANY }],
  ['/500', 500, 'ERR_TEST_BROKEN', undefined],
  ['/503', 503, 'ERR_ROUTING_NO_ENDPOINT', 'no healthy upstream'],
  ['/503-empty', 503, 'ERR_ROUTING_NO_CLUSTER', ''],
];

const JSON_CLIENTS = ['application/json', 'application/problem+json', 'application/json, text/plain, */*'];

for (const version of ['1.1', '2'] as const)
  describe(`errors over HTTP/${version}`, () => {
    let close: (() => Promise<void>) | undefined;
    afterEach(async () => {
      await close?.();
      close = undefined;
    });

    /** Starts a gateway, and returns how to send a request to it. */
    async function start(jsonErrors?: boolean): Promise<(path: string, asked?: Asked) => Promise<Answer>> {
      const context = createContext();
      const router = createRouter({ context, concerns: [denying], accessLog: 'none' });
      const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
      const settings = { ...DEFAULT_SNAPSHOT_SETTINGS, ...(jsonErrors !== undefined && { jsonErrors }) };
      const snapshot = { ...snapshotOf([hostOf(ROUTES)], [upstreamOf([], 'idle')]), settings };
      router.apply(snapshot);
      const [result] = await listeners.apply(snapshot);
      const port = result!.port!;
      const client = version === '2' ? await http2Client(port) : undefined;
      close = async () => {
        client?.close();
        await listeners.close();
        await router.close();
      };
      if (!client) return async (path, asked) => await ask(port, path, asked);
      return async (path, { headers, ...asked } = {}) =>
        await client.ask(path, { ...asked, headers: { ':authority': 'a.example', ...headers } });
    }

    const expectJson = (
      { status, headers, body }: Answer,
      wanted: readonly [number, string, string | undefined],
    ): void => {
      const { code, message, requestId, ...others } = JSON.parse(body) as Record<string, string>;
      expect([status, code, headers['content-type'], others]).to.deep.equal([
        wanted[0],
        wanted[1],
        'application/json',
        {},
      ]);
      expect(message).to.not.equal('');
      if (wanted[2]) expect(message).to.equal(wanted[2]);
      expect(requestId)
        .to.equal(headers['x-request-id'])
        .and.to.match(/^[0-9a-f-]{36}$/);
    };

    for (const [path, status, code, text, asked] of ERRORS) {
      const is = text === undefined ? 'JSON' : text === '' ? 'an empty body' : 'a text';
      it(`send ${status} ${code} with ${is} and the request id`, async () => {
        const send = await start();
        for (const accept of ['*/*', 'text/plain']) {
          const reply = await send(path, { ...asked, headers: { ...asked?.headers, accept } });
          expect(reply.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
          if (text === undefined) expectJson(reply, [status, code, undefined]);
          else expect([reply.status, reply.body]).to.deep.equal([status, text]);
        }
      });

      it(`send ${status} ${code} with ${text ? 'a text' : 'JSON'} to clients that prefer JSON`, async () => {
        const send = await start();
        for (const accept of JSON_CLIENTS) {
          const reply = await send(path, { ...asked, headers: { ...asked?.headers, accept } });
          if (text) expect([reply.status, reply.body]).to.deep.equal([status, text]);
          else expectJson(reply, [status, code, undefined]);
        }
      });

      it(`send ${status} ${code} with JSON to clients that prefer it if jsonErrors is set`, async () => {
        const send = await start(true);
        for (const accept of JSON_CLIENTS)
          expectJson(await send(path, { ...asked, headers: { ...asked?.headers, accept } }), [status, code, text]);
        const plain = await send(path, asked);
        if (text === undefined) expectJson(plain, [status, code, undefined]);
        else expect(plain.body).to.equal(text);
      });

      it(`send ${status} ${code} with a page to browsers`, async () => {
        const send = await start(true);
        const headers = { ...asked?.headers, 'sec-fetch-mode': 'navigate', accept: 'application/json' };
        const reply = await send(path, { ...asked, headers });
        expect([reply.status, reply.headers['content-type']]).to.deep.equal([status, 'text/html; charset=utf-8']);
        expect(reply.body).to.contain(code).and.contain(String(reply.headers['x-request-id']));
      });
    }

    it('leave the body of another author and configured responses unchanged', async () => {
      const send = await start(true);
      const headers = { accept: 'application/json' };
      const final = await send('/403-final', { headers });
      expect([final.status, final.body]).to.deep.equal([403, 'theirs']);
      expect(final.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
      const direct = await send('/direct', { headers });
      expect([direct.status, direct.body, direct.headers['x-request-id']]).to.deep.equal([200, 'mine', undefined]);
    });
  });
