import type { IncomingMessage } from 'node:http';
import { factsOf, filterRequestBody, hasBody, readWholeBody, replaceBody } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { RequestMessage } from '../transform/message.ts';
import { frameOf } from './frames.ts';
import { elementsOf } from './json-array.ts';
import { encodeMessage, encodeRaw, type FieldText, type MessageParts } from './request-message.ts';
import type { MatchedCall, Transcoder } from './transcoder.ts';

/**
 * Turns a request into the gRPC call of the rule that it matches. Resolves with the call, or with `undefined` if the request stays as it is.
 * Rejects with the response to an invalid request.
 */
export async function transcodeRequest(req: IncomingMessage, transcoder: Transcoder): Promise<MatchedCall | undefined> {
  const facts = factsOf(req);
  const call = transcoder.match(facts.method, facts.path);
  if (!call) return undefined;
  const { bound, texts } = call;
  const parts = (own: readonly FieldText[]): MessageParts => ({
    type: bound.method.input,
    registry: transcoder.registry,
    bodyPath: bound.bodyPath,
    texts: own,
  });
  const encode = encoderOf(req, call, parts);
  if (!isStreamed(call)) replaceBody(req, frameOf(encode(await bodyOf(req, call), texts)));
  else if (hasBody(req))
    filterRequestBody(req, (chunks) => frames(chunks, call, { encode, maxBytes: facts.bufferLimitBytes }));
  else replaceBody(req, texts.length > 0 ? frameOf(encode(undefined, texts)) : Buffer.alloc(0));
  changeHead(req, bound.path);
  facts.readsTrailers = true;
  facts.reroute = !transcoder.keepsRoute;
  return call;
}

/** Encodes one message. */
type Encode = (body: Buffer | undefined, texts: readonly FieldText[]) => Uint8Array;

function encoderOf(
  req: IncomingMessage,
  { bound }: MatchedCall,
  parts: (texts: readonly FieldText[]) => MessageParts,
): Encode {
  if (!bound.isRawRequest) return (body, texts) => encodeMessage(body, parts(texts));
  const contentType = factsOf(req).header('content-type') ?? '';
  return (bytes = Buffer.alloc(0), texts) => encodeRaw({ bytes, contentType }, parts(texts));
}

function isStreamed({ bound: { method } }: MatchedCall): boolean {
  return method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming';
}

/** Returns the body; `undefined` if it is empty. */
async function bodyOf(req: IncomingMessage, { bound }: MatchedCall): Promise<Buffer | undefined> {
  if (!hasBody(req)) return undefined;
  const body = await readWholeBody(req, factsOf(req).bufferLimitBytes);
  if (body.length === 0) return undefined;
  if (!bound.hasBody) throw routingError('ERR_ROUTING_GRPC_JSON', 'invalid request: the method accepts no body');
  return body;
}

/** Returns a frame per element of a JSON array, or per chunk of a raw body. Texts are a part of the first message only. */
async function* frames(
  chunks: AsyncIterable<Buffer>,
  { bound, texts }: MatchedCall,
  { encode, maxBytes }: { readonly encode: Encode; readonly maxBytes: number },
): AsyncGenerator<Buffer> {
  let own = texts;
  for await (const part of bound.isRawRequest ? chunks : elementsOf(chunks, maxBytes)) {
    yield frameOf(encode(part, own));
    own = [];
  }
  if (own.length > 0) yield frameOf(encode(undefined, own));
}

/** Headers about the compression of messages: they are sent uncompressed, and must be received so. */
const ENCODINGS = ['grpc-encoding', 'grpc-accept-encoding', 'content-encoding'];

function changeHead(req: IncomingMessage, path: string): void {
  const message = new RequestMessage(req);
  const { facts } = message;
  for (const name of ENCODINGS) message.remove(name);
  message.set('content-type', 'application/grpc');
  message.set('te', 'trailers');
  message.set('x-envoy-original-path', facts.path);
  message.set('x-envoy-original-method', facts.method);
  facts.method = 'POST';
  facts.path = path;
}
