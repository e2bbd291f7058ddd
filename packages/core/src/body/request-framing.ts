import type { IncomingMessage } from 'node:http';

/** Returns true if a request has a body, by its framing (RFC 9112 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Sets how the body of a request is framed, in all forms of its headers. */
export function setFraming(req: IncomingMessage, framing: number | 'chunked'): void {
  const [name, value] = framing === 'chunked' ? ['transfer-encoding', framing] : ['content-length', String(framing)];
  delete req.headers['transfer-encoding'];
  delete req.headers['content-length'];
  req.headers[name] = value;
  req.rawHeaders = [...req.rawHeaders.filter((_, i, all) => !isFraming(all[i - (i % 2)]!)), name, value];
}

function isFraming(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'content-length' || lower === 'transfer-encoding';
}
