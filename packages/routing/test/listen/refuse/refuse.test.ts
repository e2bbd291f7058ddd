import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { Handler } from '@edge-gateway/core';
import { type Serving, describeParsers, serve } from '../serving.ts';
import { rawClient } from '../../forward/harness.ts';

const BODY_BYTES = 16 * 1024 * 1024;

describeParsers('rejected requests', () => {
  let serving: Serving;
  afterEach(() => serving.close());

  it('receive the response while the client is still sending the body', async () => {
    // Long enough to read all of it on any machine.
    serving = await serve(() => {}, { limits: { maxBodyBytes: 1000, closeDelayMs: 120_000 } });
    const client = connect({ port: serving.port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`);
    // All of it is read: otherwise a reset could overtake the response, and the write fails.
    const sent = new Promise<Error | null | undefined>((resolve) => client.write(Buffer.alloc(BODY_BYTES), resolve));
    client.end();
    await once(client, 'end');
    expect(text).to.match(/^HTTP\/1\.1 413 /);
    expect(await sent).not.to.be.instanceOf(Error);
  });

  describe('on a listener with names in title case', () => {
    const httpOptions = { httpConnectionManagerSettings: { properCaseHeaderKeyFormat: true } };
    const upgrade: Handler['upgrade'] = () => {
      throw new Error('failed');
    };
    const failing: Handler = Object.assign(
      () => {
        throw new Error('failed');
      },
      { upgrade },
    );
    const WEBSOCKET =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

    /** Names in the heads of all responses to these bytes, each once. */
    async function namesOf(bytes: string, handler: Handler = () => {}): Promise<{ status: string; names: string[] }> {
      serving = await serve(handler, { listener: { httpOptions } });
      const { text } = await rawClient(serving.port, bytes);
      const [statusLine = '', ...lines] = text.split('\r\n\r\n')[0]!.split('\r\n');
      return { status: statusLine.split(' ')[1]!, names: lines.map((line) => line.split(':')[0]!) };
    }

    for (const [name, status, bytes, handler] of [
      ['a method that is not allowed', '405', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['CONNECT', '405', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
      ['a malformed request', '400', 'GET / HTTP/1.1\r\nHost: a\r\nbad\r\n\r\n'],
      ['a malformed body', '400', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
      [
        'a bad WebSocket handshake',
        '400',
        `GET / HTTP/1.1\r\nHost: a\r\n${WEBSOCKET.replace('dGhl', '')}\r\n\r\n`,
        failing,
      ],
      ['OPTIONS *', '204', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
      ['a handler that fails', '500', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', failing],
      ['an upgrade that fails', '500', `GET / HTTP/1.1\r\nHost: a\r\n${WEBSOCKET}\r\n\r\n`, failing],
    ] as const) {
      it(`are responded to with them, for ${name}`, async () => {
        const response = await namesOf(bytes, handler);
        expect(response.status).to.equal(status);
        expect(response.names).not.to.deep.equal([]);
        expect(response.names.filter((each) => /(^|-)[a-z]/.test(each))).to.deep.equal([]);
      });
    }
  });
});
