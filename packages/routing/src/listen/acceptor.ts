import { once } from 'node:events';
import { createServer, type AddressInfo, type DropArgument, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { claimOwnPort } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { Overflow, type OverflowLimits } from './overflow.ts';

export interface Acceptor {
  readonly address: string;
  readonly port: number;
  /**
   * Resolves when the connections that the system has established are accepted. It resets those that are still queued when the port is
   * released, although clients may have sent requests on them.
   */
  acceptQueued(): Promise<void>;
  /** Releases the port; accepted connections stay open. */
  stop(): void;
}

/**
 * How processes share a port (`SO_REUSEPORT`). `start`: nobody else may listen on it yet, not even a process that shares its ports.
 * `join`: other processes of the gateway may.
 */
export type PortSharing = 'start' | 'join';

export interface AcceptorOptions extends OverflowLimits {
  readonly address: string;
  readonly port: number;
  /** Default: the port is not shared. */
  readonly sharing?: PortSharing | undefined;
  onConnection(socket: Socket): void;
  onOverflow(address: DropArgument | undefined): void;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another program',
  EACCES: 'listening on this port is not allowed',
  EADDRNOTAVAIL: 'the address does not belong to this machine',
  ENOTFOUND: 'unknown address',
  ENOTSUP: 'processes cannot share ports on this operating system',
};

/** Maximum number of connections that the system establishes before they are accepted. */
const BACKLOG = 1_024;
/** Turns of the event loop without a new connection after which the queue is empty: the first one may already have passed its poll phase. */
const QUIET_TURNS = 2;
/** Maximum duration of the last of them in milliseconds: a client that connects during the turn, after the queue was read, is reset. */
const SHORT_TURN_MS = 0.2;
/** How long such a turn is awaited, in milliseconds. */
const MAX_AWAIT_MS = 1_000;

/** Error codes for `::` on a machine without IPv6. */
const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT']);

/** Starts listening. `::` is every address, also without IPv6. Rejects with `ERR_ROUTING_LISTEN`. */
export async function createAcceptor(options: AcceptorOptions): Promise<Acceptor> {
  const { address, port } = options;
  try {
    return await listen(options, address);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (address === '::' && NO_IPV6.has(code)) return createAcceptor({ ...options, address: '0.0.0.0' });
    const message = `cannot listen on ${address} port ${port}: ${REASONS[code] ?? code}`;
    throw routingError('ERR_ROUTING_LISTEN', message, error);
  }
}

async function listen(options: AcceptorOptions, host: string): Promise<Acceptor> {
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  const overflow = new Overflow(options);
  let accepted = 0;
  server.on('connection', (socket) => {
    accepted++;
    server.maxConnections = overflow.serverLimit;
    if (overflow.accepts) return options.onConnection(overflow.count(socket));
    options.onOverflow(addressesOf(socket));
    overflow.closeLater(socket);
  });
  server.on('drop', (address) => {
    accepted++;
    server.maxConnections = overflow.serverLimit;
    options.onOverflow(address);
  });
  server.maxConnections = overflow.serverLimit;
  const { port: wanted, sharing } = options;
  if (sharing === 'start' && wanted !== 0) await requireFree(wanted, host);
  server.listen({ port: wanted, host, backlog: BACKLOG, reusePort: sharing !== undefined });
  await once(server, 'listening');
  server.on('error', () => {});
  const { address, port } = server.address() as AddressInfo;
  const release = claimOwnPort(port);
  return {
    address,
    port,
    async acceptQueued() {
      const giveUp = performance.now() + MAX_AWAIT_MS;
      for (let quiet = 0, isShort = false; quiet < QUIET_TURNS || !isShort;) {
        const [before, since] = [accepted, performance.now()];
        await nextTurn();
        const now = performance.now();
        quiet = accepted === before ? quiet + 1 : 0;
        // Clients that connect meanwhile, and the load of the process, must not delay this forever.
        isShort = now - since < SHORT_TURN_MS || now > giveUp;
        if (now > giveUp + MAX_AWAIT_MS) return;
      }
    },
    stop() {
      release();
      server.close();
    },
  };
}

/** Rejects if anything listens on the port. With `reusePort` another gateway of the same user would share the port unnoticed. */
async function requireFree(port: number, host: string): Promise<void> {
  const server = createServer().listen({ port, host });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

function addressesOf({ localAddress, localPort, localFamily, remoteAddress, remotePort, remoteFamily }: Socket) {
  return { localAddress, localPort, localFamily, remoteAddress, remotePort, remoteFamily } as DropArgument;
}
