import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { createListeners, createRouter } from '../../src/index.ts';
import { open } from '../listen/serving.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

const ENDS = ['DOWNSTREAM_LOCAL_ADDRESS', 'DOWNSTREAM_LOCAL_PORT', 'DOWNSTREAM_DIRECT_REMOTE_ADDRESS'] as const;

describe('the connection in the access log', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'connection-record-'))));
  afterEach(async () => {
    await stopAll();
    await rm(directory, { recursive: true });
  });

  it('has both ends when the client leaves before the response', async () => {
    const path = join(directory, 'log');
    const stringFormat = `%RESPONSE_FLAGS% ${ENDS.map((name) => `%${name}%`).join(' ')}\n`;
    const accessLog = [{ fileSink: { path, stringFormat } }];
    const received = Promise.withResolvers<void>();
    const upstream = await start(() => received.resolve());
    const context = createContext();
    const snapshot = snapshotOf([hostOf([routeOf()])], [upstreamOf([endpointOf(upstream.port)])], {
      options: { accessLoggingService: { accessLog } },
    });
    const router = createRouter({ context });
    router.apply(snapshot);
    const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
    const [result] = await listeners.apply(snapshot);
    const port = result!.port!;
    const { socket } = await open(port);
    const client = socket.localPort;
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await received.promise;
    socket.resetAndDestroy();
    await listeners.drain(5_000);
    await router.close();
    expect(await readFile(path, 'utf8')).to.equal(`DC 127.0.0.1:${port} ${port} 127.0.0.1:${client}\n`);
  });
});
