import type { IncomingMessage } from 'node:http';
import { isReleasable } from './spare-buffers.ts';

const EMITTED = Symbol('edge-gateway.emitted-chunk');
const WAITING = Symbol('edge-gateway.waiting-chunk');
type Carrier = IncomingMessage & { [EMITTED]?: Buffer | undefined; [WAITING]?: Buffer | undefined };

/** Pushes a chunk into the body of a request that nobody else has: who receives it may own it, see {@link ownsChunk}. */
export function pushOwned(req: IncomingMessage, chunk: Buffer, push: (chunk: Buffer) => boolean): boolean {
  if (!isReleasable(chunk)) return push(chunk);
  const isNext = req.readableLength === 0;
  setEmitted(req, chunk);
  const more = push(chunk);
  (req as Carrier)[EMITTED] = undefined;
  if (isNext && req.readableLength > 0) (req as Carrier)[WAITING] = chunk;
  return more;
}

/** Reads from the body of a request, which then emits the chunk that waits longest. */
export function readOwned(req: IncomingMessage, read: () => unknown): unknown {
  const waiting = (req as Carrier)[WAITING];
  if (!waiting) return read();
  // Without flow, what `read` returns may be kept, and be put back.
  if (req.readableFlowing) setEmitted(req, waiting);
  const chunk: unknown = read();
  (req as Carrier)[EMITTED] = undefined;
  if (chunk !== null) (req as Carrier)[WAITING] = undefined;
  return chunk;
}

/** Returns true for a listener that has just received this chunk, if nobody else has it. */
export function ownsChunk(req: IncomingMessage, chunk: Buffer): boolean {
  return (req as Carrier)[EMITTED] === chunk;
}

/** Only one listener can own a chunk. Counted before: one that is called once is removed before it is called. */
function setEmitted(req: IncomingMessage, chunk: Buffer): void {
  const isOwned = req.listenerCount('data') === 1 && req.listenerCount('readable') === 0;
  (req as Carrier)[EMITTED] = isOwned ? chunk : undefined;
}
