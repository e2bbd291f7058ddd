import { once } from 'node:events';
import { connect, createServer, type Http2Server, type IncomingHttpHeaders } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Handler } from '@edge-gateway/core';
import { createRouter, forwardTo } from '../src/index.ts';
import { directOf, hostOf, snapshotOf } from './snapshots.ts';

describe('servers of node:http2', () => {
  let server: Http2Server;
  afterEach(() => server.close());

  /** Serves a handler with the compatibility API; returns the status and code of one response. */
  async function ask(handler: Handler): Promise<[status: unknown, body: string]> {
    server = createServer((req, res) => {
      handler(req as unknown as IncomingMessage, res as unknown as ServerResponse, (error) => {
        const { status = 404, code = 'none' } = (error ?? {}) as { status?: number; code?: string };
        res.writeHead(status).end(code);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const stream = session.request({ ':path': '/' });
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    let body = '';
    for await (const chunk of stream) body += String(chunk);
    session.close();
    return [head[':status'], body];
  }

  it('get an error from a router and from forwardTo', async () => {
    const router = createRouter();
    router.apply(snapshotOf([hostOf([directOf('ok')])]));
    expect(await ask(router)).to.deep.equal([505, 'ERR_ROUTING_VERSION']);
    server.close();
    const forwarder = forwardTo({ target: 'http://127.0.0.1:1' });
    expect(await ask(forwarder)).to.deep.equal([505, 'ERR_ROUTING_VERSION']);
    await forwarder.close?.();
    await router.close();
  });
});
