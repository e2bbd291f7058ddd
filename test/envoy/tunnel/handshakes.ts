/** The key of the handshakes of scenarios. */
export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
/** The value that accepts this key. */
export const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

/** The handshake of a WebSocket, and the response that accepts it. */
export const HANDSHAKE = [
  'GET /chat HTTP/1.1',
  'Host: $host',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${KEY}`,
  '',
  '',
].join('\r\n');
export const SWITCHED = [
  'HTTP/1.1 101 Switching Protocols',
  'connection: upgrade',
  'upgrade: websocket',
  `sec-websocket-accept: ${ACCEPT}`,
  '',
  '',
].join('\r\n');

/** A CONNECT request, and the response that opens the tunnel. */
export const CONNECT = 'CONNECT $host:443 HTTP/1.1\r\nHost: $host:443\r\n\r\n';
export const OPENED = 'HTTP/1.1 200 OK\r\n\r\n';
