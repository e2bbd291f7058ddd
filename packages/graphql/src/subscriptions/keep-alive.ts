import type { WebSocket } from 'ws';

/** Ends a connection whose other side has not answered one ping when the next is due. 0 asks for nothing. */
export function keepAlive(webSocket: WebSocket, intervalMs: number): void {
  if (intervalMs === 0) return;
  let heard = true;
  const hear = (): void => void (heard = true);
  const timer = setInterval(() => {
    if (!heard) return webSocket.terminate();
    heard = false;
    webSocket.ping();
  }, intervalMs);
  webSocket.on('pong', hear);
  webSocket.on('message', hear);
  webSocket.once('close', () => clearInterval(timer));
}
