import type { IncomingMessage } from 'node:http';
import { applyHeaderChanges, factsOf, filterRequestBody, type BodyStream } from '@edge-gateway/core';
import { forwardableTrailers } from '../http1/trailers.ts';
import type { TrailerPart } from './messages.ts';
import { changesOf } from './mutations.ts';
import type { Processor } from './processor.ts';

/** Trailers have no pseudo-headers. */
const NONE: ReadonlySet<string> = new Set();

/** Returns true if the request may have trailers that are forwarded: those of a replaced body are known already. */
export function mayHaveTrailers(req: IncomingMessage): boolean {
  const isPossible = req.headers['transfer-encoding'] !== undefined || req.rawTrailers.length > 0;
  return isPossible && factsOf(req).passesTrailers;
}

/** Returns true if the received request has trailers that the server processes. */
export function sendsTrailers(req: IncomingMessage, processor: Processor): boolean {
  return processor.mode.requestTrailers && req.rawTrailers.length > 0 && mayHaveTrailers(req);
}

/** Passes a body on, and then sends its trailers to the server. */
export function filterTrailers(req: IncomingMessage, processor: Processor): void {
  const stream: BodyStream = async function* (chunks) {
    yield* chunks;
    if (!sendsTrailers(req, processor)) return;
    req.rawTrailers = await processTrailers('requestTrailers', req.rawTrailers, processor);
  };
  filterRequestBody(req, stream, true);
}

/** Returns the trailers of a response after the changes of the server; none that repeats a header. */
export async function changeTrailers(
  flat: readonly string[],
  headers: readonly string[],
  processor: Processor,
): Promise<readonly string[]> {
  if (!processor.mode.responseTrailers) return flat;
  const changed = await processTrailers('responseTrailers', flat, processor);
  return forwardableTrailers(changed, headers, { dropsUnderscores: false });
}

/** Sends trailers to the server and returns them with its changes. Rejects with the response to the client. */
async function processTrailers(part: TrailerPart, flat: readonly string[], processor: Processor): Promise<string[]> {
  const result = await processor.process(part, { [part]: { trailers: { headers: processor.forwarded(flat) } } });
  const { rules } = processor.settings;
  try {
    const target = { rules, pseudoHeaders: NONE, onRejected: processor.onRejected };
    return applyHeaderChanges(flat, changesOf(result?.[part]?.headerMutation, target));
  } catch (error) {
    processor.fail(error);
    return [...flat];
  }
}
