import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { authorityOf } from '../../http1/authority.ts';
import { UpstreamProtocolError } from '../../http1/errors.ts';
import { findHeader } from '../../http1/flat-headers.ts';
import { isHopByHop } from '../../http1/hop-by-hop.ts';
import { requestHead } from '../../http1/request-head.ts';
import { acceptOf } from '../../websocket/accept.ts';
import { endToEndHeaders } from './relay.ts';
import type { AttemptParts, SendAttempt } from './upgrade-attempt.ts';
import { connectUnpooled } from './unpooled.ts';

const require = createRequire(import.meta.url);
/** Loads the proxy with the first upgrade: most gateways forward none. */
const loadProxy = () => require('http-proxy-middleware') as typeof import('http-proxy-middleware');
/** http-proxy-middleware reads the server of a request and does nothing without one. */
const SERVER = {};

/** Sends a handshake over a connection of HTTP/1.1; the two connections are joined if the upstream accepts it. */
export const sendHandshake: SendAttempt = (parts) => {
  const { path, headers } = parts.to;
  // A write error is not a failure of the upstream.
  requestHead({ method: 'GET', path, headers }, authorityOf(parts.host), undefined);
  let close: (() => void) | undefined;
  const cancel = connectUnpooled(parts, (socket) => {
    close = () => socket.destroy();
    try {
      proxy(parts, socket);
    } catch (error) {
      socket.destroy();
      parts.events.onError(error as Error);
    }
  });
  return () => {
    cancel();
    close?.();
  };
};

function proxy(parts: AttemptParts, connection: Socket): void {
  const { socket, to, host, protocol, events } = parts;
  const proxied = {
    method: 'GET',
    url: to.path,
    headers: { ...headersByName(to.headers), connection: 'Upgrade', upgrade: 'websocket' },
    httpVersionMajor: 1,
    socket: { server: SERVER },
  };
  const middleware = loadProxy().createProxyMiddleware({
    // The connection uses TLS if the upstream does, so the target is always plain.
    target: `http://${authorityOf(host)}`,
    agent: agentOf(connection),
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReqWs', (proxyReq) => observe(proxyReq.setHeader('upgrade', protocol), parts));
        server.on('error', events.onError);
      },
    ],
  });
  middleware.upgrade(proxied as unknown as IncomingMessage, socket, parts.takeHead());
}

/** An agent with one connection. */
function agentOf(connection: Socket): Agent {
  const createConnection: Agent['createConnection'] = () => connection;
  return Object.assign(new Agent({ keepAlive: false, maxSockets: Infinity }), { createConnection });
}

function observe(proxyReq: ClientRequest, { to, protocol, events }: AttemptParts): void {
  const onResponse = (response: IncomingMessage): void => {
    const { statusCode: status = 0 } = response;
    if (status < 200 || status > 599) {
      proxyReq.destroy();
      return events.onError(new UpstreamProtocolError(`unexpected status ${status}`));
    }
    // Bytes behind the response are an error of the request.
    proxyReq.removeAllListeners('error').on('error', ignore);
    events.onResponse(response);
  };
  const onUpgrade = (response: IncomingMessage, tunnel: Socket, early: Buffer): void => {
    proxyReq.removeAllListeners('error').on('error', ignore);
    const problem = handshakeProblem(response, protocol, findHeader(to.headers, 'sec-websocket-key'));
    if (problem !== undefined) {
      tunnel.on('error', ignore).destroy();
      return events.onError(new UpstreamProtocolError(problem));
    }
    if (early.length > 0) tunnel.unshift(early);
    events.onTunnel({ status: 101, headers: endToEndHeaders(response) }, tunnel);
  };
  // http-proxy-middleware adds its own listeners after this, which would relay a response as it is, and end the connection of the client after an error.
  process.nextTick(() => {
    proxyReq.removeAllListeners('upgrade').once('upgrade', onUpgrade);
    proxyReq.removeAllListeners('response').once('response', onResponse);
    proxyReq.removeAllListeners('error').on('error', events.onError);
  });
}

/** Returns why a response does not accept the handshake (RFC 6455 §4.1, RFC 9110 §7.8). */
function handshakeProblem(
  { headers }: Pick<IncomingMessage, 'headers'>,
  protocol: string,
  key: string | undefined,
): string | undefined {
  if (headers.upgrade?.toLowerCase() !== protocol.toLowerCase())
    return 'it upgrades to a protocol that was not requested';
  const isAccepted = key === undefined || headers['sec-websocket-accept'] === acceptOf(key);
  return isAccepted ? undefined : 'Sec-WebSocket-Accept does not match the key';
}

const ignore = (): void => {};

function headersByName(flat: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    if (isHopByHop(name)) continue;
    const known = headers[name];
    headers[name] = known === undefined ? flat[i + 1]! : [...[known].flat(), flat[i + 1]!];
  }
  return headers;
}
