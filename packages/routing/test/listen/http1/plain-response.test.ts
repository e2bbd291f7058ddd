import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { PlainResponse } from '../../../src/listen/http1/plain-response.ts';
import { writeProperCase } from '../../../src/http1/header-case.ts';
import { exchange, open, serve } from '../serving.ts';

type Prepare = (res: ServerResponse, req: IncomingMessage) => void;

interface Case {
  readonly status?: number;
  readonly flat?: readonly string[];
  readonly body?: string;
  readonly prepare?: Prepare;
  readonly method?: string;
}

const TWO = ['content-length', '2'];

/** Serves one kind of response to two requests of a connection; returns what the client received and the events of the responses. */
async function received(each: Case, whole: boolean): Promise<{ text: string; events: string[]; isWhole: boolean }> {
  const { status = 200, flat = TWO, body = 'ok', prepare, method = 'GET' } = each;
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  let isWhole = true;
  const serving = await serve((req, res) => {
    res.on('prefinish', () => events.push('prefinish'));
    res.on('finish', () => events.push(`finish ${res.writableFinished} ${res.statusCode} ${res.statusMessage}`));
    res.on('close', () => {
      events.push('close');
      first.resolve();
    });
    prepare?.(res, req);
    const isSent = whole && (res as PlainResponse).sendWhole(status, flat, body);
    if (!isSent) {
      isWhole = false;
      try {
        res.writeHead(status, [...flat]).end(body, 'latin1');
      } catch (error) {
        events.push((error as Error & { code?: string }).code!);
        return void res.destroy();
      }
    }
    events.push(`sent ${res.headersSent} ${res.writableEnded} ${res.hasHeader('content-length')}`);
  });
  const { socket, text: textOf, closed } = await open(serving.port);
  socket.write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
  await first.promise;
  socket.write(`${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await closed;
  const text = textOf();
  await serving.close();
  return { text: text.replaceAll(/Date: [^\r]+ GMT\r/g, 'Date: now\r'), events, isWhole };
}

describe('a response to a plain request', () => {
  const sentWhole: Record<string, Case> = {
    'with a body': {},
    'without a body': { flat: ['content-length', '0'], body: '' },
    'with other headers': {
      flat: ['Server', 'x', ...TWO, 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'x-a', 'caf\u00e9'],
    },
    'with the date of its upstream': { flat: ['date', 'Thu, 01 Jan 1970 00:00:00 GMT', ...TWO] },
    'with an empty value': { flat: ['x-empty', '', ...TWO] },
    'with an error status': { status: 503 },
    'with an unknown status': { status: 599 },
    'with a message': { prepare: (res) => void (res.statusMessage = 'Fine') },
    'without a date': { prepare: (res) => void (res.sendDate = false) },
    'that closes the connection': { prepare: (res) => void (res.shouldKeepAlive = false) },
    'with bytes beyond ASCII': { flat: ['content-length', '1'], body: '\u00e9' },
  };
  for (const [name, each] of Object.entries(sentWhole)) {
    it(`${name} is sent whole as writeHead and end send it`, async () => {
      const [own, expected] = [await received(each, true), await received(each, false)];
      expect(own.isWhole).to.equal(true);
      expect(own.text)
        .to.equal(expected.text)
        .and.match(/^HTTP\/1\.1 /);
      expect(own.events).to.deep.equal(expected.events).and.include('close');
    });
  }

  const leftToNode: Record<string, Case> = {
    'to HEAD': { method: 'HEAD' },
    'of status 204': { status: 204, flat: [], body: '' },
    'of status 304': { status: 304, body: '' },
    'without a length': { flat: ['x-a', '1'] },
    'with two lengths': { flat: [...TWO, ...TWO] },
    'with a length that is not that of the body': { flat: ['content-length', '1'] },
    'with a header of the connection': { flat: [...TWO, 'connection', 'close'] },
    'with an encoding': { flat: ['transfer-encoding', 'chunked'] },
    'with a disposition': { flat: [...TWO, 'content-disposition', 'inline'] },
    'with a line break in a value': { flat: [...TWO, 'x-a', '1\r\nx-b: 2'] },
    'with a character beyond Latin-1': { flat: [...TWO, 'x-a', '\u20ac'] },
    'with a line break in its message': { prepare: (res) => void (res.statusMessage = 'OK\r\nx-b: 2') },
    'with a space in a name': { flat: [...TWO, 'x a', '1'] },
    'with an empty name': { flat: [...TWO, '', '1'] },
    'with a header that was set before': { prepare: (res) => void res.setHeader('x-set', '1') },
    'without a Connection header': { prepare: (res) => void res.removeHeader('connection') },
    'whose writeHead was replaced': { prepare: (res) => writeProperCase(res) },
    'whose end was replaced': { prepare: (res) => void (res.end = res.end.bind(res)) },
    'whose write was replaced': { prepare: (res) => void (res.write = res.write.bind(res)) },
  };
  for (const [name, each] of Object.entries(leftToNode)) {
    it(`${name} is left to writeHead and end`, async () => {
      const [own, expected] = [await received(each, true), await received(each, false)];
      expect(own.isWhole).to.equal(false);
      expect(own.text).to.equal(expected.text);
      expect(own.events).to.deep.equal(expected.events).and.include('close');
    });
  }

  it('is sent once: what follows fails as it does after end', async () => {
    const failed: unknown[] = [];
    const serving = await serve((_req, res) => {
      res.on('error', () => {});
      expect((res as PlainResponse).sendWhole(200, TWO, 'ok')).to.equal(true);
      expect((res as PlainResponse).sendWhole(200, TWO, 'no')).to.equal(false);
      expect(() => res.setHeader('x-a', '1'))
        .to.throw()
        .with.property('code', 'ERR_HTTP_HEADERS_SENT');
      expect(() => res.writeHead(500))
        .to.throw()
        .with.property('code', 'ERR_HTTP_HEADERS_SENT');
      expect(res.write('more', (error) => failed.push((error as NodeJS.ErrnoException).code))).to.equal(false);
      res.end();
    });
    const { text } = await exchange(serving.port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await serving.close();
    expect(text).to.match(/\r\n\r\nok$/);
    expect(failed).to.deep.equal(['ERR_STREAM_WRITE_AFTER_END']);
  });
});
