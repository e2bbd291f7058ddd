import { once } from 'node:events';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';

/** A gRPC call as it is on the wire. */
export interface WireCall {
  /** E.g. `/package.Service/Method`. */
  readonly path: string;
  readonly message: Buffer;
  /** The header `grpc-timeout`, e.g. `100m`. */
  readonly timeout: string;
}

/** Sends a call and returns the status of the server, also where a client would report the deadline itself; empty if there is none. */
export async function grpcStatus(session: ClientHttp2Session, { path, message, timeout }: WireCall): Promise<string> {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    'grpc-timeout': timeout,
    te: 'trailers',
  });
  let code = '';
  const note = (headers: IncomingHttpHeaders): void => void (code ||= String(headers['grpc-status'] ?? ''));
  stream
    .on('response', note)
    .on('trailers', note)
    .on('error', () => {});
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.resume().end(Buffer.concat([head, message]));
  await once(stream, 'close');
  return code;
}
