import {
  applyHeaderChanges,
  grpcTypeOf,
  type FilteredHead,
  type HeaderChange,
  type ResponseFilter,
} from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { findHeader } from '../http1/flat-headers.ts';
import { messagesOf } from './frames.ts';
import { callStatusOf, httpStatusOf, statusJson, STATUS_HEADERS, type CallStatus } from './call-status.ts';
import { decodeMessage, decodeRaw } from './response-message.ts';
import type { MatchedCall, Transcoder } from './transcoder.ts';

const JSON_TYPE = 'application/json';

/** Where a response comes from, and its limits. */
interface ResponseParts {
  readonly call: MatchedCall;
  readonly transcoder: Transcoder;
  /** Maximum size of a message. */
  readonly maxBytes: number;
}

/** Returns the filter that turns the gRPC response to a call into JSON. Other responses pass unchanged. */
export function responseFilter(parts: ResponseParts): ResponseFilter {
  const { methodKind } = parts.call.bound.method;
  const isStreamed = methodKind === 'server_streaming' || methodKind === 'bidi_streaming';
  let isTranscoded = false;
  return {
    onHead(head) {
      if (head.isLocalReply || !grpcTypeOf(findHeader(head.headers, 'content-type') ?? '')) return undefined;
      isTranscoded = true;
      if (isStreamed) return { holdsHead: true, stream: (chunks) => streamedBody(chunks, head, parts) };
      return {
        maxBytes: parts.maxBytes,
        tooLarge: () => invalid('the message is too large'),
        transform: (body) => wholeBody(body, head, parts),
      };
    },
    // They are in the head.
    onTrailers: (trailers) => (isTranscoded ? [] : trailers),
  };
}

/** Returns the body of a unary response, and completes its head. */
async function wholeBody(body: Buffer, head: FilteredHead, parts: ResponseParts): Promise<Buffer> {
  const status = statusOf(head);
  if (status.code !== 0) return failure(status, head, parts);
  const messages: Buffer[] = [];
  for await (const each of messagesOf(one(body), parts.maxBytes)) messages.push(each);
  const [message] = messages;
  if (!message || messages.length > 1) throw invalid(`${messages.length} messages instead of one`);
  const { text, contentType } = bodyOf(message, parts);
  changeHead(head, contentType, status);
  return text;
}

async function* one(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}

/** Returns the messages of a stream as a JSON array, or the data of raw ones; and completes the head before the first one. */
async function* streamedBody(
  chunks: AsyncIterable<Buffer>,
  head: FilteredHead,
  parts: ResponseParts,
): AsyncGenerator<Buffer> {
  const isRaw = parts.call.bound.isRawResponse;
  let isStarted = false;
  for await (const message of messagesOf(chunks, parts.maxBytes)) {
    const { text, contentType } = bodyOf(message, parts);
    if (!isStarted) changeHead(head, contentType);
    yield isRaw ? text : Buffer.concat([isStarted ? COMMA : OPEN, text]);
    isStarted = true;
  }
  const status = statusOf(head);
  // What was sent would look complete: the connection is aborted.
  if (isStarted && status.code !== 0) throw invalid(`the stream ended with status ${status.code}`);
  if (status.code !== 0) yield failure(status, head, parts);
  else if (!isStarted) {
    changeHead(head, isRaw ? '' : JSON_TYPE, status);
    if (!isRaw) yield Buffer.from('[]');
  } else if (!isRaw) yield CLOSE;
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

function bodyOf(
  message: Buffer,
  { call: { bound }, transcoder: { format } }: ResponseParts,
): { readonly text: Buffer; readonly contentType: string } {
  const { output } = bound.method;
  if (!bound.isRawResponse) {
    const json = decodeMessage(output, message, { path: bound.responsePath, format });
    return { text: Buffer.from(json), contentType: JSON_TYPE };
  }
  const { data, contentType } = decodeRaw(output, message, bound.responsePath);
  return { text: Buffer.from(data), contentType: isMediaType(contentType) ? contentType : '' };
}

/** A server must not add other headers by the type of a body. */
function isMediaType(text: string): boolean {
  return /^[!-~][ -~\t]{0,255}$/.test(text);
}

/** Returns the status of a call: from the trailers, or from the head of a response without any. */
function statusOf({ headers, trailers = [] }: FilteredHead): CallStatus {
  const status = callStatusOf(trailers) ?? callStatusOf(headers);
  if (!status) throw invalid('it has no status');
  return status;
}

/** Changes the head of a failed call, and returns its body. */
function failure(status: CallStatus, head: FilteredHead, { transcoder }: ResponseParts): Buffer {
  head.status = httpStatusOf(status.code);
  if (!transcoder.convertsStatus) {
    changeHead(head, '', status);
    return Buffer.alloc(0);
  }
  changeHead(head, JSON_TYPE);
  return Buffer.from(statusJson(status, transcoder.format));
}

/** Headers that are about the gRPC response only. */
const DROPPED = [...STATUS_HEADERS, 'grpc-encoding', 'grpc-accept-encoding', 'trailer', 'content-type'];

/** Replaces the headers about the gRPC response. `status` is sent if it is known. */
function changeHead(head: FilteredHead, contentType: string, status?: CallStatus): void {
  const changes: HeaderChange[] = DROPPED.map((name) => ({ op: 'remove', name }));
  const set = (name: string, value: string): void => void changes.push({ op: 'set', name, value });
  if (contentType !== '') set('content-type', contentType);
  if (status) set('grpc-status', String(status.code));
  if (status?.message !== undefined) set('grpc-message', status.message);
  head.headers = applyHeaderChanges(head.headers, changes);
}

const invalid = (reason: string) => routingError('ERR_ROUTING_GRPC_JSON_RESPONSE', `invalid gRPC response: ${reason}`);
