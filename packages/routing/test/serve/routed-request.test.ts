import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createContext, type Context } from '@edge-gateway/core';
import { createRouter } from '../../src/router.ts';
import { closeAll, listen, rawUpstream, until, whenDone, type RawUpstream } from '../forward/harness.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

const REQUEST = 'GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n';
const HANDSHAKE =
  'GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

interface Client {
  readonly socket: Socket;
  readonly received: () => string;
}

function completed({ metrics }: Context): number {
  const found = metrics.list().find(({ name }) => name.path === 'http.http.downstream_rq_completed');
  return found?.type === 'counter' ? found.stat.value : 0;
}

describe('access log of a request that ends early', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'routed-request-'));
  });
  afterEach(async () => {
    await closeAll();
    await rm(directory, { recursive: true });
  });

  /** Sends one request through a router, has `act` end it, and returns its line in the access log. */
  async function lineOf(
    bytes: string,
    upstream: RawUpstream,
    act: (client: Client) => Promise<unknown>,
  ): Promise<string> {
    const path = join(directory, 'log');
    const stringFormat = '%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\n';
    const options = { accessLoggingService: { accessLog: [{ fileSink: { path, stringFormat } }] } };
    const context = createContext();
    const router = createRouter({ context });
    const snapshot = snapshotOf([hostOf([routeOf()])], [upstreamOf([endpointOf(upstream.port)])], { options });
    router.apply(snapshot);
    const handler = router.listener(LISTENER);
    const server = createServer((req, res) => handler(req, res, () => res.destroy()));
    server.on('upgrade', (req, socket, head) => handler.upgrade!(req, socket, head));
    const socket = connect(await listen(server), '127.0.0.1');
    whenDone(() => server.close());
    whenDone(() => socket.destroy());
    let text = '';
    socket.on('error', () => {}).on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.write(bytes);
    await act({ socket, received: () => text });
    await until(() => completed(context) === 1, 'the end of the request');
    await router.close();
    return (await readFile(path, 'utf8')).trimEnd();
  }

  it('names the reset of a response in mid-body, not the upstream', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n';
    const upstream = await rawUpstream((socket) => socket.write(`${head}part`));
    const line = await lineOf(REQUEST, upstream, async ({ socket, received }) => {
      await until(() => received().endsWith('part'), 'the first part of the body');
      for (const each of upstream.sockets) each.resetAndDestroy();
      await until(() => socket.destroyed, 'the client is cut off');
    });
    expect(line).to.match(/^200 UC (?!via_upstream)\S/);
  });

  it('names no upstream for an upgrade that the client leaves before the response', async () => {
    const upstream = await rawUpstream(() => {});
    const line = await lineOf(HANDSHAKE, upstream, async ({ socket }) => {
      await until(() => upstream.requests.length === 1, 'the handshake at the upstream');
      socket.destroy();
    });
    expect(line).to.equal('0 DC -');
  });
});
