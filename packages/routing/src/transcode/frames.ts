import { routingError } from '../error-codes.ts';

const HEAD_BYTES = 5;

/** Returns a message in the frame of gRPC, uncompressed. */
export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/**
 * Returns the messages of a gRPC body, each as soon as it is complete. Throws `ERR_ROUTING_GRPC_JSON_RESPONSE` for one that is larger than
 * `maxBytes`, compressed or incomplete.
 */
export async function* messagesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  let needed = HEAD_BYTES;
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    while (size >= needed) {
      const bytes = held.length === 1 ? held[0]! : Buffer.concat(held, size);
      const length = lengthOf(bytes, maxBytes);
      needed = HEAD_BYTES + length;
      if (size < needed) {
        held = [bytes];
        break;
      }
      yield bytes.subarray(HEAD_BYTES, needed);
      const rest = bytes.subarray(needed);
      held = [rest];
      size = rest.length;
      needed = HEAD_BYTES;
    }
  }
  if (size > 0) throw invalid('the last message is incomplete');
}

function lengthOf(frame: Buffer, maxBytes: number): number {
  if (frame[0] !== 0) throw invalid('a message is compressed');
  const length = frame.readUInt32BE(1);
  if (length > maxBytes) throw invalid(`a message has ${length} bytes, more than ${maxBytes}`);
  return length;
}

const invalid = (reason: string) => routingError('ERR_ROUTING_GRPC_JSON_RESPONSE', `invalid gRPC response: ${reason}`);
