import type { Route } from '@edge-gateway/core';

/** Whether a route upgrades to WebSocket: what it says itself, else what the listener says. */
export function websocketOf(options: Route['options'], listener: boolean): boolean {
  const named = options.upgrades?.find((upgrade) => upgrade.websocket)?.websocket;
  return named ? named.enabled !== false : listener;
}
