import { compileRetries } from '@edge-gateway/core';
import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { ForwardHead } from '../../src/forward/forward.ts';
import { closeAll, gateway, httpUpstream, rawClient, rawUpstream, snapshotOf, until, type Gateway } from './harness.ts';

const RULES = { dropsUnderscores: false };
const SPEC = { connectionConfig: { http1ProtocolOptions: { enableTrailers: true } } };
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n';

function serving(port: number, head: Partial<ForwardHead> = {}, spec: object = SPEC): Promise<Gateway> {
  return gateway({ upstream: snapshotOf(port, { spec }), head: () => ({ trailers: RULES, ...head }) });
}

/** Sends a chunked request with trailers. */
async function sendWith(url: string, trailers: readonly [string, string][]): Promise<number> {
  const req = request(url, { method: 'POST', agent: false, headers: { 'transfer-encoding': 'chunked' } });
  req.addTrailers(trailers);
  return await new Promise((resolve, reject) => {
    req.on('error', reject).on('response', (res) => res.resume().on('end', () => resolve(res.statusCode!)));
    req.end('hello');
  });
}

/** Reads a response with its trailers. */
async function receive(url: string, method = 'GET'): Promise<IncomingMessage & { readonly body: string }> {
  return await new Promise((resolve, reject) => {
    const req = request(url, { method, agent: false }, (res) => {
      let body = '';
      res.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
      res.on('error', () => {}).on('close', () => resolve(Object.assign(res, { body })));
    });
    req.on('error', reject).end();
  });
}

/** An upstream that keeps the trailers of its requests, and fails the first ones. */
async function keeping(failures = 0): Promise<{ readonly port: number; readonly trailers: string[][] }> {
  const trailers: string[][] = [];
  const port = await httpUpstream((req, res) => {
    req.resume().on('end', () => {
      trailers.push(req.rawTrailers);
      res.writeHead(trailers.length <= failures ? 503 : 200).end();
    });
  });
  return { port, trailers };
}

/** An upstream that sends a chunked response with these lines after its last chunk. */
async function ending(lines: string, headers = ''): Promise<number> {
  const upstream = await rawUpstream((socket) => {
    socket.write(`${CHUNKED}${headers}\r\n5\r\nhello\r\n0\r\n${lines}\r\n`);
  });
  return upstream.port;
}

