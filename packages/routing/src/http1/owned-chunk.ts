import type { IncomingMessage } from 'node:http';

const OWNED = Symbol('edge-gateway.owned-chunk');
type Carrier = IncomingMessage & { [OWNED]?: Buffer | undefined };

/**
 * Declares that a request emits this chunk of its body now, and keeps no reference to it. A listener that is the only one then owns it:
 * see {@link ownsChunk}. Called without a chunk when that has happened.
 */
export function emitsChunk(req: IncomingMessage, chunk?: Buffer): void {
  const isOwned = chunk !== undefined && req.listenerCount('data') === 1 && req.listenerCount('readable') === 0;
  (req as Carrier)[OWNED] = isOwned ? chunk : undefined;
}

/** Returns true for a listener that has just received this chunk, if nobody else has it. */
export function ownsChunk(req: IncomingMessage, chunk: Buffer): boolean {
  return (req as Carrier)[OWNED] === chunk;
}
