/** An HTTP/1.1 message as received. */
export interface Message {
  readonly startLine: string;
  /** Names as received. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly trailers: readonly (readonly [name: string, value: string])[];
  /** True if the body ended as its framing says. */
  readonly complete: boolean;
}

/** A message and the bytes after it. */
export interface Received {
  readonly message: Message;
  readonly rest: string;
}

/** Whether the text is a request or a response, and of what. */
export interface ReadOptions {
  /** Set for responses: the method of their request. */
  readonly method?: string;
  /** True if no more bytes will follow. */
  readonly ended: boolean;
}

/** Reads the first message of a text. Returns `undefined` as long as it is incomplete, unless `ended`. */
export function readMessage(text: string, options: ReadOptions): Received | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [startLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const head = { startLine, headers: lines.map(fieldOf) };
  const after = text.slice(end + 4);
  const value = (name: string): string | undefined =>
    head.headers.find(([key]) => key.toLowerCase() === name)?.[1].toLowerCase();
  if (hasNoBody(startLine, options))
    return { message: { ...head, body: '', trailers: [], complete: true }, rest: after };
  if (value('transfer-encoding') === 'chunked') return readChunked(head, after, options);
  const length = value('content-length');
  if (length === undefined && options.method === undefined)
    return { message: { ...head, body: '', trailers: [], complete: true }, rest: after };
  const size = length === undefined ? Infinity : Number(length);
  const complete = after.length >= size || (length === undefined && options.ended);
  if (!complete && !options.ended) return undefined;
  const body = after.slice(0, size);
  return { message: { ...head, body, trailers: [], complete }, rest: after.slice(body.length) };
}

/** Returns true if a message has no body, whatever its headers say. */
function hasNoBody(startLine: string, { method }: ReadOptions): boolean {
  if (method === undefined) return false;
  const status = Number(startLine.split(' ')[1]);
  // RFC 9110 §9.3.6: what follows belongs to the tunnel.
  if (method === 'CONNECT' && status >= 200 && status < 300) return true;
  return method === 'HEAD' || (status >= 100 && status < 200) || status === 204 || status === 304;
}

function readChunked(
  head: Pick<Message, 'startLine' | 'headers'>,
  text: string,
  { ended }: ReadOptions,
): Received | undefined {
  let body = '';
  let at = 0;
  for (;;) {
    const line = text.indexOf('\r\n', at);
    const size = line < 0 ? NaN : Number.parseInt(text.slice(at, line), 16);
    if (size === 0) {
      const end = text.startsWith('\r\n', line + 2) ? line : text.indexOf('\r\n\r\n', line + 2);
      if (end < 0) break;
      const lines = end === line ? [] : text.slice(line + 2, end).split('\r\n');
      return { message: { ...head, body, trailers: lines.map(fieldOf), complete: true }, rest: text.slice(end + 4) };
    }
    if (!(line + 2 + size + 2 <= text.length)) break;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
  return ended ? { message: { ...head, body, trailers: [], complete: false }, rest: '' } : undefined;
}

function fieldOf(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
