import { once } from 'node:events';
import { connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';

/** Sends one request to a port of the gateway; resolves with the status of the response, for gRPC with that of the call, like `grpc 16`. */
export type Form = (port: number, host: string) => Promise<string>;

const EVIL = 'http://evil.example';
const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** A request with these lines over HTTP/1.1. */
function http1(
  line: (host: string) => string,
  fields: readonly string[],
  body = '',
  hostOf = (host: string) => host,
): Form {
  return async (port, host) => {
    const socket = connectSocket(port, '127.0.0.1');
    const lines = [line(host), `Host: ${hostOf(host)}`, `Origin: ${EVIL}`, ...fields, '', body];
    socket.on('error', () => {}).write(lines.join('\r\n'), 'latin1');
    let text = '';
    try {
      for await (const chunk of socket) {
        text += (chunk as Buffer).toString('latin1');
        const head = text.indexOf('\r\n\r\n');
        if (head < 0) continue;
        const grpc = /^grpc-status: (\d+)/m.exec(text.slice(0, head));
        return grpc ? `grpc ${grpc[1]}` : text.split(' ')[1]!;
      }
      return 'closed';
    } finally {
      socket.destroy();
    }
  };
}

/** A request with these headers over HTTP/2, by default a POST to `/`. */
function http2(headers: Readonly<Record<string, string>>, body?: Buffer): Form {
  return async (port, host) => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    try {
      await once(session, 'remoteSettings');
      const isTunnel = headers[':method'] === 'CONNECT';
      const target = isTunnel && !headers[':protocol'] ? {} : { ':path': '/', ':scheme': 'http' };
      const authority = isTunnel && !headers[':protocol'] ? `${host}:443` : host;
      const stream = session.request(
        { ':method': 'POST', ...target, ':authority': authority, origin: EVIL, ...headers },
        { endStream: !isTunnel && !body },
      );
      stream.on('error', () => {});
      if (body) stream.end(body);
      const [head] = (await once(stream, 'response')) as [Record<string, string>];
      const grpc = head['grpc-status'];
      return grpc === undefined ? String(head[':status']) : `grpc ${grpc}`;
    } finally {
      session.destroy();
    }
  };
}

const MESSAGE = Buffer.alloc(5);
const EMPTY = 'Content-Length: 0';
const GRPC = { ':path': '/shop.Shop/Get', te: 'trailers' };

/** The forms of requests that clients can send to a host without credentials. */
export const FORMS: Readonly<Record<string, Form>> = {
  'POST over HTTP/1.1': http1(() => 'POST / HTTP/1.1', [EMPTY]),
  'DELETE with an encoded path': http1(() => 'DELETE /%6fk/../x HTTP/1.1', []),
  'PUT with the host in capitals': http1(
    () => 'PUT //ok HTTP/1.1',
    [EMPTY],
    '',
    (host) => host.toUpperCase(),
  ),
  'POST with an absolute target': http1((host) => `POST http://${host}/ HTTP/1.1`, [EMPTY]),
  'a WebSocket over HTTP/1.1': http1(() => 'GET / HTTP/1.1', HANDSHAKE),
  'CONNECT over HTTP/1.1': http1((host) => `CONNECT ${host}:443 HTTP/1.1`, [], 'smuggled'),
  'POST that names another method and path': http1(
    () => 'POST / HTTP/1.1',
    ['X-HTTP-Method-Override: PATCH', 'X-Envoy-Original-Path: /ok', 'X-Original-URL: /ok', 'X-Email: a', EMPTY],
  ),
  'POST with credentials as trailers': http1(
    () => 'POST / HTTP/1.1',
    ['Transfer-Encoding: chunked', 'Trailer: api-key'],
    '0\r\napi-key: k-1\r\n\r\n',
  ),
  'gRPC-Web as text over HTTP/1.1': http1(
    () => 'POST /shop.Shop/Get HTTP/1.1',
    ['Content-Type: application/grpc-web-text', 'Content-Length: 8'],
    'AAAAAAA=',
  ),
  'POST over HTTP/2': http2({ 'content-length': '0' }),
  'a WebSocket over HTTP/2': http2({
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    'sec-websocket-version': '13',
  }),
  'CONNECT over HTTP/2': http2({ ':method': 'CONNECT' }),
  gRPC: http2({ ...GRPC, 'content-type': 'application/grpc' }, MESSAGE),
  'gRPC-Web over HTTP/2': http2({ ...GRPC, 'content-type': 'application/grpc-web' }, MESSAGE),
};
