import { IncomingMessage } from 'node:http';
import { hasOwned, pushOwned, readOwned } from '../../http1/owned-chunk.ts';
import { isFreeable } from '../../http1/spare-buffers.ts';

/** A request of `node:http`. Its parser creates a buffer for each chunk of a body, whose memory can be freed when the chunk is sent. */
export class BodyRequest extends IncomingMessage {
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (!Buffer.isBuffer(chunk) || !isFreeable(chunk)) return super.push(chunk, encoding);
    return pushOwned(this, chunk, (owned) => super.push(owned));
  }

  override read(size?: number): unknown {
    return hasOwned(this) ? readOwned(this, () => super.read(size)) : super.read(size);
  }
}
