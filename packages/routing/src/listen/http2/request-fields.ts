import { isHeaderBytes, isHeaderName } from '@edge-gateway/core';
import { areFields } from '../../http2/received-message.ts';
import { joinFields, type Http2Head } from './http2-head.ts';

const COLON = 58;
const PSEUDO = [':method', ':path', ':scheme', ':authority', ':protocol'] as const;
type Pseudo = (typeof PSEUDO)[number];
const isPseudo = (name: string): name is Pseudo => (PSEUDO as readonly string[]).includes(name);

/** Names come from clients: only some are remembered. */
const MAX_KNOWN_NAMES = 1_000;
const MAX_KNOWN_LENGTH = 64;
const knownNames = new Set<string>();

/**
 * Returns the head of a request; `undefined` if it is malformed (RFC 9113 8.1.1), so that its
 * stream has to be reset.
 */
export function readRequestFields(raw: readonly string[], allowsProtocol: boolean): Http2Head | undefined {
  const pseudo: Partial<Record<Pseudo, string>> = {};
  let at = 0;
  for (; at < raw.length && raw[at]!.charCodeAt(0) === COLON; at += 2) {
    const name = raw[at]!;
    const value = raw[at + 1]!;
    if (!isPseudo(name) || pseudo[name] !== undefined || !isHeaderBytes(value)) return undefined;
    pseudo[name] = value;
  }
  if (!areValid(raw, at) || !isComplete(pseudo, allowsProtocol)) return undefined;
  const { ':method': method = '', ':path': path, ':authority': authority, ':protocol': protocol } = pseudo;
  const { rawHeaders, problem } = joinFields(raw, authority);
  // As in HTTP/1.1, the target of a tunnel is its authority (RFC 9113 8.5).
  return { method, url: path ?? authority ?? '', rawHeaders, protocol, problem };
}

/** Returns false for trailers that are malformed. */
export function areTrailers(raw: readonly string[]): boolean {
  return areValid(raw, 0);
}

function areValid(raw: readonly string[], start: number): boolean {
  for (let i = start; i < raw.length; i += 2) {
    if (!isFieldName(raw[i]!) || !isHeaderBytes(raw[i + 1]!)) return false;
  }
  return areFields(raw, start);
}

function isFieldName(name: string): boolean {
  if (knownNames.has(name)) return true;
  if (!isHeaderName(name)) return false;
  if (knownNames.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_LENGTH) knownNames.add(name);
  return true;
}

/** RFC 3986 3.1. */
const SCHEME = /^[a-z][a-z0-9+.-]*$/i;

/** Only the syntax is checked. The request has the scheme of its connection. */
function isScheme(scheme: string): boolean {
  return scheme === 'http' || scheme === 'https' || SCHEME.test(scheme);
}

function isComplete(pseudo: Partial<Record<Pseudo, string>>, allowsProtocol: boolean): boolean {
  const {
    ':method': method,
    ':path': path,
    ':scheme': scheme,
    ':authority': authority,
    ':protocol': protocol,
  } = pseudo;
  if (method === undefined || !isHeaderName(method)) return false;
  if (protocol !== undefined && (!allowsProtocol || method !== 'CONNECT' || authority === undefined)) return false;
  if (method === 'CONNECT' && protocol === undefined)
    return authority !== undefined && path === undefined && scheme === undefined;
  if (scheme === undefined || path === undefined || !isScheme(scheme)) return false;
  return path.startsWith('/') || (path === '*' && method === 'OPTIONS');
}
