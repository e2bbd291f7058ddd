import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createPendingBodies } from '../../src/webhook/pending-bodies.ts';

describe('the bodies that are read at the same time', () => {
  let server: Server;
  let received: (string | undefined)[];

  before(async () => {
    const pending = createPendingBodies(1000);
    server = createServer((req, res) => {
      pending
        .read(req, 800)
        .then((body) => {
          received.push(body?.toString().slice(0, 1));
          res.setHeader('connection', 'close').end(body ? 'read' : 'too large');
        })
        .catch(() => received.push('given up'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => (received = []));
  after(() => server.close());

  function begin(headers: object = {}) {
    const { port } = server.address() as AddressInfo;
    const sent = request({ host: '127.0.0.1', port, method: 'POST', agent: false, headers: { ...headers } });
    const response = once(sent, 'response').then(
      async ([res]) => (await res.toArray()).join(''),
      (error: NodeJS.ErrnoException) => error.code,
    );
    return { sent, response };
  }

  it('are given up, the oldest first, when they need too much memory', async () => {
    const first = begin();
    const second = begin();
    first.sent.write('a'.repeat(600));
    await once(server, 'request');
    second.sent.flushHeaders();
    await once(server, 'request');
    const third = begin();
    third.sent.end('c'.repeat(500));
    expect(await third.response).to.equal('read');
    expect(await first.response).to.equal('ECONNRESET');
    second.sent.end('b');
    expect(await second.response).to.equal('read');
    expect(received).to.have.members(['given up', 'c', 'b']);
  });

  it('do not count beyond their end', async () => {
    for (let i = 0; i < 5; i++) {
      const { sent, response } = begin();
      sent.end('x'.repeat(700));
      expect(await response).to.equal('read');
    }
  });

  it('are rejected above their limit, whether or not their length is declared', async () => {
    for (const headers of [{}, { 'content-length': 900 }]) {
      const { sent, response } = begin(headers);
      sent.end('x'.repeat(900));
      expect(await response).to.equal('too large');
    }
  });
});
