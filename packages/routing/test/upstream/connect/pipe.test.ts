import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:https';
import { createContext } from '@edge-gateway/core';
import { createUpstreamCaller } from '../../../src/upstream/call.ts';
import { closeAll, gateway, get, snapshotOf, whenDone } from '../../forward/harness.ts';
import { certificates, secretsOf } from '../certificates.ts';

const LINUX = process.platform === 'linux';

function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pipe-'));
  whenDone(() => rmSync(folder, { recursive: true }));
  return join(folder, 'up.sock');
}

async function listenOn(path: string, handler: RequestListener, tls = false): Promise<void> {
  const server = tls ? createTlsServer(certificates().server, handler) : createServer(handler);
  server.listen(path.startsWith('@') ? `\0${path.slice(1)}` : path);
  whenDone(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
}

const pipeOf = (path: string, parts = {}) =>
  snapshotOf(0, { endpoints: [{ address: path, port: 0, weight: 1 }], ...parts });

describe('an upstream on a Unix socket', () => {
  afterEach(closeAll);

  it('receives requests with the host of the client, and is logged by its path', async () => {
    const path = socketPath();
    await listenOn(path, (req, res) => void res.end(req.headers.host));
    const gw = await gateway({ upstream: pipeOf(path) });
    const headers = { host: 'shop.example.com' };
    expect(await get(gw.url, { headers })).to.include({ status: 200, body: 'shop.example.com' });
    expect(gw.outcomes[0]!.endpoint).to.equal(path);
  });

  it('receives calls of the gateway with the host localhost', async () => {
    const path = socketPath();
    await listenOn(path, (req, res) => void res.end(req.headers.host));
    const { upstreams } = await gateway({ upstream: pipeOf(path) });
    const call = createUpstreamCaller(upstreams);
    const answer = await call(
      { name: 'echo', namespace: 'gw-system' },
      { method: 'GET', path: '/', timeoutMs: 5000, maxBodyBytes: 100 },
    );
    expect(answer.body.toString()).to.equal('localhost');
  });

  if (LINUX) {
    it('can be an abstract socket', async () => {
      const path = `@gateway-test-${process.pid}`;
      await listenOn(path, (_req, res) => void res.end('abstract'));
      const gw = await gateway({ upstream: pipeOf(path) });
      expect((await get(gw.url)).body).to.equal('abstract');
    });
  }

  it('can use TLS, verified by its server name', async () => {
    const path = socketPath();
    await listenOn(path, (_req, res) => void res.end('safe'), true);
    const context = createContext({ secrets: secretsOf({ tls: { 'ca.crt': certificates().ca } }) });
    const tls = (sslConfig: object) => pipeOf(path, { tls: true, spec: { sslConfig } });
    const secretRef = { name: 'tls' };
    const named = await gateway({ upstream: tls({ secretRef, sni: 'api.example.com' }), context });
    expect((await get(named.url)).body).to.equal('safe');
    const other = await gateway({ upstream: tls({ secretRef, sni: 'other.example.com' }), context });
    expect((await get(other.url)).status).to.equal(503);
  });

  it('responds with 503 if nothing listens', async () => {
    const gw = await gateway({ upstream: pipeOf(socketPath()) });
    expect((await get(gw.url)).status).to.equal(503);
    expect(gw.outcomes[0]).to.include({ flags: 'UF' });
    expect(gw.outcomes[0]!.cause).to.contain('ENOENT');
  });
});
