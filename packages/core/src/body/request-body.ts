import type { IncomingMessage } from 'node:http';
import { factsOf, type ReadBody } from '../contract/facts.ts';
import { coreError } from '../error-codes.ts';
import { removeDescriptions } from './changed-body.ts';
import { bodyFilterOf } from './filtered-request.ts';
import { hasBody, setFraming } from './request-framing.ts';
import { restoreBody } from '../http/parsed-body.ts';

/**
 * Reads at most `maxBytes` of a body and puts them back, so that the stream still returns all of it. Rejects if
 * the client disconnects.
 */
export function peekBody(req: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;

    function settle(whole: boolean): void {
      req.off('readable', onReadable).off('error', onError).off('close', onClose);
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      if (size > 0) req.unshift(bytes);
      resolve({ bytes: whole ? bytes : bytes.subarray(0, maxBytes), whole });
    }

    function onReadable(): void {
      // Reading an empty stream would end it: a body could then no longer be put in.
      while (req.readableLength > 0) {
        const chunk = req.read() as Buffer;
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) return settle(false);
      }
      // The end is only emitted in the next tick, so the bytes can still be put back before it.
      if (isReceived(req)) settle(true);
    }

    const failure = bodyFilterOf(req)?.error;
    if (failure) return reject(failure);
    const onError = (error: Error): void => reject(error);
    const onClose = (): void => reject(new Error('the client disconnected'));
    if (isReceived(req) && req.readableLength === 0) return settle(true);
    req.on('readable', onReadable).on('error', onError).on('close', onClose);
  });
}

/**
 * Reads the whole body of a request, which other handlers and the destination can still read. Rejects with 413
 * `ERR_CORE_BODY_TOO_LARGE` if it is larger than `maxBytes`, and with `ERR_CORE_BODY_CONSUMED` if other middleware read it
 * and it cannot be restored.
 *
 * @example
 * const body = await readWholeBody(req, 1_048_576);
 * replaceBody(req, Buffer.from(body.toString('utf8').toUpperCase()));
 */
export async function readWholeBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const facts = factsOf(req);
  const bytes = facts.body?.whole ? facts.body.bytes : await read(req, maxBytes);
  if (bytes.length > maxBytes) throw tooLarge();
  return bytes;
}

async function read(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (!hasBody(req)) return EMPTY;
  if (req.readableEnded) {
    const restored = restoreBody(req);
    if (restored.bytes) return restored.bytes;
    throw coreError('ERR_CORE_BODY_CONSUMED', `the request body cannot be restored: ${restored.reason}`);
  }
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const body = await peekBody(req, maxBytes);
  if (!body.whole) throw tooLarge();
  factsOf(req).body = body;
  return body.bytes;
}

/**
 * Replaces the body of a request that {@link readWholeBody} has read, for later handlers and the destination; with its framing. Headers
 * of the client that describe other bytes, such as `content-digest`, are removed.
 * After a body parser, `req.rawBody` is replaced, and `req.body` by a value of the same kind: an object becomes parsed JSON if possible.
 */
export function replaceBody(req: IncomingMessage, body: Buffer): void {
  const facts = factsOf(req);
  if (facts.body?.bytes !== body) removeDescriptions(req);
  facts.body = { bytes: body, whole: true };
  if (req.readableEnded) {
    const { body: parsed } = req as { readonly body?: unknown };
    Object.assign(req, { rawBody: body, body: parsedAs(parsed, body) });
  } else {
    // Without a size, reading the last byte would end the stream before a filter is added.
    if (req.readableLength > 0) req.read(req.readableLength);
    if (body.length > 0) req.unshift(body);
  }
  setFraming(req, body.length);
}

/** Returns a body in the form in which a parser left the one before. */
function parsedAs(before: unknown, body: Buffer): unknown {
  if (before === undefined || Buffer.isBuffer(before)) return body;
  const text = body.toString('utf8');
  if (typeof before === 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Returns true if the stream receives nothing more. */
function isReceived(req: IncomingMessage): boolean {
  return req.complete && !bodyFilterOf(req)?.isOpen;
}

function tooLarge(): Error {
  const reply = { body: 'payload too large', details: 'request_payload_too_large' };
  return coreError('ERR_CORE_BODY_TOO_LARGE', undefined, { reply });
}

const EMPTY = Buffer.alloc(0);
