import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { factsOf, type Concern, type Route } from '@edge-gateway/core';
import { createRouter, type Router } from '../src/router.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, stopAll, upstreamOf } from './snapshots.ts';

const HANDSHAKE =
  'GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** Renews a session as a login does: two cookies, a header that is set, and one that is removed. */
const renewing: Concern = {
  name: 'renewing',
  option: 'extauth',
  stage: 'extAuth',
  compile: () =>
    function renew(req, _res, next) {
      factsOf(req).responseChanges.push(
        { op: 'append', name: 'set-cookie', value: 'session=2; HttpOnly' },
        { op: 'append', name: 'set-cookie', value: 'mac=3; HttpOnly' },
        { op: 'set', name: 'x-renewed', value: 'yes' },
        { op: 'set', name: 'x-present', value: 'no', where: 'present' },
        { op: 'remove', name: 'x-other' },
        { op: 'set', name: 'connection', value: 'close' },
      );
      next();
    },
};

describe('upgrades through the router', () => {
  const closers: (() => void)[] = [];
  let router: Router;
  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    await router.close();
    await stopAll();
  });

  /** The head of the response to a handshake, and the first bytes behind it. */
  async function handshake(options: Route['options'], upstreamPort: number): Promise<string> {
    const host = hostOf([routeOf({ options })]);
    router = createRouter({ concerns: [renewing] });
    router.apply(snapshotOf([host], [upstreamOf([endpointOf(upstreamPort)])]));
    const server = createServer();
    server.on('upgrade', (req, socket, head) => router.listener(LISTENER).upgrade!(req, socket, head));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => server.close());
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(HANDSHAKE));
    closers.push(() => socket.destroy());
    let text = '';
    return new Promise((resolve, reject) => {
      socket.on('error', reject).on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (text.includes('hello') || !text.startsWith('HTTP/1.1 101')) resolve(text);
      });
    });
  }

  async function webSocketServer(): Promise<number> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => socket.send('hello'));
    await new Promise((resolve) => server.once('listening', resolve));
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  it('send the headers that concerns recorded with the 101, such as the cookies of a renewed session', async () => {
    const text = await handshake({ extauth: {} }, await webSocketServer());
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head.split('\r\n', 1)[0]).to.equal('HTTP/1.1 101 Switching Protocols');
    expect(head.match(/^set-cookie: .*$/gim)).to.deep.equal([
      'set-cookie: session=2; HttpOnly',
      'set-cookie: mac=3; HttpOnly',
    ]);
    expect(head).to.contain('x-renewed: yes').and.not.contain('x-present');
    expect(head.match(/^connection: .*$/gim)).to.deep.equal(['connection: Upgrade']);
    expect(body).to.contain('hello');
  });

  it('send them with the 503 of an upstream that is away, too', async () => {
    const text = await handshake({ extauth: {} }, 1);
    expect(text).to.match(/^HTTP\/1\.1 503 /);
    expect(text).to.contain('set-cookie: session=2; HttpOnly\r\n').and.contain('set-cookie: mac=3; HttpOnly\r\n');
  });
});
