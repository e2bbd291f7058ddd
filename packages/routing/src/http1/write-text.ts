import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { getSystemErrorName } from 'node:util';

/** What the system reports the end of a write to. */
interface WriteRequest {
  /** What is being written, which stays in memory until the end. */
  buffer?: Buffer;
  oncomplete?: (status: number) => void;
  /** Returns -1 unless the system reports the end of a write to it. */
  getAsyncId(): number;
}

/** The part of the handle of a socket that writes. */
interface Handle {
  /** Returns an error number, or 0. `request` is used only if the text cannot be written at once. */
  writeLatin1String?(request: WriteRequest, text: string): number;
  /** Like `writeLatin1String`; the buffer must not change before the end of the write. */
  writeBuffer?(request: WriteRequest, data: Buffer): number;
  /** Number of bytes that are not written yet. */
  readonly writeQueueSize: number;
}

interface Internals {
  _handle: Handle | null;
  _unrefTimer(): void;
  [key: symbol]: unknown;
}
type Carrier = Socket & Internals;

/** Receives the end of a write that did not complete immediately, with the reason if it failed. */
export interface WriteObserver {
  onWritten(error?: Error | null): void;
}

let Request: (new () => WriteRequest) | undefined;
const probe = new Socket() as Carrier;
probe._handle = {
  writeLatin1String(request) {
    Request = request.constructor as typeof Request;
    return 0;
  },
  writeQueueSize: 0,
};
probe.write('', 'latin1');
probe._handle = null;
/** The size at the last look at a write in progress: a connection that makes progress is not idle. */
const QUEUE_SIZE = Object.getOwnPropertySymbols(probe).find(({ description }) => description === 'lastWriteQueueSize');
probe.destroy();

/** True if this version of Node has the internals that {@link writeText} uses; without them it is slower. */
export const canWriteDirectly =
  Request !== undefined && typeof Request.prototype.getAsyncId === 'function' && QUEUE_SIZE !== undefined;

let spare = Request && new Request();

/**
 * Writes a text with one byte for each character. Returns true if all of it was written at once, as nearly always; otherwise
 * reports the end of the write to `observer`. A failure destroys the socket.
 *
 * It does what `socket.write` does, without the queue of the stream, which a text that is written at once does not need.
 */
export function writeText(socket: Socket, text: string, observer?: WriteObserver): boolean {
  const handle = directHandle(socket as Carrier);
  if (!handle) {
    socket.write(text, 'latin1', observer && ((error) => observer.onWritten(error)));
    return false;
  }
  return writeTo(handle, socket as Carrier, text, observer);
}

/**
 * Like {@link writeText}, for a text or bytes that precede what the stream has queued meanwhile, or its end. If it returns false, the bytes must
 * not change any more.
 */
export function writeFirst(socket: Socket, data: string | Buffer, observer: WriteObserver): boolean {
  const carrier = socket as Carrier;
  if (carrier._handle) return writeTo(carrier._handle, carrier, data, observer);
  process.nextTick(() => observer.onWritten(new Error('the socket is closed')));
  return false;
}

function writeTo(handle: Handle, carrier: Carrier, data: string | Buffer, observer?: WriteObserver): boolean {
  carrier._unrefTimer();
  const request = spare!;
  const isText = typeof data === 'string';
  const status = isText ? handle.writeLatin1String!(request, data) : handle.writeBuffer!(request, data);
  if (status !== 0) {
    spare = new Request!();
    process.nextTick(failed, carrier, status, observer);
    return false;
  }
  // An empty queue does not mean that the end was reported. Node aborts if such a request is used again.
  if (request.getAsyncId() === -1) return true;
  carrier[QUEUE_SIZE!] = handle.writeQueueSize;
  spare = new Request!();
  if (!isText) request.buffer = data;
  request.oncomplete = (result) => {
    if (result < 0) return failed(carrier, result, observer);
    if (!carrier.destroyed) carrier._unrefTimer();
    carrier[QUEUE_SIZE!] = 0;
    observer?.onWritten();
  };
  return false;
}

/** True if bytes can be written directly to an open socket, with {@link writeFirst}. */
export const canWriteBytes = (socket: Socket): boolean =>
  typeof (socket as Carrier)._handle?.writeBuffer === 'function';

/** True if a text would be written directly: nothing is queued, and no other code intercepts the writes. */
export const writesDirectly = (socket: Socket): boolean => directHandle(socket as Carrier) !== undefined;

/** Returns the handle of an open socket without TLS, if nothing is queued and no other code intercepts its writes. */
function directHandle(socket: Carrier): Handle | undefined {
  if (!canWriteDirectly || Object.getPrototypeOf(socket) !== Socket.prototype) return undefined;
  if (socket.write !== Duplex.prototype.write || socket.connecting) return undefined;
  if (!socket.writable || socket.writableLength > 0 || socket.writableCorked > 0) return undefined;
  return socket._handle ?? undefined;
}

function failed(socket: Socket, status: number, observer?: WriteObserver): void {
  const code = getSystemErrorName(status);
  const error = Object.assign(new Error(`write ${code}`), { errno: status, code, syscall: 'write' });
  observer?.onWritten(error);
  socket.destroy(error);
}
