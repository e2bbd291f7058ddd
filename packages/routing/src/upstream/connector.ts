import { lookup as dnsLookup, type LookupOptions } from 'node:dns';
import { connect, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Endpoint, UpstreamTls } from '@edge-gateway/core';

/** Delay of the first TCP keep-alive probe on a silent connection, in milliseconds. */
const PROBE_AFTER_MS = 60_000;

/**
 * Opens a connection to one endpoint and passes it on, or the reason of the failure, once. With `onread`, received data is
 * passed to that, otherwise it is read as a stream.
 */
export type Connector = (callback: (error: Error | null, socket?: Socket) => void, onread?: OnReadOpts) => void;

const ipv4First: LookupFunction = (hostname, options, callback) =>
  dnsLookup(hostname, { ...(options as LookupOptions), order: 'ipv4first' }, callback as never);

/** Creates the connector of an endpoint. Names are resolved for each connection, IPv4 addresses are tried first. */
export function createConnector(endpoint: Endpoint, connectTimeoutMs: number, tls: UpstreamTls | undefined): Connector {
  const address = { host: endpoint.address, port: endpoint.port, lookup: ipv4First };
  const verified = tls && {
    ALPNProtocols: ['http/1.1'],
    secureContext: tls.secureContext,
    rejectUnauthorized: true,
    checkServerIdentity: tls.checkServerIdentity,
    // The server name is the configured one, never that of a request.
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
      // An address that Node rejects without connecting; reported asynchronously like all other failures.
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
