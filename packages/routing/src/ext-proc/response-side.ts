import type { IncomingMessage } from 'node:http';
import type { BodyChange, FilteredHead, TunnelHead } from '@edge-gateway/core';
import { RequestMessage, ResponseMessage } from '../transform/message.ts';
import { applyMutation } from './apply-mutation.ts';
import type { Processor } from './processor.ts';
import { bodyOf, eachChunk, overrideMode } from './request-side.ts';

const REPLACED = 1;
const STATUS = ':status';

/** Processes the head of a response, and returns how its body is processed. Rejects with the response to the client. */
export async function processResponse(
  req: IncomingMessage,
  head: FilteredHead,
  processor: Processor,
): Promise<BodyChange | undefined> {
  const message = new ResponseMessage(head, new RequestMessage(req));
  let replaced: Buffer | undefined;
  if (processor.mode.responseHeaders) replaced = await processHead(message, head, processor, !head.hasBody);
  if (replaced) {
    const body = replaced;
    return { maxBytes: Number.MAX_SAFE_INTEGER, transform: () => body };
  }
  if (processor.isDone || !head.hasBody) return undefined;
  const { responseBody } = processor.mode;
  if (responseBody === 'STREAMED') {
    const hasTrailers = (): boolean => processor.mode.responseTrailers && head.hasTrailers === true;
    return { stream: (chunks) => eachChunk(chunks, processor, { part: 'responseBody', hasTrailers }) };
  }
  const { maxBodyBytes: maxBytes } = processor.settings;
  if (responseBody === 'BUFFERED') return { maxBytes, transform: (body) => processBody(message, body, processor) };
  if (responseBody === 'NONE') return undefined;
  return {
    maxBytes,
    transform: (body) => processBody(message, body, processor),
    transformStart: (start) => processBody(message, start, processor, false),
  };
}

/** Processes the head of a response that opens a tunnel, whose data is not processed. Rejects with the response to the client. */
export async function processTunnel(req: IncomingMessage, head: TunnelHead, processor: Processor): Promise<void> {
  const message = new ResponseMessage(head, new RequestMessage(req));
  if (processor.mode.responseHeaders) await processHead(message, head, processor, false);
  processor.close();
}

async function processHead(
  message: ResponseMessage,
  head: TunnelHead,
  processor: Processor,
  endOfStream: boolean,
): Promise<Buffer | undefined> {
  const headers = processor.forwarded([STATUS, String(head.status), ...head.headers]);
  const result = await processor.process('responseHeaders', {
    responseHeaders: { headers: { headers }, endOfStream },
  });
  if (!result) return undefined;
  overrideMode(processor, result);
  const response = result.responseHeaders?.response;
  if (!response) return undefined;
  applyMutation(message, response.headerMutation, processor);
  if (response.status !== REPLACED) return undefined;
  processor.isDone = true;
  return bodyOf(response, undefined);
}

async function processBody(
  message: ResponseMessage,
  body: Buffer,
  processor: Processor,
  isWhole = true,
): Promise<Buffer> {
  const result = await processor.process('responseBody', { responseBody: { body, endOfStream: isWhole } });
  const response = result?.responseBody?.response;
  if (response) applyMutation(message, response.headerMutation, processor);
  return bodyOf(response, body);
}
