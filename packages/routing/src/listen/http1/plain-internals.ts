import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { PlainRequest } from './plain-request.ts';
import { PlainResponse } from './plain-response.ts';
import { canReadDirectly, drained } from './user-buffer.ts';

/** Some behavior of Node beyond its documentation, by name, and whether this version has it. */
type Probe = readonly [name: string, isPresent: () => boolean];

const HIGH_WATER_MARK = 4_096;

/** A connection that keeps what is written to it, and finishes writes only when told. */
class Capture extends Duplex {
  text = '';
  #written: (() => void)[] = [];

  constructor() {
    super({ writableHighWaterMark: HIGH_WATER_MARK });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('latin1');
    this.#written.push(done);
  }

  /** Finishes all writes, also those that Node delays to collect more. */
  finishWrites(): void {
    this.uncork();
    for (let done = this.#written.shift(); done; done = this.#written.shift()) done();
  }
}

const asSocket = (capture: Capture): Socket & { _httpMessage?: ServerResponse } => capture as unknown as Socket;

/** Creates a response as a plain connection does. */
function respondTo(capture: Capture): PlainResponse {
  const socket = asSocket(capture);
  const res = new PlainResponse(plainRequest(undefined), socket, 7_000);
  res.attach(socket);
  return res;
}

function plainRequest(contentLength: number | undefined, body?: Buffer): PlainRequest {
  const rawHeaders = ['Host', 'a', 'X', '1', 'x', '2'];
  const head = { method: 'POST', target: '/', rawHeaders, contentLength, keepAlive: true, bodyStart: 0 };
  return new PlainRequest(new Socket(), head, body);
}

const PROBES: readonly Probe[] = [
  ['buffer and callback of onread', () => canReadDirectly],
  [
    'Socket._httpMessage',
    () => {
      const capture = new Capture();
      respondTo(capture).writeHead(200, ['content-length', '2']).end('ok', 'latin1');
      const writesToIt = capture.text.startsWith('HTTP/1.1 200 OK\r\n') && capture.text.endsWith('\r\n\r\nok');
      return writesToIt && capture.text.includes('\r\nKeep-Alive: timeout=7\r\n');
    },
  ],
  [
    'ServerResponse._last',
    () => {
      const kept = respondTo(new Capture());
      kept.writeHead(200, ['content-length', '0']).end();
      const last = respondTo(new Capture());
      last.shouldKeepAlive = false;
      last.writeHead(200, ['content-length', '0']).end();
      return !kept._last && last._last;
    },
  ],
  [
    'ServerResponse._header',
    () => {
      const capture = new Capture();
      const res = respondTo(capture);
      const isSent = res.sendWhole(200, ['content-length', '2', 'date', 'today'], 'ok');
      const written = respondTo(new Capture());
      written.writeHead(200, ['content-length', '2', 'date', 'today']).end('ok', 'latin1');
      const expected = (written.socket as unknown as Capture).text;
      return isSent && capture.text === expected && res.headersSent && res.writableEnded;
    },
  ],
  ['ServerResponse._closed', () => respondTo(new Capture())._closed === false],
  [
    'kNeedDrain of ServerResponse',
    () => {
      const capture = new Capture();
      const res = respondTo(capture);
      let drains = 0;
      res.on('drain', () => drains++);
      res.writeHead(200, ['content-length', '9000']);
      const isFull = !res.write(Buffer.alloc(9_000));
      drained(res);
      const early = drains;
      capture.finishWrites();
      drained(res);
      return isFull && early === 0 && drains === 1;
    },
  ],
  [
    'IncomingMessage._addHeaderLines',
    () => {
      const { headers, rawHeaders } = plainRequest(undefined);
      return headers.x === '1, 2' && rawHeaders.length === 6;
    },
  ],
  [
    'IncomingMessage._consuming',
    () => {
      const req = plainRequest(2, Buffer.from('ok')) as unknown as { _consuming: unknown; _dump: unknown };
      return req._consuming === false && typeof req._dump === 'function';
    },
  ],
  [
    'Readable._readableState',
    () => {
      const { _readableState: state } = plainRequest(2) as unknown as { _readableState: Record<string, unknown> };
      return typeof state.resumeScheduled === 'boolean' && typeof state.readingMore === 'boolean';
    },
  ],
  [
    'IncomingMessage.push',
    () => {
      const req = plainRequest(2, Buffer.from('ok'));
      req.deliver();
      const body = String(req.read());
      req.finish();
      return body === 'ok' && req.complete;
    },
  ],
];

/** Returns the names of internals of Node that plain connections require and that this version lacks. */
export function findMissingInternals(): readonly string[] {
  return PROBES.filter(([, isPresent]) => !succeeds(isPresent)).map(([name]) => name);
}

function succeeds(isPresent: () => boolean): boolean {
  try {
    return isPresent();
  } catch {
    return false;
  }
}
