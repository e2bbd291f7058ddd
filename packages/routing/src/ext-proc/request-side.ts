import type { IncomingMessage } from 'node:http';
import { factsOf, filterRequestBody, hasBody, peekBody, readWholeBody, replaceBody } from '@edge-gateway/core';
import { RequestMessage } from '../transform/message.ts';
import { applyMutation } from './apply-mutation.ts';
import type { Processor } from './processor.ts';
import type { CommonResponse, ProcessingRequest, ProcessingResponse } from './messages.ts';
import { overriddenMode } from './settings.ts';
import { filterTrailers, mayHaveTrailers, sendsTrailers } from './process-trailers.ts';

const REPLACED = 1;

/** Processes the head of a request, and its body as far as the mode says. Rejects with the response to the client. */
export async function processRequest(req: IncomingMessage, processor: Processor): Promise<void> {
  if (processor.mode.requestHeaders) await processHead(req, processor);
  if (processor.isDone) return;
  if (hasBody(req)) await processBody(req, processor);
  if (processor.mode.requestTrailers && mayHaveTrailers(req)) filterTrailers(req, processor);
}

async function processBody(req: IncomingMessage, processor: Processor): Promise<void> {
  const { requestBody } = processor.mode;
  if (requestBody === 'STREAMED') filterRequestBody(req, (chunks) => processChunks(chunks, req, processor));
  else if (requestBody === 'BUFFERED') await processWhole(req, processor);
  else if (requestBody === 'BUFFERED_PARTIAL') await processStart(req, processor);
}

async function processHead(req: IncomingMessage, processor: Processor): Promise<void> {
  const message = new RequestMessage(req);
  const { facts } = message;
  const pseudo = [
    ':method',
    facts.method,
    ':scheme',
    message.first('x-forwarded-proto') || 'http',
    ':authority',
    message.authority,
    ':path',
    facts.path,
  ];
  const headers = processor.forwarded([...pseudo, ...withoutHost(message.headers)]);
  const metadata = metadataOf(facts.metadata, processor.settings.namespaces);
  const sent: ProcessingRequest = {
    requestHeaders: { headers: { headers }, endOfStream: !hasBody(req) },
    ...(metadata && { metadata }),
  };
  const result = await processor.process('requestHeaders', sent);
  if (!result) return;
  overrideMode(processor, result);
  const response = result.requestHeaders?.response;
  if (!response) return;
  applyMutation(message, response.headerMutation, processor);
  if (response.clearRouteCache && !processor.settings.keepsRoute) facts.reroute = true;
  if (response.status !== REPLACED) return;
  await replaceWith(req, response);
  processor.isDone = true;
}

/** A mode that a server changes later has no effect. */
export function overrideMode(processor: Processor, { modeOverride }: ProcessingResponse): void {
  if (modeOverride && processor.settings.allowsModeOverride)
    processor.mode = overriddenMode(processor.mode, modeOverride);
}

function withoutHost(flat: readonly string[]): string[] {
  return flat.filter((_, i) => flat[i - (i % 2)] !== 'host');
}

function metadataOf(
  metadata: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  namespaces: readonly string[],
): ProcessingRequest['metadata'] {
  const known = namespaces.filter((namespace) => metadata.has(namespace));
  if (known.length === 0) return undefined;
  return Object.fromEntries(known.map((namespace) => [namespace, metadata.get(namespace)!]));
}

/** Replaces the body, also of a request without one. What the client sends is read and dropped. */
async function replaceWith(req: IncomingMessage, response: CommonResponse): Promise<void> {
  const body = bodyOf(response, undefined);
  if (!body) return;
  if (hasBody(req)) await readWholeBody(req, MAX_DROPPED_BYTES);
  replaceBody(req, body);
}

/** Longest body that is dropped. */
const MAX_DROPPED_BYTES = 1_048_576;

async function processWhole(req: IncomingMessage, processor: Processor): Promise<void> {
  const body = await readWholeBody(req, processor.settings.maxBodyBytes);
  await processBuffered(req, { body, isWhole: true }, processor);
}

/** Processes the first bytes of a body; the rest follows unchanged. */
async function processStart(req: IncomingMessage, processor: Processor): Promise<void> {
  const { bytes, whole } = await peekBody(req, processor.settings.maxBodyBytes);
  if (whole) {
    factsOf(req).body = { bytes, whole };
    return processBuffered(req, { body: bytes, isWhole: true }, processor);
  }
  const response = await processor.process('requestBody', { requestBody: { body: bytes, endOfStream: false } });
  const changed = bodyOf(response?.requestBody?.response, bytes);
  applyMutation(new RequestMessage(req), response?.requestBody?.response?.headerMutation, processor);
  if (changed !== bytes) filterRequestBody(req, (chunks) => replaceStart(chunks, bytes.length, changed));
}

async function processBuffered(
  req: IncomingMessage,
  { body, isWhole }: { readonly body: Buffer; readonly isWhole: boolean },
  processor: Processor,
): Promise<void> {
  const response = await processor.process('requestBody', {
    requestBody: { body, endOfStream: isWhole && !sendsTrailers(req, processor) },
  });
  const result = response?.requestBody?.response;
  if (!result) return;
  applyMutation(new RequestMessage(req), result.headerMutation, processor);
  if (result.clearRouteCache && !processor.settings.keepsRoute) factsOf(req).reroute = true;
  const changed = bodyOf(result, body);
  if (changed !== body) replaceBody(req, changed);
}

/** Returns the body after a mutation; the same one without. */
export function bodyOf<B extends Buffer | undefined>(response: CommonResponse | null | undefined, body: B): Buffer | B {
  const mutation = response?.bodyMutation;
  if (mutation?.mutation === 'body') return mutation.body!;
  return mutation?.mutation === 'clearBody' && mutation.clearBody ? Buffer.alloc(0) : body;
}

/** Sends each chunk to the server and passes on what it returns. */
async function* processChunks(
  chunks: AsyncIterable<Buffer>,
  req: IncomingMessage,
  processor: Processor,
): AsyncGenerator<Buffer> {
  yield* eachChunk(chunks, processor, { part: 'requestBody', hasTrailers: () => sendsTrailers(req, processor) });
}

/** A body that is sent in chunks. */
interface ChunkedPart {
  readonly part: 'requestBody' | 'responseBody';
  /** Called at the end: true if the server receives trailers after the body. */
  readonly hasTrailers: () => boolean;
}

/** Sends each chunk, and the end of the body with the last one, to the server, and passes on what it returns. */
export async function* eachChunk(
  chunks: AsyncIterable<Buffer>,
  processor: Processor,
  { part, hasTrailers }: ChunkedPart,
): AsyncGenerator<Buffer> {
  let last: Buffer | undefined;
  const send = async (body: Buffer, endOfStream: boolean): Promise<Buffer> => {
    const response = await processor.process(part, { [part]: { body, endOfStream } });
    return bodyOf(response?.[part]?.response, body);
  };
  for await (const chunk of chunks) {
    if (last) yield await send(last, false);
    last = chunk;
  }
  const isEnd = !hasTrailers();
  if (last || isEnd) yield await send(last ?? Buffer.alloc(0), isEnd);
}

/** Replaces the first bytes of a body. */
export async function* replaceStart(
  chunks: AsyncIterable<Buffer>,
  length: number,
  start: Buffer,
): AsyncGenerator<Buffer> {
  let left = length;
  yield start;
  for await (const chunk of chunks) {
    if (left >= chunk.length) left -= chunk.length;
    else {
      yield left === 0 ? chunk : chunk.subarray(left);
      left = 0;
    }
  }
}
