import { grpcStatusOfHttp } from '../format/grpc-status.ts';
import { removeWhere } from '../http1/flat-headers.ts';
import type { LocalReply } from './reply.ts';

/** Maximum length of the message, in bytes before it is encoded. */
const MAX_MESSAGE = 4096;
/** Headers that describe a body, which the reply does not have. */
const OF_BODY = /^content-/;

/**
 * Returns a response of the gateway in the form that gRPC clients understand: status 200 without a body, with the gRPC status for the
 * HTTP status, and the text as message. `contentType` is that of the request.
 */
export function grpcReply({ status, body, headers, error, grpcStatus }: LocalReply, contentType: string): LocalReply {
  const kept = [...headers];
  removeWhere(kept, (name) => OF_BODY.test(name.toLowerCase()));
  const text = error?.message ?? String(body);
  kept.push('content-type', contentType, 'grpc-status', String(grpcStatus ?? grpcStatusOfHttp(status)));
  if (text !== '') kept.push('grpc-message', percentEncoded(text));
  return { status: 200, body: '', contentType: '', headers: kept };
}

/** Percent-encodes a message for gRPC: all bytes except printable ASCII, and `%`. */
function percentEncoded(text: string): string {
  let encoded = '';
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, MAX_MESSAGE);
  // A character is not divided.
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  for (const byte of bytes.subarray(0, end)) {
    if (byte >= 0x20 && byte <= 0x7e && byte !== 0x25) encoded += String.fromCharCode(byte);
    else encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}
