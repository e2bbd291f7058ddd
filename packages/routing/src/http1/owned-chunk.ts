import { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

const EMITTED = Symbol('edge-gateway.emitted-chunk');
const WAITING = Symbol('edge-gateway.waiting-chunk');
const PUSH = Symbol('edge-gateway.push');
type Carrier = IncomingMessage & {
  [EMITTED]?: Buffer | undefined;
  [WAITING]?: Buffer | undefined;
  [PUSH]?: IncomingMessage['push'];
};

/** Replaces `push` of a request with a function that keeps no chunks. */
export function replacePush(req: IncomingMessage, push: IncomingMessage['push']): void {
  req.push = (req as Carrier)[PUSH] = push;
}

/** Pushes a freeable chunk, to which there is no other reference, into the body of a request. Its receiver may own it, see {@link ownsChunk}. */
export function pushOwned(req: IncomingMessage, chunk: Buffer, push: (chunk: Buffer) => boolean): boolean {
  const isNext = req.readableLength === 0;
  setEmitted(req, chunk);
  const more = push(chunk);
  (req as Carrier)[EMITTED] = undefined;
  if (isNext && req.readableLength > 0) (req as Carrier)[WAITING] = chunk;
  return more;
}

/** True if such a chunk is the next one to be read, see {@link readOwned}. */
export function hasOwned(req: IncomingMessage): boolean {
  return (req as Carrier)[WAITING] !== undefined;
}

/** Reads from the body of a request, which then emits a chunk that was pushed. */
export function readOwned(req: IncomingMessage, read: () => unknown): unknown {
  // While the stream does not flow, a caller of `read` may keep the chunk, or put it back.
  if (req.readableFlowing) setEmitted(req, (req as Carrier)[WAITING]!);
  const chunk: unknown = read();
  (req as Carrier)[EMITTED] = undefined;
  if (chunk !== null) (req as Carrier)[WAITING] = undefined;
  return chunk;
}

/** Returns true if this listener, which has just received a chunk, is its only receiver. */
export function ownsChunk(req: IncomingMessage, chunk: Buffer, listener: (chunk: Buffer) => void): boolean {
  // Middleware that has replaced `on` may have registered a listener of its own, which calls this one.
  return (req as Carrier)[EMITTED] === chunk && req.listeners('data')[0] === listener;
}

/** A chunk has an owner only if there is one listener. Listeners are counted before the event, because `once` removes one before it is called. */
function setEmitted(req: IncomingMessage, chunk: Buffer): void {
  const isOwned = req.listenerCount('data') === 1 && req.listenerCount('readable') === 0 && !isObserved(req);
  (req as Carrier)[EMITTED] = isOwned ? chunk : undefined;
}

const { emit } = IncomingMessage.prototype;
const { push, read } = Readable.prototype;

/** True if middleware has replaced the functions that see the chunks, and may keep them. */
function isObserved(req: IncomingMessage): boolean {
  const isReplaced = Object.hasOwn(req, 'push') && req.push !== (req as Carrier)[PUSH];
  if (isReplaced || req.emit !== emit || Object.hasOwn(req, 'read')) return true;
  return Readable.prototype.push !== push || Readable.prototype.read !== read;
}
