import type { Command } from 'commander';
import { createConnection, type Connection } from './connection.ts';
import type { Io } from '../io.ts';

/** The connection that the flags of a call ask for. */
export function gatewayOf(io: Io, command: Command): Connection {
  const { server, proxyAdmin } = command.optsWithGlobals<{ server: string; proxyAdmin: string }>();
  return createConnection({ server, proxyAdmin, ...(io.fetch && { fetch: io.fetch }) });
}
