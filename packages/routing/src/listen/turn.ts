import type { ServerResponse } from 'node:http';
import { linger } from '@edge-gateway/core';
import type { Http1ClientConnection } from './connection.ts';

/** Node calls it when the size of unsent data changes; it resumes the writer of the response if the socket has drained. */
type Writing = ServerResponse & { _onPendingData(bytes: number): void };

/**
 * Calls `serve`, for an upgrade or a CONNECT, after the responses to all earlier requests of the connection, so that no response
 * overtakes another. Never calls it if the connection closes with them.
 *
 * For an upgrade Node removes its listeners from the socket. Until then this function does their work for the earlier responses:
 * `onTimeout` is called when the connection was idle for too long.
 */
export function inTurn(connection: Http1ClientConnection, onTimeout: () => void, serve: () => void): void {
  const { socket, waiting } = connection;
  if (!connection.res && waiting.length === 0) return serve();
  const { destroySoon } = socket;
  // As long as there is this listener, the bytes after the request stay in the buffer, and a reset of the client is noticed.
  const keep = (): void => {};
  const drained = (): void => (connection.res as Writing | undefined)?._onPendingData(0);
  const abort = (): void => void connection.res?.destroy();
  const stop = (): void => {
    socket.off('readable', keep).off('drain', drained).off('timeout', expire).off('close', abort);
    socket.destroySoon = destroySoon;
  };
  const expire = (): void => {
    stop();
    onTimeout();
  };
  socket.on('readable', keep).on('drain', drained).on('timeout', expire).on('close', abort);
  // The rest of what the client sent is read, so that it receives the last response.
  socket.destroySoon = () => {
    stop();
    linger(socket);
  };
  waiting.push({
    serve() {
      stop();
      serve();
    },
  });
}
