import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { keepAlive } from '../../src/serve/keep-alive.ts';

describe('the pings of a WebSocket', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }));
  afterEach(() => mock.timers.reset());

  class FakeSocket extends EventEmitter {
    pings = 0;
    isTerminated = false;
    ping(): void {
      this.pings++;
    }
    terminate(): void {
      this.isTerminated = true;
    }
  }

  for (const event of ['pong', 'message'])
    it(`continue after a ${event}, and end the connection after silence`, () => {
      const socket = new FakeSocket();
      keepAlive(socket as unknown as WebSocket, 1000);
      for (let pings = 1; pings <= 3; pings++) {
        mock.timers.tick(1000);
        expect([socket.pings, socket.isTerminated]).to.deep.equal([pings, false]);
        socket.emit(event);
      }
      mock.timers.tick(2000);
      expect([socket.pings, socket.isTerminated]).to.deep.equal([4, true]);
      socket.emit('close');
    });

  it('end when it closes', () => {
    const socket = new FakeSocket();
    keepAlive(socket as unknown as WebSocket, 1000);
    socket.emit('close');
    mock.timers.tick(5000);
    expect([socket.pings, socket.isTerminated]).to.deep.equal([0, false]);
  });
});
