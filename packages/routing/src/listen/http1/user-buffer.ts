import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** The part of the handle of a socket that reads. */
interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

type Internals = Socket & { _handle: Handle | null; [key: symbol]: unknown };
type OnRead = (length: number, buffer: Uint8Array) => boolean;

const probeBuffer = Buffer.alloc(1);
const probeCallback: OnRead = () => true;
const probe = new Socket({ onread: { buffer: probeBuffer, callback: probeCallback } }) as Internals;
const keyOf = (value: unknown): symbol | undefined =>
  Object.getOwnPropertySymbols(probe).find((key) => probe[key] === value);

const BUFFER = keyOf(probeBuffer);
const CALLBACK = keyOf(probeCallback);
const probeResponse = new ServerResponse(new IncomingMessage(probe));
/** Marks a response whose writer waits for `drain`. */
const NEEDS_DRAIN = Object.getOwnPropertySymbols(probeResponse).find((key) => key.description === 'kNeedDrain');
probe.destroy();

/** One buffer for all connections: data is used or copied before the next read. Not on Windows, which fills the buffer asynchronously. */
const SHARED = process.platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(64 * 1024);

/** False on Windows. */
export const isSupportedPlatform = SHARED !== undefined;

/** True if this version of Node has the internals that {@link readInto} requires. */
export const canReadDirectly = SHARED !== undefined && BUFFER !== undefined && CALLBACK !== undefined;

/** Makes an accepted socket read like one of `net.connect` with `onread`. Returns false if it cannot. */
export function readInto(socket: Socket, callback: OnRead): boolean {
  const internals = socket as Internals;
  if (!canReadDirectly || typeof internals._handle?.useUserBuffer !== 'function') return false;
  internals[BUFFER!] = SHARED;
  internals[CALLBACK!] = callback;
  internals._handle.useUserBuffer(SHARED!);
  return true;
}

/** Emits `drain` on a response whose writer waits for it. */
export function drained(res: ServerResponse): void {
  const internals = res as ServerResponse & Record<symbol, unknown>;
  if (NEEDS_DRAIN === undefined || res.writableEnded || internals[NEEDS_DRAIN] !== true || res.writableLength > 0)
    return;
  internals[NEEDS_DRAIN] = false;
  res.emit('drain');
}
