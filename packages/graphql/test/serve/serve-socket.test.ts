import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { createDrain } from '../../src/serve/drain.ts';
import { serveSocket, type SocketParts } from '../../src/serve/serve-socket.ts';

const HOUR_MS = 3_600_000;

describe('a WebSocket', () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

  it('leaves no timer when it is closed, also if it could be open for an hour', async () => {
    await new Promise(setImmediate);
    const before = timers();
    const webSocket = Object.assign(new EventEmitter(), { protocol: 'graphql-transport-ws' });
    const limits = { maxConnectionMs: HOUR_MS, connectionInitTimeoutMs: HOUR_MS, pingIntervalMs: HOUR_MS };
    const parts = { limits, drain: createDrain(), now: Date.now } as unknown as SocketParts;
    serveSocket(webSocket as unknown as WebSocket, {} as IncomingMessage, parts);
    expect(timers()).to.equal(before + 3);
    webSocket.emit('close', 1000, '');
    await new Promise(setImmediate);
    expect(timers()).to.equal(before);
  });
});
