import { IncomingMessage } from 'node:http';
import { pushOwned, readOwned } from '../../http1/owned-chunk.ts';

/** A request of `node:http`. Its parser creates a buffer for each chunk of a body, whose memory can be released when the chunk is sent. */
export class BodyRequest extends IncomingMessage {
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (!Buffer.isBuffer(chunk)) return super.push(chunk, encoding);
    return pushOwned(this, chunk, (owned) => super.push(owned));
  }

  override read(size?: number): unknown {
    return readOwned(this, () => super.read(size));
  }
}
