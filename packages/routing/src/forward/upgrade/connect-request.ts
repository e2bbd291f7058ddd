import { findHeader } from '../../http1/flat-headers.ts';
import { checkTunnelAuthority, connectHead, withoutFraming } from '../../http1/request-head.ts';
import { ConnectExchange } from '../../upstream/connect/connect-exchange.ts';
import type { SendAttempt } from './upgrade-attempt.ts';
import { connectUnpooled } from './unpooled.ts';

/** Sends a CONNECT request over a connection of HTTP/1.1. */
export const sendConnect: SendAttempt = (parts) => {
  const { events, to } = parts;
  const authority = findHeader(to.headers, 'host') ?? '';
  checkTunnelAuthority(authority);
  const request = connectHead(authority, withoutFraming(to.headers));
  let close: (() => void) | undefined;
  const cancel = connectUnpooled(parts, (socket) => {
    socket.allowHalfOpen = true;
    close = () => socket.destroy();
    new ConnectExchange(socket, {
      onOpen: (head) => events.onTunnel(head, socket),
      onRejection: events.onResponse,
      onError: events.onError,
    }).start(request);
  });
  return () => {
    cancel();
    close?.();
  };
};
