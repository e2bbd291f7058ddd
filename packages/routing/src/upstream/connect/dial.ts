import type { Socket } from 'node:net';

/** Time after which the next address is tried as well (RFC 8305 §5). */
const ATTEMPT_DELAY_MS = 250;

type Dialed = (error: Error | null, socket?: Socket) => void;

/**
 * Connects to the first of several addresses of a server that accepts the connection (happy eyeballs, RFC 8305): the next one is
 * tried when an attempt failed, or has taken 250 ms and continues. Returns a function that cancels it.
 */
export function dial<Address>(
  addresses: readonly Address[],
  open: (address: Address) => Socket,
  callback: Dialed,
): (reason: Error) => void {
  const attempts = new Set<Socket>();
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  let settled = false;

  function settle(error: Error | null, socket?: Socket): void {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    for (const attempt of attempts) if (attempt !== socket) attempt.destroy();
    callback(error, socket);
  }

  function start(): void {
    clearTimeout(timer);
    const address = addresses[next++]!;
    let socket: Socket;
    try {
      socket = open(address);
    } catch (error) {
      // An address that Node rejects without connecting; reported asynchronously like all other failures.
      return void process.nextTick(failed, undefined, error);
    }
    attempts.add(socket);
    socket.on('error', (error) => failed(socket, error));
    socket.once('close', () => failed(socket, new Error('the connection was closed before it was established')));
    socket.once('connect', () => settle(null, socket));
    if (next < addresses.length) timer = setTimeout(start, ATTEMPT_DELAY_MS);
  }

  function failed(socket: Socket | undefined, error: Error): void {
    // A failed attempt is reported twice: its `close` follows its `error`.
    if (socket && !attempts.delete(socket)) return;
    if (settled) return;
    if (next < addresses.length) start();
    else if (attempts.size === 0) settle(error);
  }

  start();
  return (reason) => settle(reason);
}
