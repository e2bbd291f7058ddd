import type { Socket } from 'node:net';
import { connectionSettings, type SocketOption } from '@edge-gateway/core';

/** Defaults of Linux, which apply to the settings that are missing if another one is set. */
const KEEP_ALIVE = { idleSeconds: 7_200, intervalSeconds: 75, probes: 9 } as const;

/**
 * Returns a function that sets `socketOptions` of a listener on a connection; `undefined` if there is nothing to set. Node before 24.15
 * ignores the type of service, and before 24.19 the interval and the number of keep-alive probes.
 */
export function compileSocketOptions(options: readonly SocketOption[] = []): ((socket: Socket) => void) | undefined {
  const { noDelay = true, keepAlive = false, typeOfService, ...settings } = connectionSettings(options);
  if (noDelay && !keepAlive && typeOfService === undefined) return undefined;
  const { keepAliveIdleSeconds, keepAliveIntervalSeconds, keepAliveProbes } = settings;
  // With an idle time of 0, Node leaves all three to the system.
  const isTimed = (keepAliveIdleSeconds ?? keepAliveIntervalSeconds ?? keepAliveProbes) !== undefined;
  const idleMs = isTimed ? (keepAliveIdleSeconds ?? KEEP_ALIVE.idleSeconds) * 1000 : 0;
  const intervalMs = (keepAliveIntervalSeconds ?? KEEP_ALIVE.intervalSeconds) * 1000;
  const probes = keepAliveProbes ?? KEEP_ALIVE.probes;
  return function setSocketOptions(socket) {
    if (!noDelay) socket.setNoDelay(false);
    if (keepAlive) socket.setKeepAlive(true, idleMs, intervalMs, probes);
    if (typeOfService !== undefined) setTypeOfService(socket, typeOfService);
  };
}

function setTypeOfService(socket: Socket, value: number): void {
  try {
    (socket as Partial<Pick<Socket, 'setTypeOfService'>>).setTypeOfService?.(value);
  } catch {
    // The client has disconnected, or the system does not allow this class: the connection is served without it.
  }
}
