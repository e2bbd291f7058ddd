import { isHopByHop } from './hop-by-hop.ts';

/**
 * The headers of a request as they go to the client library: those given, without the ones it frames the request with
 * itself, and with the length of the body where that is known.
 */
export function requestHeaders(flat: readonly string[], contentLength: string | undefined): string[] {
  const headers: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    if (!isOurs(name)) headers.push(name, flat[i + 1]!);
  }
  if (contentLength !== undefined) headers.push('content-length', contentLength);
  return headers;
}

function isOurs(name: string): boolean {
  if (name.length === 14) return name.toLowerCase() === 'content-length';
  if (name.length === 6) return name.toLowerCase() === 'expect';
  return isHopByHop(name);
}
