import type { IncomingMessage } from 'node:http';

const HAS_BODY = Symbol('edge-gateway.has-body');
type Marked = IncomingMessage & { [HAS_BODY]?: boolean | undefined };

/** Returns true if a request has a body, by its framing (RFC 9112 6). */
export function hasBody(req: IncomingMessage): boolean {
  const known = (req as Marked)[HAS_BODY];
  if (known !== undefined) return known;
  const { headers } = req;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Notes whether a request has a body, so that its headers need not be searched. */
export function noteHasBody(req: IncomingMessage, has: boolean): void {
  (req as Marked)[HAS_BODY] = has;
}

/** Sets how the body of a request is framed, in all forms of its headers. */
export function setFraming(req: IncomingMessage, framing: number | 'chunked'): void {
  const [name, value] = framing === 'chunked' ? ['transfer-encoding', framing] : ['content-length', String(framing)];
  (req as Marked)[HAS_BODY] = undefined;
  delete req.headers['transfer-encoding'];
  delete req.headers['content-length'];
  req.headers[name] = value;
  req.rawHeaders = [...req.rawHeaders.filter((_, i, all) => !isFraming(all[i - (i % 2)]!)), name, value];
}

function isFraming(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'content-length' || lower === 'transfer-encoding';
}
