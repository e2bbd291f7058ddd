import { createServer, type Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import type { UpstreamTls } from '@edge-gateway/core';
import { createConnector, type Connector, type ConnectorSettings } from '../../src/upstream/connector.ts';
import { closeAll, listen, whenDone } from '../forward/harness.ts';
import { certificates } from './certificates.ts';

const { ca, server } = certificates();
const TLS: UpstreamTls = {
  // Over TLS 1.3 the ticket follows the handshake.
  secureContext: createSecureContext({ ca, maxVersion: 'TLSv1.2' }),
  alpnProtocols: ['http/1.1'],
  serverName: () => 'api.example.com',
  checkServerIdentity: () => undefined,
};

function connector(port: number, settings: Partial<ConnectorSettings> = {}): Connector {
  const lookup: ConnectorSettings['lookup'] = (_name, _options, callback) => callback(new Error('no name'), '');
  const endpoint = { address: '127.0.0.1', port, weight: 1 };
  return createConnector(endpoint, { connectTimeoutMs: 5000, keepAlive: {} as never, lookup, ...settings });
}

/** Connects, and returns the error or the connection. */
function connected(connect: Connector): Promise<{ error: NodeJS.ErrnoException | null; socket: Socket | undefined }> {
  return new Promise((resolve) => {
    connect((error, socket) => {
      socket?.on('error', () => {});
      whenDone(() => socket?.destroy());
      resolve({ error, socket });
    });
  });
}

describe('connections to an endpoint', () => {
  afterEach(closeAll);

  it('resume the TLS session of the one before, but not after a failure', async () => {
    const resumed: boolean[] = [];
    let accepts = true;
    const secure = createTlsServer(server, (socket) => {
      resumed.push(socket.isSessionReused());
      socket.on('error', () => {}).resume();
    });
    const raw = createServer((socket) => {
      socket.on('error', () => {});
      if (accepts) secure.emit('connection', socket);
      else socket.destroy();
    });
    const port = await listen(raw);
    whenDone(() => raw.close());
    const connect = connector(port, { tls: TLS });
    expect((await connected(connect)).error).to.equal(null);
    expect((await connected(connect)).error).to.equal(null);
    accepts = false;
    expect((await connected(connect)).error).to.be.instanceOf(Error);
    accepts = true;
    expect((await connected(connect)).error).to.equal(null);
    expect(resumed).to.deep.equal([false, true, false]);
  });

  it('are destroyed when they are not secure in time, and reported once', async () => {
    const accepted = Promise.withResolvers<Socket>();
    const silent = createServer((socket) => accepted.resolve(socket.on('error', () => {}).resume()));
    const port = await listen(silent);
    whenDone(() => silent.close());
    const results: unknown[] = [];
    const settled = Promise.withResolvers<void>();
    connector(port, { tls: TLS, connectTimeoutMs: 100 })((error) => {
      results.push((error as NodeJS.ErrnoException).code);
      settled.resolve();
    });
    const socket = await accepted.promise;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await settled.promise;
    await closed;
    expect(results).to.deep.equal(['ETIMEDOUT']);
  });
});
