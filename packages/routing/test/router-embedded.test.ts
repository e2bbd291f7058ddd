import { once } from 'node:events';
import { createRequire } from 'node:module';
import { request as httpRequest, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { WebSocket, WebSocketServer } from 'ws';
import { createRouter, type Router } from '../src/router.ts';
import {
  directOf,
  endpointOf,
  hostOf,
  LISTENER,
  routeOf,
  snapshotOf,
  start,
  stopAll,
  upstreamOf,
} from './snapshots.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;
const JSON_TYPE = { 'content-type': 'application/json' };

/** An upstream that answers with the body it got. */
async function bodyBackend() {
  const { port } = await start((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => res.end(`${req.method} ${req.url} ${body}`));
  });
  return upstreamOf([endpointOf(port)]);
}

/** Sends a path as it is written, which `fetch` does not. */
async function rawGet(port: number, path: string): Promise<[status: number, body: string]> {
  return await new Promise((resolve, reject) => {
    const req = httpRequest({ port, host: '127.0.0.1', path, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve([res.statusCode!, text]));
    });
    req.on('error', reject).end();
  });
}

describe('router in a user’s own server', () => {
  const routers: Router[] = [];
  const made = (router: Router): Router => {
    routers.push(router);
    return router;
  };

  afterEach(async () => {
    await Promise.all(routers.splice(0).map((router) => router.close()));
    await stopAll();
  });

  for (const [version, make] of Object.entries({ 'Express 5': express, 'Express 4': express4 })) {
    describe(`in ${version}`, () => {
      async function app(...before: RequestHandler[]): Promise<string> {
        const router = made(createRouter());
        const routes = [
          routeOf({ matchers: [{ prefix: '/api' }] }),
          directOf('direct', { matchers: [{ exact: '/direct' }] }),
        ];
        router.apply(snapshotOf([hostOf(routes)], [await bodyBackend()]));
        const server = make();
        for (const handler of before) server.use(handler);
        server.get('/mine', (_req, res) => void res.send('mine'));
        server.use(router);
        server.use((_req, res) => void res.status(404).send('nobody'));
        const onError: ErrorRequestHandler = (error, _req, res, _next) =>
          void res.status(error.status).json({ code: error.code });
        server.use(onError);
        const { port } = await start(server);
        return `http://127.0.0.1:${port}`;
      }

      it('serves its routes and passes the others on', async () => {
        const origin = await app();
        const text = async (path: string): Promise<string> => (await fetch(origin + path)).text();
        expect(await text('/mine')).to.equal('mine');
        expect(await text('/api/a?x=1')).to.equal('GET /api/a?x=1 ');
        expect(await text('/direct')).to.equal('direct');
        expect(await text('/other')).to.equal('nobody');
      });

      it('rejects dot segments, which a handler in front may have read otherwise', async () => {
        const guard = make.Router();
        guard.use('/api/admin', (_req, res) => void res.status(403).end());
        const origin = new URL(await app(guard));
        for (const path of ['/api/x/../admin', '/api/x/%2e%2e/admin', '/api/%2e/admin']) {
          const [status, body] = await rawGet(Number(origin.port), path);
          expect([status, JSON.parse(body).code], path).to.deep.equal([400, 'ERR_ROUTING_DOT_SEGMENT']);
        }
        expect(await rawGet(Number(origin.port), '/api//admin')).to.deep.equal([200, 'GET /api//admin ']);
      });

      it('rejects escapes that would hide a path from a guard in front', async () => {
        const guard = make.Router();
        guard.use('/api/admin', (_req, res) => void res.status(403).end());
        const { port } = new URL(await app(guard));
        expect((await rawGet(Number(port), '/api/admin'))[0]).to.equal(403);
        for (const path of ['/api/%61dmin', '/%61pi/admin', '/api/admi%6E']) {
          const [status, body] = await rawGet(Number(port), path);
          expect([status, JSON.parse(body).code], path).to.deep.equal([400, 'ERR_ROUTING_NOT_CANONICAL']);
        }
        expect(await rawGet(Number(port), '/api/a%2Fb%20c')).to.deep.equal([200, 'GET /api/a%2Fb%20c ']);
      });

      it('rejects dot segments below a mount path', async () => {
        const mounted = make();
        const router = made(createRouter());
        router.apply(snapshotOf([hostOf([directOf('open')])]));
        mounted.use('/gw', router);
        const { port } = await start(mounted);
        expect(await rawGet(port, '/gw/a')).to.deep.equal([200, 'open']);
        expect((await rawGet(port, '/gw/../a'))[0]).to.equal(400);
        expect((await rawGet(port, '/gw/a/%2e%2e/b'))[0]).to.equal(400);
      });

      it('streams an unread body', async () => {
        const answer = await fetch(`${await app()}/api`, { method: 'POST', body: 'hello' });
        expect(await answer.text()).to.equal('POST /api hello');
      });

      it('sends a parsed body again', async () => {
        const origin = await app(make.json());
        const answer = await fetch(`${origin}/api`, { method: 'POST', headers: JSON_TYPE, body: '{"a": 1}' });
        expect(await answer.text()).to.equal('POST /api {"a":1}');
      });

      it('passes an error to the app for a consumed body that cannot be sent again', async () => {
        const drain: RequestHandler = (req, _res, next) => void req.resume().on('end', () => next());
        const origin = await app(drain);
        const answer = await fetch(`${origin}/api`, { method: 'POST', body: 'hello' });
        expect([answer.status, await answer.json()]).to.deep.equal([500, { code: 'ERR_ROUTING_BODY_CONSUMED' }]);
      });
    });
  }

  it('responds with 404 itself if configured to', async () => {
    const router = made(createRouter({ fallthrough: 'notFound' }));
    router.apply(snapshotOf([hostOf([directOf('a', { matchers: [{ prefix: '/a' }] })])]));
    const { port } = await start((req, res) => router(req, res, () => res.end('next')));
    expect((await fetch(`http://127.0.0.1:${port}/b`)).status).to.equal(404);
  });

  it('passes everything on before the first snapshot', async () => {
    const router = made(createRouter());
    const { port } = await start((req, res) => router(req, res, () => res.end('next')));
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).to.equal('next');
  });

  it('passes WebSocket upgrades, and rejects those that no route allows', async () => {
    const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(sockets, 'listening');
    const seen: (string | undefined)[] = [];
    sockets.on('connection', (socket, req) => {
      seen.push(req.url);
      socket.send(`${req.url} ${req.headers['x-added']} ${req.headers['proxy-authorization']}`);
    });
    const { port: target } = sockets.address() as AddressInfo;
    const headerManipulation = { requestHeadersToAdd: [{ header: { key: 'x-added', value: 'yes' } }] };
    const routes = [
      routeOf({ matchers: [{ prefix: '/closed' }], options: { upgrades: [{ websocket: { enabled: false } }] } }),
      routeOf({ matchers: [{ prefix: '/ws' }], options: { prefixRewrite: '/chat', headerManipulation } }),
    ];
    const router = made(createRouter());
    router.apply(snapshotOf([hostOf(routes)], [upstreamOf([endpointOf(target)])]));
    const server = createServer();
    server.on('upgrade', (req, socket, head) => {
      if (req.headers['x-embedded']) router.upgrade(req, socket, head);
      else router.listener(LISTENER).upgrade!(req, socket, head);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const headers = { 'proxy-authorization': 'Basic eA==' };
    const client = new WebSocket(`ws://127.0.0.1:${port}/ws?x=1`, { headers });
    const [message] = await once(client, 'message');
    expect(String(message)).to.equal('/chat?x=1 yes undefined');
    client.close();
    await once(client, 'close');

    const statusOf = (path: string, more = {}, instead = {}): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = {
          ...more,
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          ...instead,
        };
        const req = httpRequest({ port, host: '127.0.0.1', path, headers });
        req.on('response', (res) => resolve(res.resume().statusCode)).on('error', reject);
        req.on('upgrade', (_res, socket) => resolve((socket.destroy(), 101)));
        req.end();
      });
    expect(await statusOf('/closed')).to.equal(403);
    expect(await statusOf('/none')).to.equal(404);
    expect(await statusOf('/x/../closed')).to.equal(403);
    expect(await statusOf('/x/%2e%2e/ws//y')).to.equal(101);
    expect(seen.at(-1)).to.equal('/chat//y');
    expect(await statusOf('/x/../ws', { 'x-embedded': '1' })).to.equal(400);
    expect(await statusOf('/ws', { 'x-embedded': '1' }, { upgrade: 'h2c' })).to.equal(400);
    server.close();
    sockets.close();
  });
});
