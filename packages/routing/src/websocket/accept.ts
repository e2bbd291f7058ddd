import { createHash } from 'node:crypto';

/** RFC 6455 §1.3. */
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Returns the value of `Sec-WebSocket-Accept` for a key. */
export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + WEBSOCKET_GUID)
    .digest('base64');
}
