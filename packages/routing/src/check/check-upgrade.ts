import type { IncomingMessage } from 'node:http';
import { refusal, type Refusal } from './refusal.ts';

/** 16 bytes in base64 (RFC 6455 §4.1). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/** True when the client asks for the one protocol that is upgraded to; all others, h2c too, are ignored. */
export function asksForWebSocket(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Returns why an upgrade of a user's own server must not be forwarded, or `undefined`. Node hands over every protocol there: behind
 * one such as h2c, requests would pass that no handler has seen.
 */
export function checkOwnUpgrade(req: IncomingMessage): Refusal | undefined {
  if (!asksForWebSocket(req)) return refusal('ERR_ROUTING_BAD_UPGRADE', { detail: 'protocol' });
  return checkUpgrade(req);
}

/** Says why a WebSocket handshake must not be handed on, or `undefined`. */
export function checkUpgrade(req: IncomingMessage): Refusal | undefined {
  const bad = (detail: string): Refusal => refusal('ERR_ROUTING_BAD_UPGRADE', { detail });
  if (req.method !== 'GET') return bad('method');
  if (req.httpVersion !== '1.1') return bad('version of HTTP');
  if (req.headers['transfer-encoding'] !== undefined) return bad('body');
  if (Number(req.headers['content-length'] ?? 0) > 0) return bad('body');
  if (!KEY.test(req.headers['sec-websocket-key'] ?? '')) return bad('key');
  if (req.headers['sec-websocket-version'] === '13') return undefined;
  return refusal('ERR_ROUTING_UPGRADE_VERSION', { headers: ['sec-websocket-version', '13', 'upgrade', 'websocket'] });
}