describe('trailers', () => {
  afterEach(closeAll);

  describe('of a request', () => {
    it('are sent after the body, except those that frame, route or identify it or repeat a header', async () => {
      const upstream = await keeping();
      const gw = await serving(upstream.port, {
        headers: ['host', 'a', 'x-user', '1'],
        guardedNames: [new Set(['x-email'])],
      });
      const sent: [string, string][] = [
        ['X-Sum', 'a b'],
        ['x-sum', 'é'],
        ['Host', 'b'],
        ['authorization', 'secret'],
        ['content_type', 'a'],
        ['X-User', '2'],
        ['x_user', '3'],
        ['x-forwarded-for', '1.1.1.1'],
        ['x-auth-user', 'forged'],
        ['X_Remote_User', 'forged'],
        ['true-client-ip', '1.1.1.1'],
        ['x_email', 'forged'],
      ];
      expect(await sendWith(gw.url, sent)).to.equal(200);
      expect(upstream.trailers).to.deep.equal([['x-sum', 'a b', 'x-sum', 'é']]);
    });

    it('are sent without names with underscores where those are dropped', async () => {
      const upstream = await keeping();
      const gw = await serving(upstream.port, { trailers: { dropsUnderscores: true } });
      await sendWith(gw.url, [
        ['x_a', '1'],
        ['x-b', '2'],
      ]);
      expect(upstream.trailers).to.deep.equal([['x-b', '2']]);
    });

    it('are sent again with each attempt', async () => {
      const upstream = await keeping(1);
      const retries = compileRetries({ retryOn: '5xx', numRetries: 1, retryBackOff: { baseInterval: '1ms' } });
      const gw = await serving(upstream.port, { retries });
      expect(await sendWith(gw.url, [['x-sum', '1']])).to.equal(200);
      expect(upstream.trailers).to.deep.equal([
        ['x-sum', '1'],
        ['x-sum', '1'],
      ]);
    });

    it('are dropped unless the listener and the upstream enable them', async () => {
      const upstream = await keeping();
      const only = await serving(upstream.port, {}, {});
      const none = await serving(upstream.port, { trailers: undefined });
      await sendWith(only.url, [['x-sum', '1']]);
      await sendWith(none.url, [['x-sum', '1']]);
      expect(upstream.trailers).to.deep.equal([[], []]);
    });
  });

  describe('of a response', () => {
    it('are sent after the body, except those that recipients must know before it', async () => {
      const lines = 'X-Sum: 1 \r\nset-cookie: a=b\r\nCache_Control: no-store\r\nserver: b\r\nx-sum: 2\r\n';
      const seen: (readonly string[])[] = [];
      const gw = await serving(await ending(lines, 'server: a\r\n'), { onTrailers: (flat) => seen.push(flat) });
      const { rawTrailers, body, headers } = await receive(gw.url);
      expect({ rawTrailers, body }).to.deep.equal({ rawTrailers: ['x-sum', '1', 'x-sum', '2'], body: 'hello' });
      expect(headers).to.include({ 'transfer-encoding': 'chunked' });
      expect(seen).to.deep.equal([['X-Sum', '1', 'x-sum', '2']]);
    });

    it('are sent when they arrive after the body', async () => {
      const upstream = await rawUpstream((socket) =>
        socket.write(`${CHUNKED}Trailer: X-Sum, age\r\n\r\n5\r\nhello\r\n`),
      );
      const gw = await serving(upstream.port);
      const receiving = receive(gw.url);
      await until(() => upstream.requests.length === 1);
      for (const socket of upstream.sockets) socket.write('0\r\nx-su');
      for (const socket of upstream.sockets) socket.write('m: 1\r\n\r\n');
      const { rawTrailers, headers } = await receiving;
      expect(rawTrailers).to.deep.equal(['x-sum', '1']);
      expect(headers.trailer).to.equal('X-Sum');
    });

    it('are not sent to HTTP/1.0, where the connection ends the body', async () => {
      const gw = await serving(await ending('x-sum: 1\r\n', 'trailer: x-sum\r\n'));
      const { text } = await rawClient(gw.port, 'GET / HTTP/1.0\r\n\r\n');
      expect(text).to.match(/\r\n\r\nhello$/);
      expect(text).to.not.match(/trailer|x-sum/i);
    });

    it('are not sent for HEAD', async () => {
      const upstream = await rawUpstream((socket) => socket.write(`${CHUNKED}trailer: x-sum\r\n\r\n`));
      const gw = await serving(upstream.port);
      const { rawTrailers, headers, statusCode } = await receive(gw.url, 'HEAD');
      expect({ rawTrailers, statusCode }).to.deep.equal({ rawTrailers: [], statusCode: 200 });
      expect(headers).to.not.have.property('trailer');
    });

    it('are dropped unless the listener and the upstream enable them', async () => {
      const port = await ending('x-sum: 1\r\n', 'trailer: x-sum\r\n');
      for (const gw of [await serving(port, {}, {}), await serving(port, { trailers: undefined })]) {
        const { rawTrailers, headers } = await receive(gw.url);
        expect(rawTrailers).to.deep.equal([]);
        expect(headers).to.not.have.property('trailer');
      }
    });

    it('give 502 if there are too many', async () => {
      const gw = await serving(await ending('x: 1\r\n'.repeat(101)));
      expect((await receive(gw.url)).statusCode).to.equal(502);
      expect(gw.outcomes[0]).to.include({ flags: 'UPE' });
    });
  });
});
