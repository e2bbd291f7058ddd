import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { createRouter, type Router } from '../../src/router.ts';
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
} from '../snapshots.ts';

const CERTIFICATES = join(import.meta.dirname, '../route/options/certificates');
const read = (name: string): string => readFileSync(join(CERTIFICATES, name), 'utf8');
const pair = (name: string) => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) });

describe('logged requests', () => {
  let directory: string;
  let path: string;
  let router: Router;
  let server: Server | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'logged-requests-'));
    path = join(directory, 'log');
  });
  afterEach(async () => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
    await router.close();
    await stopAll();
    await rm(directory, { recursive: true });
  });

  /** Serves a route, with a log of these operators. */
  function serve(operators: readonly string[], route = directOf('ok'), port = 1, enableTrailers = false) {
    const jsonFormat = Object.fromEntries(operators.map((name) => [name, `%${name}%`]));
    const options = { accessLoggingService: { accessLog: [{ fileSink: { path, jsonFormat } }] } };
    router = createRouter({ context: createContext() });
    const httpOptions = { httpConnectionManagerSettings: { enableTrailers } };
    const upstream = upstreamOf([endpointOf(port)]);
    const spec = { ...upstream.spec, connectionConfig: { http1ProtocolOptions: { enableTrailers } } };
    router.apply(snapshotOf([hostOf([route])], [{ ...upstream, spec }], { options, httpOptions } as never));
    return router.listener(LISTENER);
  }

  async function lines(): Promise<Record<string, never>[]> {
    await router.close();
    return (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, never>);
  }

  describe('of a client with a certificate', () => {
    const PEER = ['SUBJECT', 'ISSUER', 'URI_SAN', 'CERT'].map((name) => `DOWNSTREAM_PEER_${name}`);
    const TLS = ['DOWNSTREAM_TLS_VERSION', 'DOWNSTREAM_TLS_CIPHER', 'REQUESTED_SERVER_NAME'];

    async function listen(route = directOf('ok'), port = 1) {
      const handler = serve([...PEER, ...TLS, 'RESPONSE_FLAGS'], route, port);
      const trust = { ca: read('ca.crt'), requestCert: true, rejectUnauthorized: false };
      server = createServer({ ...pair('server'), ...trust }, (req, res) => handler(req, res, () => res.destroy()));
      await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
      const { port: own } = server.address() as AddressInfo;
      return (who: string | undefined) =>
        httpsRequest({
          host: 'localhost',
          port: own,
          ca: read('ca.crt'),
          servername: 'localhost',
          agent: false,
          ...(who !== undefined && pair(who)),
        });
    }

    const ALICE = {
      DOWNSTREAM_PEER_SUBJECT: 'CN=alice,OU=Web \\"Team\\",O=Shop\\, Inc.,C=DE',
      DOWNSTREAM_PEER_URI_SAN: 'spiffe://shop.example/sa/alice,https://shop.example/a?b=c;d',
      DOWNSTREAM_PEER_CERT: encodeURIComponent(read('client.crt')),
      DOWNSTREAM_TLS_VERSION: 'TLSv1.3',
      REQUESTED_SERVER_NAME: 'localhost',
    };

    it('have its names and its certificate', async () => {
      const request = await listen();
      const [response] = await once(request('client').end(), 'response');
      response.resume();
      await once(response, 'close');
      const [line] = await lines();
      expect(line).to.include(ALICE);
      expect(line!['DOWNSTREAM_PEER_ISSUER']).to.match(/^CN=/);
      expect(line!['DOWNSTREAM_TLS_CIPHER']).to.match(/^TLS_AES_/);
    });

    it('have them also if the client leaves before the response', async () => {
      const received = Promise.withResolvers<void>();
      const upstream = await start(() => received.resolve());
      const request = (await listen(routeOf(), upstream.port))('client');
      request.on('error', () => {}).end();
      await received.promise;
      request.destroy();
      while ((await readFile(path, 'utf8').catch(() => '')) === '')
        await new Promise((resolve) => setImmediate(resolve));
      const [line] = await lines();
      expect(line).to.include({ ...ALICE, RESPONSE_FLAGS: 'DC' });
      expect(line!['DOWNSTREAM_TLS_CIPHER']).to.match(/^TLS_AES_/);
    });

    for (const who of [undefined, 'untrusted'])
      it(`have none of a client ${who === undefined ? 'without one' : 'whose certificate is not trusted'}`, async () => {
        const request = await listen();
        const [response] = await once(request(who).end(), 'response');
        response.resume();
        await once(response, 'close');
        const [line] = await lines();
        for (const name of PEER) expect(line![name], name).to.equal(null);
        expect(line).to.include({ DOWNSTREAM_TLS_VERSION: 'TLSv1.3' });
      });
  });

  describe('that are forwarded', () => {
    const OPERATORS = [
      'REQUEST_DURATION',
      'DURATION',
      'RESPONSE_DURATION',
      'UPSTREAM_LOCAL_ADDRESS',
      'COMMON_DURATION(DS_RX_BEG:DS_RX_END:us)',
    ];

    it('have the time until the last byte of the request, and the local address of the connection', async () => {
      const first = Promise.withResolvers<void>();
      const ports: (number | undefined)[] = [];
      const upstream = await start((req, res) => {
        ports.push(req.socket.remotePort);
        req.once('data', first.resolve).resume();
        req.once('end', () => res.end('ok'));
      });
      const handler = serve(OPERATORS, routeOf(), upstream.port);
      const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
      const begun = performance.now();
      const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent: false });
      request.write('first');
      await first.promise;
      const pauseFrom = performance.now();
      while (performance.now() < pauseFrom + 30) await new Promise((resolve) => setImmediate(resolve));
      request.end('last');
      const [response] = await once(request, 'response');
      response.resume();
      await once(response, 'close');
      const elapsed = performance.now() - begun;
      const [line] = await lines();
      expect(line!['REQUEST_DURATION']).to.be.within(29, Math.ceil(elapsed));
      expect(line!['COMMON_DURATION(DS_RX_BEG:DS_RX_END:us)']).to.be.within(29_000, elapsed * 1_000);
      expect(line!['RESPONSE_DURATION']).to.be.within(line!['REQUEST_DURATION']!, line!['DURATION']!);
      expect(line!['UPSTREAM_LOCAL_ADDRESS']).to.equal(`127.0.0.1:${ports[0]}`);
    });

    it('have the address also of a connection that is reused, or that breaks', async () => {
      const ports: (number | undefined)[] = [];
      const upstream = await start((req, res) => {
        ports.push(req.socket.remotePort);
        if (req.url === '/broken') req.socket.destroy();
        else res.end('ok');
      });
      const handler = serve(OPERATORS, routeOf(), upstream.port);
      const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
      for (const url of ['/a', '/b', '/broken'])
        await (await fetch(`http://127.0.0.1:${port}${url}`, { method: 'POST' })).text();
      const written = await lines();
      expect(new Set(ports)).to.have.lengthOf(1);
      for (const line of written) expect(line['UPSTREAM_LOCAL_ADDRESS']).to.equal(`127.0.0.1:${ports[0]}`);
      expect(written.map((line) => line['REQUEST_DURATION'])).to.deep.equal([0, 0, 0]);
      expect(written[2]!['RESPONSE_DURATION']).to.equal(null);
    });

    it('have none if the connection cannot be opened', async () => {
      const handler = serve(OPERATORS, routeOf(), 1);
      const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).to.equal(503);
      const [line] = await lines();
      expect(line!['UPSTREAM_LOCAL_ADDRESS']).to.equal(null);
    });
  });

  it('have trailers and the gRPC status in them, if trailers are forwarded', async () => {
    const upstream = await start((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/grpc', trailer: 'grpc-status' }).write('x');
      res.addTrailers({ 'Grpc-Status': '5', 'X-Sum': 'abc' });
      res.end();
    });
    for (const enableTrailers of [true, false]) {
      const operators = ['TRAILER(X-SUM)', 'GRPC_STATUS', 'TRAILER(x-absent)'];
      const handler = serve(operators, routeOf(), upstream.port, enableTrailers);
      const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
      await (await fetch(`http://127.0.0.1:${port}/`)).text();
      await router.close();
    }
    expect(await lines()).to.deep.equal([
      { GRPC_STATUS: 'NotFound', 'TRAILER(X-SUM)': 'abc', 'TRAILER(x-absent)': null },
      { GRPC_STATUS: null, 'TRAILER(X-SUM)': null, 'TRAILER(x-absent)': null },
    ]);
  });

  it('have no time of a body that is not read', async () => {
    const handler = serve(['REQUEST_DURATION', 'RESPONSE_CODE']);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
    const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent: false });
    request.on('error', () => {}).write('first');
    await once(request, 'response');
    request.destroy();
    expect(await lines()).to.deep.equal([{ REQUEST_DURATION: null, RESPONSE_CODE: 200 }]);
  });
});
