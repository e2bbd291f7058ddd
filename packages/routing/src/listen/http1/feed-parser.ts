import type { Socket } from 'node:net';

/** A socket of the `node:http` server; `_paused` while it does not read because responses are pending. */
type ServerSocket = Socket & { readonly _paused?: boolean };

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length[ \t]*:[ \t]*(\d{1,15})[ \t]*\r\n/i;
const CHUNKED = /\r\ntransfer-encoding[ \t]*:/i;
const LAST_CHUNK = /(?:^|\r\n)0+\r\n\r\n/;
/** Enough for responses of asynchronous handlers to finish. */
const ROUNDS = 16;
const UPGRADES = /^CONNECT |\r\nupgrade[ \t]*:/i;

/**
 * Passes bytes that were read elsewhere to the `node:http` parser. When `node:http` reads a body itself, scheduled callbacks run before the
 * end of the request is reported. To keep that order, the last byte of a body is passed later.
 */
export function feedParser(socket: Socket, bytes: Buffer): void {
  const end = endOfFirstBody(bytes);
  if (end === undefined) return feed(socket, bytes);
  feed(socket, bytes.subarray(0, end - 1));
  afterScheduled(ROUNDS, () => feedRest(socket, bytes.subarray(end - 1)));
}

/** Calls back after the scheduled ticks and microtasks, and those that they schedule in turn, up to this depth. */
function afterScheduled(rounds: number, then: () => void): void {
  if (rounds === 0) return then();
  queueMicrotask(() => process.nextTick(afterScheduled, rounds - 1, then));
}

function feedRest(socket: Socket, bytes: Buffer): void {
  feed(socket, bytes.subarray(0, 1));
  if (bytes.length > 1) feedParser(socket, bytes.subarray(1));
}

function feed(socket: ServerSocket, bytes: Buffer): void {
  if (socket.destroyed) return;
  // A paused parser fails, and `unshift` would start reading.
  if (socket._paused) socket.once('resume', () => feed(socket, bytes));
  else socket.emit('data', bytes);
}

/** Returns the end offset of the first body, if the bytes contain it. */
function endOfFirstBody(bytes: Buffer): number | undefined {
  const text = bytes.toString('latin1');
  for (let at = 0; ;) {
    const headEnd = text.indexOf(HEAD_END, at);
    if (headEnd < 0) return undefined;
    const head = text.slice(at, headEnd + 2);
    const bodyStart = headEnd + HEAD_END.length;
    if (UPGRADES.test(head)) return undefined;
    if (CHUNKED.test(head)) {
      const last = LAST_CHUNK.exec(text.slice(bodyStart));
      return last ? bodyStart + last.index + last[0].length : undefined;
    }
    const length = Number(LENGTH.exec(head)?.[1] ?? 0);
    if (length > 0) return bodyStart + length <= text.length ? bodyStart + length : undefined;
    at = bodyStart;
  }
}
