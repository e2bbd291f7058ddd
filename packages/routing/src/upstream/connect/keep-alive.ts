import type { Socket } from 'node:net';
import { parseDuration } from '@edge-gateway/core';
import type { ConnectionConfig } from '@edge-gateway/core/schema';

/** Idle time before the first TCP keep-alive probe if none is configured, in milliseconds. */
const PROBE_AFTER_MS = 60_000;
/** Time between probes, and number of probes, that Node sets by default. */
const DEFAULT_INTERVAL_MS = 1000;
const DEFAULT_PROBES = 10;

/** TCP keep-alive of connections. Times are whole seconds, in milliseconds. */
export interface KeepAlive {
  readonly idleMs: number;
  readonly intervalMs: number;
  readonly probes: number;
}

/** Compiles `tcpKeepalive`. Probes are always sent: without them, an endpoint that vanished would stay connected for ever. */
export function compileKeepAlive(written: ConnectionConfig['tcpKeepalive']): KeepAlive {
  return {
    idleMs: wholeSeconds(written?.keepaliveTime, PROBE_AFTER_MS),
    intervalMs: wholeSeconds(written?.keepaliveInterval, DEFAULT_INTERVAL_MS),
    probes: written?.keepaliveProbes || DEFAULT_PROBES,
  };
}

function wholeSeconds(duration: string | undefined, otherwise: number): number {
  const seconds = duration === undefined ? 0 : Math.ceil(parseDuration(duration) / 1000);
  return seconds > 0 ? seconds * 1000 : otherwise;
}

/** Sends small writes immediately, and probes silent connections. Node before 24.19 ignores interval and number of probes. */
export function tuneSocket(socket: Socket, { idleMs, intervalMs, probes }: KeepAlive): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, idleMs, intervalMs, probes);
}
