import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import { createListeners, createRouter, type Listeners, type Router } from '../../src/index.ts';
import {
  closeAll,
  forEachHttp2Client,
  http2ClientOption,
  listen,
  rawUpstream,
  until,
  whenDone,
} from '../forward/harness.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';
import { FRAME } from '../listen/http2/frames.ts';
import { frame as http2Frame, frameUpstream, head, reset } from '../upstream/http2/frames.ts';
import { frame } from './frames.ts';

/** Longer than any test: what waits for it fails. */
const LIMIT_MS = 600_000;
const HANDSHAKE =
  'GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const CLOSE = Buffer.from([0x88, 0x02, 0x03, 0xe9]);
/** Settings of an HTTP/2 server that accepts WebSockets (RFC 8441 §3). */
const ENABLE_CONNECT_PROTOCOL = http2Frame(FRAME.settings, 0, 0, Buffer.from([0, 8, 0, 0, 0, 1]));
const MASKED_CLOSE = /^\x88\x82/;

interface Gateway {
  readonly port: number;
  readonly router: Router;
  readonly listeners: Listeners;
}

async function gateway(upstreamPort: number, spec: SnapshotUpstream['spec'] = {}): Promise<Gateway> {
  const context = createContext();
  const router = createRouter({ context, ...http2ClientOption() });
  const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
  const snapshot = snapshotOf([hostOf([routeOf({})])], [{ ...upstreamOf([endpointOf(upstreamPort)]), spec }]);
  router.apply(snapshot);
  const [{ port } = {}] = await listeners.apply(snapshot);
  whenDone(async () => {
    await listeners.close();
    await router.close();
  });
  return { port: port!, router, listeners };
}

/** An upstream that sends these bytes after its 101, and keeps the rest of the connection for the test. */
async function silentUpstream(first: Uint8Array = Buffer.alloc(0)): Promise<{ port: number; sockets: Set<Socket> }> {
  return rawUpstream((socket) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    );
    socket.write(first);
  });
}

/** Everything that a socket receives from now on. */
function received(socket: Socket): () => string {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  return () => text;
}

async function rawClient(port: number): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(HANDSHAKE));
  whenDone(() => void socket.destroy());
  socket.on('error', () => {});
  const text = received(socket);
  await until(() => text().includes('\r\n\r\n'));
  return { socket, text: () => text().slice(text().indexOf('\r\n\r\n') + 4) };
}

