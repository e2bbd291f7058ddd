import { FRAMING_HEADERS } from '@edge-gateway/core';

/** True for a header, in lower case, that is the proxy's own, also for `:path` and its like: no server may grant it, and none is told it. */
export function isFraming(name: string): boolean {
  return FRAMING_HEADERS.has(name) || name === 'expect' || name === 'host' || name.startsWith(':');
}
