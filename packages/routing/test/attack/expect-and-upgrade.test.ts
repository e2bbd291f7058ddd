import { expect } from 'chai';
import { createContext, type Handler } from '@edge-gateway/core';
import { type Serving, describeParsers, exchange, open, parseAnswer, serve } from '../listen/serving.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const handshake = (change: Record<string, string | undefined> = {}, line = 'GET /ws HTTP/1.1'): string => {
  const headers: Record<string, string | undefined> = {
    Host: 'a',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': KEY,
    'Sec-WebSocket-Version': '13',
    ...change,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `${line}\r\n${lines.join('\r\n')}\r\n\r\n`;
};

describeParsers('WebSocket handshakes', () => {
  let serving: Serving;
  let upgrades = 0;
  let requests: (string | undefined)[] = [];
  before(async () => {
    const handler: Handler = (req, res) => {
      requests.push(req.headers.upgrade);
      res.writeHead(200, ['connection', 'close']).end();
    };
    handler.upgrade = (_req, socket, head) => {
      upgrades++;
      socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${head.toString('latin1')}`);
    };
    serving = await serve(handler);
  });
  beforeEach(() => {
    upgrades = 0;
    requests = [];
  });
  after(() => serving.close());

  it('forwards a valid one, with the bytes after it', async () => {
    const { statuses, text } = await exchange(serving.port, `${handshake()}early`);
    expect(statuses).to.deep.equal([101]);
    expect(text.endsWith('early')).to.equal(true);
    expect(upgrades).to.equal(1);
  });

  const refused: readonly [string, string, number, string][] = [
    ['no key', handshake({ 'Sec-WebSocket-Key': undefined }), 400, 'ERR_ROUTING_BAD_UPGRADE'],
    ['a short key', handshake({ 'Sec-WebSocket-Key': 'abc=' }), 400, 'ERR_ROUTING_BAD_UPGRADE'],
    ['a key that is not base64', handshake({ 'Sec-WebSocket-Key': '!'.repeat(24) }), 400, 'ERR_ROUTING_BAD_UPGRADE'],
    [
      'two keys',
      handshake({ 'Sec-WebSocket-Key': `${KEY}\r\nSec-WebSocket-Key: ${KEY}` }),
      400,
      'ERR_ROUTING_BAD_UPGRADE',
    ],
    ['another method', handshake({}, 'PUT /ws HTTP/1.1'), 400, 'ERR_ROUTING_BAD_UPGRADE'],
    ['a body', handshake({ 'Content-Length': '5' }), 400, 'ERR_ROUTING_BAD_UPGRADE'],
    ['a chunked body', handshake({ 'Transfer-Encoding': 'chunked' }), 400, 'ERR_ROUTING_BAD_UPGRADE'],
    ['version 8', handshake({ 'Sec-WebSocket-Version': '8' }), 426, 'ERR_ROUTING_UPGRADE_VERSION'],
    ['no version', handshake({ 'Sec-WebSocket-Version': undefined }), 426, 'ERR_ROUTING_UPGRADE_VERSION'],
    ['two hosts', handshake({ Host: 'a\r\nHost: b' }), 400, 'ERR_ROUTING_BAD_HOST'],
  ];
  for (const [name, raw, status, code] of refused) {
    it(`rejects one with ${name} with ${status}`, async () => {
      const { statuses, json, text } = await exchange(serving.port, `${raw}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect(statuses).to.deep.equal([status]);
      expect(json.code).to.equal(code);
      if (status === 426) expect(text).to.include('sec-websocket-version: 13\r\n');
      expect({ upgrades, requests }).to.deep.equal({ upgrades: 0, requests: [] });
    });
  }

  for (const protocol of ['h2c', 'TLS/1.0', 'websocket, h2c', 'websocketx']) {
    it(`serves a request that asks for ${protocol} as an ordinary request`, async () => {
      const { statuses } = await exchange(serving.port, handshake({ Upgrade: protocol }));
      expect(statuses).to.deep.equal([200]);
      expect({ upgrades, requests }).to.deep.equal({ upgrades: 0, requests: [protocol] });
    });
  }

  it('responds with 500 when the handler of upgrades throws', async () => {
    const failing: Handler = (_req, res) => res.end();
    failing.upgrade = () => {
      throw new Error('boom');
    };
    const other = await serve(failing, { context: createContext() });
    const { statuses, text } = await exchange(other.port, handshake());
    expect(statuses).to.deep.equal([500]);
    expect(text).not.to.include('boom');
    await other.close();
  });
});

describeParsers('Expect: 100-continue', () => {
  const HEAD = 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n';

  it('continues when the handler reads the body, not before, and keeps the connection', async () => {
    let release = (): void => {};
    const waited = new Promise<void>((resolve) => (release = resolve));
    let expectation: unknown = 'unset';
    const serving = await serve((req, res) => {
      expectation = req.headers.expect;
      void waited.then(async () => {
        const chunks = await req.toArray();
        res.end(Buffer.concat(chunks));
      });
    });
    const client = await open(serving.port);
    client.socket.write(HEAD);
    await exchange(serving.port, 'GET / HTTP/1.1\r\n\r\n');
    expect(client.text()).to.equal('');
    release();
    await client.until('HTTP/1.1 100 Continue\r\n\r\n');
    client.socket.write('abcde');
    await client.until('\r\n\r\nabcde');
    expect(parseAnswer(client.text(), false).statuses).to.deep.equal([100, 200]);
    expect(client.text()).not.to.match(/connection: close/i);
    expect(expectation).to.equal(undefined);
    client.socket.destroy();
    await serving.close();
  });

  it('closes the connection if the body was not requested: later bytes could be the body', async () => {
    let requests = 0;
    const serving = await serve((_req, res) => {
      requests++;
      res.writeHead(403, ['content-length', '0']).end();
    });
    const { statuses, text } = await exchange(serving.port, HEAD, 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(statuses).to.deep.equal([403]);
    expect(text).to.match(/connection: close/i);
    expect(requests).to.equal(1);
    await serving.close();
  });
});
