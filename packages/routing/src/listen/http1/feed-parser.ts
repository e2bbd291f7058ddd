import type { Socket } from 'node:net';

/** A socket of the server of `node:http`; `_paused` while it reads no further because responses wait. */
type ServerSocket = Socket & { readonly _paused?: boolean };

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length[ \t]*:[ \t]*(\d{1,15})[ \t]*\r\n/i;
const CHUNKED = /\r\ntransfer-encoding[ \t]*:/i;
const LAST_CHUNK = /(?:^|\r\n)0+\r\n\r\n/;
/** Responses of asynchronous handlers have finished after fewer. */
const ROUNDS = 16;
const UPGRADES = /^CONNECT |\r\nupgrade[ \t]*:/i;

/**
 * Passes bytes to the parser of `node:http` that it has not read itself. When it reads a body itself, it runs what is scheduled
 * before it reports the end of the request; so what begins with the last byte of a body follows later here.
 */
export function feedParser(socket: Socket, bytes: Buffer): void {
  const end = endOfFirstBody(bytes);
  if (end === undefined) return feed(socket, bytes);
  feed(socket, bytes.subarray(0, end - 1));
  afterScheduled(ROUNDS, () => feedRest(socket, bytes.subarray(end - 1)));
}

/** Calls back after what is scheduled as ticks and microtasks, and after what that schedules in turn, up to this depth. */
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
  // A paused parser fails. In the buffer of the socket they would start reading.
  if (socket._paused) socket.once('resume', () => feed(socket, bytes));
  else socket.emit('data', bytes);
}

/** Returns the end of the first body in the bytes, if it is there. */
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