describe('WebSockets of a listener that drains', () => {
  afterEach(closeAll);

  it('are closed with 1001 on both sides, before the limit', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    const upstreamPort = await listen(server);
    whenDone(() => void server.close());
    const atUpstream: number[] = [];
    sockets.on('connection', (socket) => {
      socket.on('message', (data) => socket.send(String(data)));
      socket.on('close', (code) => atUpstream.push(code));
    });
    const { port, listeners } = await gateway(upstreamPort);
    const client = new WebSocket(`ws://127.0.0.1:${port}/`);
    await once(client, 'open');
    client.send('hello');
    await once(client, 'message');
    const closed = once(client, 'close');
    await listeners.drain(LIMIT_MS);
    expect((await closed)[0]).to.equal(1001);
    await until(() => atUpstream.length === 1);
    expect(atUpstream).to.deep.equal([1001]);
  });

  it('are closed also when only their listener is removed', async () => {
    const upstream = await silentUpstream();
    const { port, listeners } = await gateway(upstream.port);
    const client = await rawClient(port);
    await listeners.apply({ ...snapshotOf([], []), listeners: [] });
    await until(() => client.text() === CLOSE.toString('latin1'));
  });

  it('are closed when they open after the drain began', async () => {
    const handshakes: Socket[] = [];
    const upstream = await rawUpstream((socket) => void handshakes.push(socket));
    const { port, listeners } = await gateway(upstream.port);
    const client = connect({ port, host: '127.0.0.1' }, () => client.write(HANDSHAKE));
    whenDone(() => void client.destroy());
    const text = received(client);
    await until(() => handshakes.length === 1);
    const drained = listeners.drain(LIMIT_MS);
    handshakes[0]!.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    );
    await until(() => text().endsWith(`\r\n\r\n${CLOSE.toString('latin1')}`));
    await drained;
  });

  it('stay open in a listener that opens again', async () => {
    const upstream = await silentUpstream(frame(Buffer.from('hello')));
    const { router, listeners } = await gateway(upstream.port);
    const snapshot = snapshotOf([hostOf([routeOf({})])], [upstreamOf([endpointOf(upstream.port)])]);
    await listeners.apply({ ...snapshot, listeners: [] });
    router.apply(snapshot);
    const [{ port } = {}] = await listeners.apply(snapshot);
    const client = await rawClient(port!);
    await until(() => client.text().length > 0);
    expect(client.text()).to.contain('hello').and.to.not.contain(CLOSE.toString('latin1'));
  });

  it('are not reset while the client is still sending', async () => {
    const upstream = await silentUpstream();
    const { port, listeners } = await gateway(upstream.port);
    const client = await rawClient(port);
    const [atUpstream] = upstream.sockets;
    let failed: Error | undefined;
    client.socket.on('error', (error) => (failed = error));
    const closedAtUpstream = once(atUpstream!, 'close');
    // It closes at once, also if it was told in the middle of a message.
    atUpstream!.on('data', () => atUpstream!.destroy());
    const ended = once(client.socket, 'end');
    const drained = listeners.drain(LIMIT_MS);
    await closedAtUpstream;
    await ended;
    for (let i = 0; i < 3; i++) {
      client.socket.write(frame(Buffer.from('late'), { masked: true }));
      await new Promise((resolve) => setImmediate(resolve));
    }
    client.socket.end();
    await drained;
    expect(failed).to.equal(undefined);
    expect(client.text()).to.equal(CLOSE.toString('latin1'));
  });

  forEachHttp2Client(() => {
    for (const [name, code] of Object.entries({ NO_ERROR: 0, CANCEL: 8 }))
      it(`are not reset while the client is still sending, if an HTTP/2 upstream resets the stream with ${name}`, async () => {
        const ids: number[] = [];
        const upstream = await frameUpstream((socket, id) => {
          ids.push(id);
          socket.write(head(id, ':status', '200'));
        }, ENABLE_CONNECT_PROTOCOL);
        const { port, listeners } = await gateway(upstream.port, { useHttp2: true });
        const client = await rawClient(port);
        let failed: Error | undefined;
        client.socket.on('error', (error) => (failed = error));
        const drained = listeners.drain(LIMIT_MS);
        await until(() => client.text() === CLOSE.toString('latin1'));
        const [atUpstream] = upstream.sockets;
        // The acknowledgement of the ping follows the reset.
        atUpstream!.write(Buffer.concat([reset(ids[0]!, code), http2Frame(FRAME.ping, 0, 0, Buffer.alloc(8))]));
        await until(() => upstream.received.some(({ type }) => type === FRAME.ping));
        for (let i = 0; i < 3; i++) {
          client.socket.write(frame(Buffer.from('late'), { masked: true }));
          await new Promise((resolve) => setImmediate(resolve));
        }
        client.socket.end();
        await drained;
        expect(failed).to.equal(undefined);
        expect(client.text()).to.equal(CLOSE.toString('latin1'));
      });
  });

  it('receive the frame in progress completely first', async () => {
    const message = frame(Buffer.alloc(300, 'm'));
    const upstream = await silentUpstream(message.subarray(0, 100));
    const { port, listeners } = await gateway(upstream.port);
    const client = await rawClient(port);
    const [atUpstream] = upstream.sockets;
    const upstreamText = received(atUpstream!);
    await until(() => client.text().length === 100);
    client.socket.write(frame(Buffer.from('question'), { masked: true }).subarray(0, 7));
    await until(() => upstreamText().length === 7);
    const drained = listeners.drain(LIMIT_MS);
    // Two more frames in one chunk: the first is dropped, as everything behind the close frame.
    atUpstream!.write(Buffer.concat([message.subarray(100), frame(Buffer.from('late'))]));
    await until(() => client.text().length >= message.length + CLOSE.length);
    expect(client.text()).to.equal(Buffer.concat([message, CLOSE]).toString('latin1'));
    client.socket.write(frame(Buffer.from('question'), { masked: true }).subarray(7));
    await until(() => upstreamText().length >= 14 + 8);
    expect(upstreamText().slice(14)).to.match(MASKED_CLOSE).and.to.have.length(8);
    client.socket.end();
    await drained;
  });

  it('are closed by the limit if a frame never ends', async () => {
    const upstream = await silentUpstream(frame(Buffer.alloc(300)).subarray(0, 100));
    const { port, listeners } = await gateway(upstream.port);
    const client = await rawClient(port);
    await until(() => client.text().length === 100);
    client.socket.once('end', () => client.socket.end());
    const closed = once(client.socket, 'close');
    await listeners.drain(50);
    await closed;
    expect(client.text()).to.have.length(100);
  });

  it('follow the pace of a slow client to the end of a large frame', async () => {
    const large = frame(Buffer.alloc(20_000_000));
    const upstream = await silentUpstream(large.subarray(0, 1000));
    const { port, listeners } = await gateway(upstream.port);
    const client = await rawClient(port);
    await until(() => client.text().length === 1000);
    client.socket.pause();
    const drained = listeners.drain(LIMIT_MS);
    const [atUpstream] = upstream.sockets;
    atUpstream!.write(large.subarray(1000));
    // The buffers of the kernel take a part, and the gateway no more than a few chunks.
    await until(() => atUpstream!.writableLength > 0);
    expect(atUpstream!.writableLength).to.be.greaterThan(1_000_000);
    let bytes = client.text().length;
    client.socket.removeAllListeners('data').on('data', (chunk: Buffer) => (bytes += chunk.length));
    client.socket.resume().once('end', () => client.socket.end());
    await drained;
    expect(bytes).to.equal(large.length + CLOSE.length);
  });

  it('are closed by the router of a server of your own', async () => {
    const upstream = await silentUpstream();
    const { port, router } = await gateway(upstream.port);
    const client = await rawClient(port);
    expect(router.listener(LISTENER).drain).to.be.a('function');
    router.drain();
    const closed = once(client.socket, 'close');
    await until(() => client.text() === CLOSE.toString('latin1'));
    client.socket.end();
    await closed;
  });
});
