import {
  connect,
  type IpcNetConnectOpts,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import { connect as connectTls, type ConnectionOptions, type PeerCertificate, type TLSSocket } from 'node:tls';
import { startTimer, type Endpoint, type UpstreamTls } from '@edge-gateway/core';
import { addressesOf } from './connect/addresses.ts';
import { copyReads } from './connect/copied-reads.ts';
import { dial } from './connect/dial.ts';
import { tuneSocket, type KeepAlive } from './connect/keep-alive.ts';
import { openTunnel, type Tunnel } from './connect/tunnel.ts';

/**
 * Opens a connection to one endpoint and passes it on, or the reason of the failure, once. With `onread`, received data is
 * passed to that, otherwise it is read as a stream. `preface` is sent first, before any TLS.
 */
export type Connector = (
  callback: (error: Error | null, socket?: Socket) => void,
  onread?: OnReadOpts,
  preface?: Buffer,
) => void;

/** How connections to the endpoints of an upstream are opened. */
export interface ConnectorSettings {
  readonly connectTimeoutMs: number;
  readonly keepAlive: KeepAlive;
  /** Resolves an endpoint that has no address yet. */
  readonly lookup: LookupFunction;
  /** TLS to the server: to the endpoint, or through the tunnel. */
  readonly tls?: UpstreamTls | undefined;
  /** Set if the endpoint is an HTTP proxy. */
  readonly tunnel?: Tunnel | undefined;
}

const CLOSED_EARLY = 'the connection was closed before it was established';

/** Creates the connector of an endpoint. The time limit includes proxy and TLS handshakes. */
export function createConnector(endpoint: Endpoint, settings: ConnectorSettings): Connector {
  const { connectTimeoutMs, keepAlive, lookup, tls, tunnel } = settings;
  const secure = tls && tlsOptions(tunnel?.server ?? endpoint, tls);
  const secureProxy = tunnel?.tls && tlsOptions(endpoint, tunnel.tls);
  let session: Buffer | undefined;

  function upgrade(options: ConnectionOptions): TLSSocket {
    return connectTls({ ...options, session }).on('session', (ticket: Buffer) => (session = ticket));
  }

  return (callback, onread, preface) => {
    // Node reads into a buffer of ours only on sockets that it opens itself.
    const direct = !tunnel && !(secure && preface);
    const open = (address: TcpNetConnectOpts | IpcNetConnectOpts): Socket => {
      const options = { ...address, onread: direct ? onread : undefined };
      return tuneSocket(direct && secure ? upgrade({ ...secure, ...options }) : connect(options), keepAlive);
    };
    let opened: Socket | undefined;
    let settled = false;
    const settle = (error: Error | null, socket?: Socket): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      if (!error) return callback(null, socket);
      session = undefined;
      callback(error);
    };
    const stop = dial(addressesOf(endpoint, lookup), open, (error, socket) => {
      if (error) return settle(error);
      opened = socket!;
      if (preface) opened.write(preface);
      if (!direct) addLayers(opened);
      else if (secure) awaitHandshake(opened as TLSSocket, (reason) => (reason ? failed(reason) : ready(opened!)));
      else ready(opened);
    });
    const failed = (error: Error): void => {
      opened?.destroy();
      settle(error);
    };
    const ready = (socket: Socket): void => {
      if (settled || socket.destroyed) return failed(new Error(CLOSED_EARLY));
      if (!direct && onread) copyReads(socket, onread);
      settle(null, socket);
    };
    const addLayers = (transport: Socket): void => void layer(transport).then(ready, failed);
    const timer = startTimer(() => {
      const reason = timeoutError(connectTimeoutMs);
      stop(reason);
      failed(reason);
    }, connectTimeoutMs);
  };

  /** Adds the layers over a connection to the endpoint: TLS to the proxy, the tunnel, TLS to the server. */
  async function layer(transport: Socket): Promise<Socket> {
    let socket = transport;
    if (secureProxy) socket = await handshake(connectTls({ ...secureProxy, socket }));
    if (tunnel) await openTunnel(socket, tunnel.request);
    return secure ? handshake(upgrade({ ...secure, socket })) : socket;
  }
}

/** The server name is the configured one, never that of a request. */
function tlsOptions(endpoint: Endpoint, tls: UpstreamTls) {
  const servername = tls.serverName(endpoint);
  const name = servername ?? endpoint.hostname ?? endpoint.address;
  return {
    ALPNProtocols: tls.alpnProtocols,
    secureContext: tls.secureContext,
    rejectUnauthorized: true,
    checkServerIdentity: (_host: string, certificate: PeerCertificate) => tls.checkServerIdentity(name, certificate),
    servername,
  };
}

function awaitHandshake(socket: TLSSocket, done: (error?: Error) => void): void {
  socket.on('error', done).once('close', () => done(new Error(CLOSED_EARLY)));
  socket.once('secureConnect', () => done());
}

function handshake(socket: TLSSocket): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    awaitHandshake(socket, (error) => (error ? reject(error) : resolve(socket)));
  });
}

function timeoutError(limitMs: number): Error {
  return Object.assign(new Error(`no connection after ${limitMs} ms`), { code: 'ETIMEDOUT' });
}
