import { lookup as dnsLookup, type LookupOptions } from 'node:dns';
import { connect, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Endpoint, UpstreamTls } from '@edge-gateway/core';

/** How long a connection may be silent before the system asks whether its other side is still there, in milliseconds. */
const PROBE_AFTER_MS = 60_000;

/**
 * Opens a connection to one endpoint and hands it over ready for use, or says why not, once. With `onread` what comes is
 * read by it, otherwise as a stream.
 */
export type Connector = (callback: (error: Error | null, socket?: Socket) => void, onread?: OnReadOpts) => void;

const ipv4First: LookupFunction = (hostname, options, callback) =>
  dnsLookup(hostname, { ...(options as LookupOptions), order: 'ipv4first' }, callback as never);

/** Makes the connector of an endpoint. Names are resolved anew for each connection, IPv4 addresses tried first. */
export function createConnector(endpoint: Endpoint, connectTimeoutMs: number, tls: UpstreamTls | undefined): Connector {
  const address = { host: endpoint.address, port: endpoint.port, lookup: ipv4First };
  const verified = tls && {
    ALPNProtocols: ['http/1.1'],
    secureContext: tls.secureContext,
    rejectUnauthorized: true,
    checkServerIdentity: tls.checkServerIdentity,
    // The name asked for is the configured one, never that of a request.
    servername: tls.serverName(endpoint),
  };
  let session: Buffer | undefined;

  function open(onread: OnReadOpts | undefined): Socket {
    if (!verified) return connect({ ...address, onread });
    const options: ConnectionOptions & { onread: OnReadOpts | undefined } = {
      ...address,
      ...verified,
      session,
      onread,
    };
    const socket = connectTls(options);
    return socket.on('session', (ticket: Buffer) => (session = ticket));
  }

  return (callback, onread) => {
    let socket: Socket;
    try {
      socket = open(onread).setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
    } catch (error) {
      // An address that Node does not even try, said when all others are too: never before this returns.
      process.nextTick(callback, error as Error);
      return;
    }
    const timer = setTimeout(() => socket.destroy(timeoutError(connectTimeoutMs)), connectTimeoutMs);
    let settled = false;
    const settle = (error: Error | null): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      if (!error) return callback(null, socket);
      session = undefined;
      callback(error);
    };
    socket.on('error', settle);
    socket.once('close', () => settle(new Error('the connection was closed before it was established')));
    socket.once(verified ? 'secureConnect' : 'connect', () => settle(null));
  };
}

function timeoutError(limitMs: number): Error {
  return Object.assign(new Error(`no connection after ${limitMs} ms`), { code: 'ETIMEDOUT' });
}
