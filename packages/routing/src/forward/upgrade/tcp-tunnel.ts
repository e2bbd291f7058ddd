import type { SendAttempt } from './upgrade-attempt.ts';
import { connectUnpooled } from './unpooled.ts';

/** Opens a TCP connection for the data of a CONNECT request. */
export const openTcpTunnel: SendAttempt = (parts) =>
  connectUnpooled(parts, (socket) => {
    socket.allowHalfOpen = true;
    parts.events.onTunnel({ status: 200, headers: [] }, socket);
  });
