import { startInterval, startTimer } from '@edge-gateway/core';
import type { WebSocket } from 'ws';

/** Terminates a connection whose peer has not answered a ping when the next one is due. 0 sends no pings. */
export function keepAlive(webSocket: WebSocket, intervalMs: number): void {
  if (intervalMs === 0) return;
  let heard = true;
  const hear = (): void => void (heard = true);
  const timer = startInterval(() => {
    if (!heard) return webSocket.terminate();
    heard = false;
    webSocket.ping();
  }, intervalMs);
  webSocket.on('pong', hear);
  webSocket.on('message', hear);
  webSocket.once('close', () => clearInterval(timer));
}

/** Starts a timer for a limit in milliseconds; none for 0. */
export function timerOf(ms: number, over: () => void): NodeJS.Timeout | undefined {
  return ms === 0 ? undefined : startTimer(over, ms);
}
