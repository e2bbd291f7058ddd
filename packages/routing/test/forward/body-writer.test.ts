import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import {
  closeAll,
  gateway,
  get,
  httpUpstream,
  rawClient,
  rawUpstream,
  snapshotOf,
  until,
  whenDone,
} from './harness.ts';

const MEGABYTE = 1024 * 1024;

/** Bytes that differ at each place and for each seed, so that no part can be taken for another. */
function pattern(seed: number, length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let i = 0; i < words.length; i++) words[i] = (i * 2_654_435_761 + seed * 40_503) >>> 0;
  return Buffer.from(words.buffer).subarray(0, length);
}

const digest = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

/** Sends the request and returns a client that has not read anything yet. */
function pausedClient(port: number, path: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  whenDone(() => socket.destroy());
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  return socket;
}

/** Reads all in small reads; returns the body. */
async function readSlowly(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket.resume();
  await once(socket, 'close');
  const all = Buffer.concat(chunks);
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
}

describe('the body of a response', () => {
  afterEach(closeAll);

  it('is never mixed up with others while clients read slowly', async () => {
    const length = 6 * MEGABYTE + 77;
    const port = await httpUpstream((req, res) => {
      res.writeHead(200, { 'content-length': length }).end(pattern(Number(req.url!.slice(1)), length));
    });
    const gw = await gateway({ upstream: snapshotOf(port) });
    const clients = Array.from({ length: 8 }, (_, i) => pausedClient(gw.port, `/${i}`));
    // Others pass through the same buffers in the meantime.
    for (let i = 100; i < 104; i++) {
      const { body } = await get(`${gw.url}/${i}`);
      expect(digest(Buffer.from(body, 'latin1'))).to.equal(digest(pattern(i, length)));
    }
    const bodies = await Promise.all(clients.map(readSlowly));
    for (const [i, body] of bodies.entries()) expect(digest(body), String(i)).to.equal(digest(pattern(i, length)));
  });

  it('is read no faster than the client reads', async () => {
    let sent = 0;
    const length = 64 * MEGABYTE;
    const piece = Buffer.alloc(64 * 1024, 'p');
    const upstream = await rawUpstream((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`);
      const fill = (): void => {
        while (sent < length) {
          sent += piece.length;
          if (!socket.write(piece)) return void socket.once('drain', fill);
        }
      };
      fill();
    });
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    const client = pausedClient(gw.port, '/');
    let before = -1;
    // Until the buffers of the sockets are full.
    await until(() => {
      const isStill = sent > 0 && sent === before;
      before = sent;
      return isStill;
    });
    expect(gw.stat('upstream_cx_rx_bytes_total')).to.be.below(length / 2);
    expect((await readSlowly(client)).length).to.equal(length);
  });

  it('ends its request upstream if the client disconnects in the middle', async () => {
    const upstream = await rawUpstream((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${64 * MEGABYTE}\r\n\r\n`);
      socket.write(Buffer.alloc(8 * MEGABYTE));
    });
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    const client = pausedClient(gw.port, '/');
    await until(() => gw.stat('upstream_cx_rx_bytes_total') > 100_000);
    client.destroy();
    await until(() => gw.outcomes.length === 1 && upstream.sockets.size === 0);
    expect(gw.outcomes[0]).to.include({ flags: 'DC', aborted: true });
    expect(gw.stat('upstream_rq_active')).to.equal(0);
  });

  it('is cut off for the client if the upstream ends in the middle', async () => {
    const upstream = await rawUpstream((socket) => {
      socket.end(
        Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n'), pattern(1, 300_000)]),
      );
    });
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    const { complete, body } = await get(gw.url);
    expect(complete).to.equal(false);
    expect(pattern(1, 300_000).subarray(0, body.length).equals(Buffer.from(body, 'latin1'))).to.equal(true);
  });

  it('follows its head, for requests that are sent without waiting for responses', async () => {
    const length = 200_000;
    const port = await httpUpstream((req, res) => {
      res.writeHead(200, { 'content-length': length }).end(pattern(Number(req.url!.slice(1)), length));
    });
    const gw = await gateway({ upstream: snapshotOf(port) });
    const head = (i: number, more = '') => `GET /${i} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
    const { text } = await rawClient(gw.port, head(1) + head(2) + head(3, 'connection: close\r\n'));
    let rest = Buffer.from(text, 'latin1');
    for (const i of [1, 2, 3]) {
      const start = rest.indexOf('\r\n\r\n') + 4;
      expect(rest.subarray(0, start).toString()).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expect(digest(rest.subarray(start, start + length)), String(i)).to.equal(digest(pattern(i, length)));
      rest = rest.subarray(start + length);
    }
    expect(rest.length).to.equal(0);
  });

  it('is not sent to a HEAD request that was forwarded as a GET', async () => {
    const port = await httpUpstream(
      (_req, res) => void res.writeHead(200, { 'content-length': 300_000 }).end(pattern(1, 300_000)),
    );
    const gw = await gateway({ upstream: snapshotOf(port), head: () => ({ method: 'GET' }) });
    const { text } = await rawClient(gw.port, 'HEAD / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect(text).to.match(/content-length: 300000\r\n/i);
    expect(text.slice(text.indexOf('\r\n\r\n') + 4)).to.equal('');
  });

  it('passes through middleware that replaced `write` and keeps what it gets', async () => {
    const length = 6 * MEGABYTE;
    const port = await httpUpstream((_req, res) => {
      res.writeHead(200, { 'content-length': length }).end(pattern(1, length));
    });
    const gw = await gateway({ upstream: snapshotOf(port) });
    const kept: Buffer[] = [];
    gw.server.prependOnceListener('request', (_req, res: ServerResponse) => {
      const write = res.write.bind(res) as (...args: unknown[]) => boolean;
      // With the callback, at which chunks are released.
      res.write = ((...args: unknown[]) => kept.push(args[0] as Buffer) > 0 && write(...args)) as typeof res.write;
    });
    const { body } = await get(gw.url);
    expect(digest(Buffer.from(body, 'latin1'))).to.equal(digest(pattern(1, length)));
    // The last part is passed to `end`.
    const seen = Buffer.concat(kept);
    expect(seen.length).to.be.greaterThan(0);
    expect(pattern(1, length).subarray(0, seen.length).equals(seen)).to.equal(true);
  });

  it('arrives through a socket that delays what is written to it', async () => {
    const length = 900_000;
    const port = await httpUpstream((_req, res) => {
      res.writeHead(200, { 'content-length': length }).end(pattern(1, length));
    });
    const gw = await gateway({ upstream: snapshotOf(port) });
    gw.server.once('connection', (socket: Socket) => {
      const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
      socket.write = ((...args: unknown[]) => {
        setImmediate(write, ...args);
        return true;
      }) as typeof socket.write;
    });
    const { body } = await get(gw.url);
    expect(digest(Buffer.from(body, 'latin1'))).to.equal(digest(pattern(1, length)));
  });
});
