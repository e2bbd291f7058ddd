import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Handler } from '@edge-gateway/core';
import { type Serving, describeParsers, open, parseAnswer, serve } from './serving.ts';
import { until } from '../../../../test/parts/until.ts';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const CONNECT = 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n';
const upgrade = (key = 'dGhlIHNhbXBsZSBub25jZQ=='): string =>
  `GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`;
const BAD_KEY = upgrade('abc=');

const CHUNK = 'x'.repeat(65_536);
/** More of them than the buffers of both ends of a connection. */
const BIG_CHUNKS = 256;

/** Sends a large response as fast as its connection takes it. Returns the number of parts that it has not taken yet. */
function sendBig(res: ServerResponse): number {
  let left = BIG_CHUNKS;
  const more = (): void => {
    while (left-- > 0) if (!res.write(CHUNK)) return void res.once('drain', more);
    res.end('end');
  };
  more();
  return left;
}

describeParsers('requests that take over a connection with responses in progress', () => {
  let serving: Serving;
  /** Responses that wait, by path. */
  const waiting = new Map<string, ServerResponse>();
  let upgrades = 0;
  const handler: Handler = (req, res) => {
    waiting.set(req.url!, res);
  };
  handler.upgrade = (_req, socket, head) => {
    upgrades++;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${head.toString('latin1')}`);
    socket.pipe(socket);
  };
  const finish = (path: string): void => {
    waiting
      .get(path)!
      .writeHead(200, ['content-length', String(path.length)])
      .end(path);
  };

  before(async () => {
    serving = await serve(handler);
  });
  beforeEach(() => {
    waiting.clear();
    upgrades = 0;
  });
  after(() => serving.close());

  const kinds = [
    ['CONNECT', CONNECT, 405],
    ['an upgrade with an invalid key', BAD_KEY, 400],
    ['an accepted upgrade', upgrade(), 101],
  ] as const;
  for (const [name, bytes, status] of kinds) {
    for (const [how, parts] of [
      ['in one packet', [get('/slow') + bytes]],
      ['in two packets', [get('/slow'), bytes]],
      ['byte by byte', [...(get('/slow') + bytes)]],
    ] as const) {
      it(`responds to ${name} after the response to an earlier request, ${how}`, async () => {
        const client = await open(serving.port);
        for (const part of parts) {
          client.socket.write(part);
          await new Promise(setImmediate);
        }
        await until(() => waiting.has('/slow'));
        // Another exchange passes in full, so that a response that did not wait would be here.
        const other = await open(serving.port);
        other.socket.write(BAD_KEY);
        await other.closed;
        expect(client.text()).to.equal('');
        finish('/slow');
        await client.until(`HTTP/1.1 ${status}`);
        expect(parseAnswer(client.text(), false).statuses).to.deep.equal([200, status]);
        expect(client.text()).to.include('\r\n\r\n/slowHTTP/1.1 ');
        if (status === 101) client.socket.end();
        await client.closed;
        expect(upgrades).to.equal(status === 101 ? 1 : 0);
      });
    }

    it(`responds to ${name} after several earlier requests`, async () => {
      const client = await open(serving.port);
      client.socket.write(get('/1') + get('/2') + get('/3') + bytes);
      for (const path of ['/1', '/2', '/3']) {
        await until(() => waiting.has(path));
        expect(client.text()).to.not.include(`HTTP/1.1 ${status} `);
        finish(path);
      }
      await client.until(`HTTP/1.1 ${status}`);
      expect(client.text()).to.match(/^HTTP.*\r\n\/1HTTP.*\r\n\/2HTTP.*\r\n\/3HTTP/s);
      client.socket.end();
      await client.closed;
    });

    for (const paths of [
      ['/big', '/small'],
      ['/small', '/big'],
    ])
      it(`responds to ${name} after responses to ${paths.join(' and ')} that the client reads late`, async () => {
        const client = await open(serving.port);
        client.socket.pause();
        client.socket.write(paths.map(get).join('') + bytes);
        let received = 0;
        let tail = '';
        client.socket.removeAllListeners('data').on('data', (text: string) => {
          received += text.length;
          tail = (tail + text).slice(-2_000);
          if (tail.includes(`HTTP/1.1 ${status}`)) client.socket.end();
        });
        client.socket.pause();
        for (const path of paths) {
          await until(() => waiting.has(path));
          if (path === '/small') finish(path);
          else {
            const unsent = sendBig(waiting.get(path)!);
            expect(unsent).to.be.greaterThan(0);
            client.socket.resume();
          }
        }
        await client.closed;
        expect(received).to.be.greaterThan(BIG_CHUNKS * CHUNK.length);
        expect(tail).to.match(new RegExp(`end\\r\\n0.*HTTP/1.1 ${status} `, 's'));
      });

    it(`does not serve ${name} on a connection that closes with an earlier response`, async () => {
      const client = await open(serving.port);
      client.socket.write(`${get('/slow')}GET / HTTP/1.1\r\nHost: a b\r\n\r\n${bytes}`);
      await until(() => waiting.has('/slow'));
      finish('/slow');
      await client.closed;
      const { statuses, text } = parseAnswer(client.text(), true);
      expect(statuses).to.deep.equal([200, 400]);
      expect(text).to.include('ERR_ROUTING_BAD_HOST');
      expect(upgrades).to.equal(0);
    });

    it(`stops the earlier request when the client of ${name} disconnects`, async () => {
      const client = await open(serving.port);
      client.socket.write(get('/1') + get('/2') + bytes);
      await until(() => waiting.has('/1'));
      const ended = once(waiting.get('/1')!, 'close');
      client.socket.resetAndDestroy();
      await ended;
      await new Promise(setImmediate);
      expect([...waiting.keys()]).to.deep.equal(['/1']);
      expect(upgrades).to.equal(0);
    });
  }

  it('keeps what a client sends to an upgrade that waits', async () => {
    const client = await open(serving.port);
    client.socket.write(`${get('/slow')}${upgrade()}early `);
    await until(() => waiting.has('/slow'));
    const late = 'late '.repeat(50_000);
    client.socket.write(`${late}end`);
    finish('/slow');
    await client.until('early ');
    await client.until('end');
    expect(client.text().endsWith(`early ${late}end`)).to.equal(true);
    client.socket.end();
    await client.closed;
  });

  it('closes the connection after the earlier response while it drains', async () => {
    const draining = await serve(handler);
    const client = await open(draining.port);
    client.socket.write(get('/slow') + upgrade());
    await until(() => waiting.has('/slow'));
    const done = draining.listeners.drain(5_000);
    await until(() => !waiting.get('/slow')!.shouldKeepAlive);
    finish('/slow');
    await client.closed;
    await done;
    expect(parseAnswer(client.text(), true).statuses).to.deep.equal([200]);
    expect(client.text()).to.match(/connection: close/i);
    expect(upgrades).to.equal(0);
  });

  it('ends an earlier response that is idle for too long, and serves nothing after it', async () => {
    const impatient = await serve(handler, { limits: { streamIdleTimeoutMs: 50 } });
    const client = await open(impatient.port);
    client.socket.write(get('/slow') + upgrade());
    await client.closed;
    expect(parseAnswer(client.text(), true).statuses).to.deep.equal([504]);
    expect(upgrades).to.equal(0);
    await impatient.close();
  });
});
