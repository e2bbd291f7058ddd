import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { releaseAtEnd } from '../../src/concern/in-flight-limit.ts';

const TURN = () => new Promise((resolve) => setImmediate(resolve));

describe('a request in flight is released', () => {
  let socket: Socket;
  let released: number;
  const held = (): ServerResponse => new ServerResponse(new IncomingMessage(socket));
  const release = () => (): void => void released++;
  beforeEach(() => {
    socket = new Socket();
    released = 0;
  });
  afterEach(() => socket.destroy());

  it('when its response closes', () => {
    const res = held();
    releaseAtEnd(res, socket, release());
    expect(released).to.equal(0);
    res.emit('close');
    expect(released).to.equal(1);
  });

  it('when its connection closes without a response, as after an upgrade', async () => {
    releaseAtEnd(held(), socket, release());
    releaseAtEnd(held(), socket, release());
    socket.destroy();
    await TURN();
    expect(released).to.equal(2);
  });

  it('at once if the client has disconnected before', async () => {
    const res = held();
    res.destroy();
    await TURN();
    releaseAtEnd(res, socket, release());
    expect(released).to.equal(1);
    socket.destroy();
    await TURN();
    releaseAtEnd(held(), socket, release());
    expect(released).to.be.greaterThan(1);
  });

  it('without a listener on the connection for each request', () => {
    for (let i = 0; i < 20; i++) {
      const res = held();
      releaseAtEnd(res, socket, release());
      res.emit('close');
    }
    expect(socket.listenerCount('close')).to.equal(1);
    expect(released).to.equal(20);
  });
});
