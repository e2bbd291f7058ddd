import { PROXY_SIGNATURE } from '../../upstream/connect/proxy-header.ts';
import type { ParsedHeader } from './header.ts';
import { parseTextHeader, TEXT_START } from './header-v1.ts';
import { parseBinaryHeader } from './header-v2.ts';

/** Parses the PROXY header at the start of a connection; `undefined` if more bytes are needed. At most 8,208 bytes are. */
export function parseProxyHeader(bytes: Buffer): ParsedHeader {
  if (beginsWith(bytes, TEXT_START)) return bytes.length < TEXT_START.length ? undefined : parseTextHeader(bytes);
  if (beginsWith(bytes, PROXY_SIGNATURE))
    return bytes.length < PROXY_SIGNATURE.length ? undefined : parseBinaryHeader(bytes);
  return { version: undefined, reason: 'no PROXY header' };
}

/** True if as many bytes as there are agree with `start`. */
function beginsWith(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, length, 0, length) === 0;
}
